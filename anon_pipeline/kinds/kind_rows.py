"""What policies of several kinds were found to do: rows of text, CSV, and a map."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from anon_pipeline.kinds.compare_kinds import Alike, Compared
from anon_pipeline.tuning.map_frame import MapWords
from anon_pipeline.tuning.output import rows_as_csv
from anon_pipeline.tuning.risk_map import MapPoint, risk_map
from anon_pipeline.tuning.shown_numbers import number

COLUMNS: Final = (
    *("policy", "kind", "gate", "records", "risk", "copied", "membership", "gain", "loss", "columns"),
    *("correlations", "propensity", "components", "regressions", "surprising", "queries", "seconds"),
)
_LONG: Final = {"components", "regressions", "surprising"}
_OF_LOST: Final = ("correlations", "propensity", "components", "regressions", "surprising")
_WORDS: Final = MapWords(
    document="Releases of several kinds: what attackers learn against loss",
    title="What attackers learn against loss",
    risk="risk: the most that an attacker learns of a record, beyond others (logarithmic)",
    loss="loss: share of the records that differ in a pair of columns",
)


def kind_rows(found: Sequence[Compared]) -> list[dict[str, str]]:
    """Return policies as texts, by `COLUMNS`; one without a release has its name, and why."""
    return [_row(one) for one in found]


def shown_columns(found: Sequence[Compared]) -> tuple[str, ...]:
    """Return the columns that a terminal shows; CSV and JSON have all of them."""
    asked = any(one.found is not None and one.found.queries is not None for one in found)
    return tuple(name for name in COLUMNS if name not in _LONG and (asked or name != "queries"))


def query_rows(found: Sequence[Compared]) -> list[tuple[str, ...]]:
    """Return the queries, each with its number and its mean error by each policy that has answered."""
    made = [one.found for one in found if one.found is not None]
    answers = [one.queries for one in made if one.queries is not None]
    return [
        (of_one[0].name, *(number(loss.mean) for loss in of_one)) for of_one in zip(*answers, strict=True)
    ]


def gate_words(one: Compared) -> str:
    """Say whether its own gate passes a release."""
    if one.found is None:
        return f"no release: {one.problem}"
    return f"refuses: {', '.join(one.found.refused)}" if one.found.refused else "passes"


def _row(one: Compared) -> dict[str, str]:
    row = dict.fromkeys(COLUMNS, "–") | {"policy": one.name, "kind": one.kind, "gate": gate_words(one)}
    return row if one.found is None else row | _numbers(one.found)


def _numbers(found: Alike) -> dict[str, str]:
    gains, lost = found.learned.gains.values(), found.lost
    return {
        "records": f"{found.records:,}",
        "risk": number(found.risk),
        "copied": number(found.learned.copied),
        "membership": number(found.learned.membership),
        "gain": number(max(gains)) if gains else "–",
        "loss": number(found.loss),
        "columns": number(lost.columns),
        **{name: _say_lost(getattr(lost, name)) for name in _OF_LOST},
        "queries": "–" if found.queries is None else number(fmean(loss.mean for loss in found.queries)),
        "seconds": number(found.seconds),
    }


def _say_lost(value: float | None) -> str:
    """Write what is lost; what rounding makes of nothing is 0."""
    return number(None if value is None else round(value, 9))


def kinds_csv(found: Sequence[Compared]) -> str:
    """Return the policies as CSV, with a title and a line for each."""
    return rows_as_csv(COLUMNS, kind_rows(found))


def kinds_map(found: Sequence[Compared]) -> str:
    """Draw the risk and the loss of each policy that has a release, see `tuning.risk_map`."""
    made = [
        MapPoint(
            place,
            own.loss,
            own.risk,
            not own.refused,
            f"{one.name}: risk {number(own.risk, 2)}, loss {number(own.loss)}",
            gate_words(one),
        )
        for place, one in enumerate(found, 1)
        if (own := one.found) is not None
    ]
    passing = sum(one.passes for one in made)
    summary = f"{len(found)} policies, {len(made)} with a release, {passing} of which their gate passes."
    return risk_map(made, _WORDS, summary)
