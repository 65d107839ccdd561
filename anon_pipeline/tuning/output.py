"""A tuning as rows of text: for the terminal, and as CSV.

A share of the input that stands for fewer records, or people, than the point's k is shown as that of k.
Risks and errors are shown to two digits.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anon_pipeline.limits.verdicts import Status
from anon_pipeline.tuning.results import DROWNED, Point, Tuning
from anon_pipeline.tuning.shown_numbers import amounts_in_words, missed_in_words, number, shown_share, title
from anon_pipeline.tuning.trade_offs import losses_in_words

COLUMNS = (
    "recoder",
    "k",
    "epsilon",
    "confidence",
    "amount",
    "error",
    "error_of_range",
    "linking",
    "linking_released",
    "linking_known",
    "suppression",
    "suppression_at_most",
    "linking_error",
    "suppression_error",
    "information_loss",
    "loss",
    "verdict",
    "front",
    "recommended",
)


FROM_THE_DATA = (
    "An ε that is chosen by looking at the data is itself a choice from the data, which no ε counts. Choose "
    "ε before you look, by what it promises, and let tuning choose the rest."
)


def verdict(point: Point) -> str:
    """Say that a point passes, with what warnings, or which limits it does not keep."""
    refused, warned = _unkept(point)
    if refused:
        return "not " + ", ".join(refused)
    return "passes" + (f", warns: {', '.join(warned)}" if warned else "")


def short_verdicts(points: Sequence[Point]) -> tuple[list[str], list[str]]:
    """Say of each point what `verdict` says, with numbers for limits; and which number is which limit.

    Most points of a grid warn of the same limits, whose names need many lines each.
    """
    shown = [(refused, []) if refused else ([], warned) for refused, warned in map(_unkept, points)]
    names = dict.fromkeys(name for refused, warned in shown for name in (*refused, *warned))
    numbers = {name: number for number, name in enumerate(names, 1)}
    said = []
    for refused, warned in shown:
        numbered = ", ".join(map(str, sorted(numbers[name] for name in refused or warned)))
        passes = f"passes, warns of {numbered}" if warned else "passes"
        said.append(f"refused by {numbered}" if refused else passes)
    return said, [f"{number}: {name}" for name, number in numbers.items()]


def _unkept(point: Point) -> tuple[list[str], list[str]]:
    """Return the limits that refuse a point, and those that warn."""
    refused = [one.limit for one in point.verdicts if not one.status.publishable]
    return refused, [one.limit for one in point.verdicts if one.status is Status.WARNED]


def rows(tuning: Tuning) -> list[dict[str, str]]:
    """Return the points as texts, by `COLUMNS`."""
    return [_row(point, tuning) for point in tuning.points]


def _row(point: Point, tuning: Tuning) -> dict[str, str]:
    choice, found = point.choice, point.expected
    most = found.suppression_at_most

    def share(value: float) -> str:
        """Write a share as it may be shown: exactly, or as at most a rounded one."""
        shown = shown_share(value, point, tuning.counted)
        return f"≤ {number(shown)}" if shown > value else number(shown)

    return {
        "recoder": choice.recoder,
        "k": str(choice.k),
        "epsilon": "–" if choice.epsilon is None else f"{choice.epsilon:g}",
        "confidence": "–" if choice.confidence is None else f"{choice.confidence:g}",
        "amount": amounts_in_words(dict(choice.amounts)),
        "error": number(found.error, 2),
        "error_of_range": number(found.error_of_range, 2),
        "linking": number(found.linking, 2),
        "linking_released": number(found.linking_released, 2),
        "linking_known": number(found.linking_known, 2),
        "suppression": share(found.suppression),
        "suppression_at_most": "–" if most is None else share(most),
        "linking_error": number(found.standard_error[0], 2),
        "suppression_error": share(found.standard_error[1]),
        "information_loss": number(found.information_loss),
        "loss": number(found.loss),
        "verdict": verdict(point),
        "front": "yes" if point.on_front else "",
        "recommended": "yes" if tuning.recommended == point else "",
    }


def describe(tuning: Tuning) -> list[str]:
    """Say in sentences what was found: the recommendation, or what keeps every point out."""
    lines = [] if tuning.refused is None else [f"The gate refuses every point: {tuning.refused}"]
    if tuning.recommended is not None:
        lines.append(f"Recommended: {title(tuning.recommended)}: {tuning.rule}.")
        lines += [*losses_in_words(tuning), *_warnings(tuning.recommended)]
    elif tuning.nearest is not None:
        near, limit = tuning.nearest.point, tuning.nearest.limit
        lines.append(
            f"No point passes. The binding limit is {limit.limit}: the nearest point, {title(near)}, "
            f"{missed_in_words(limit, near, tuning.counted)}."
        )
    else:
        lines.append(
            "No point passes: none has a recoding. The binding limits are anonymize.suppression_limit and "
            "those on sensitive columns."
        )
    for name, mechanism in tuning.without_amount.items():
        lines.append(f"{name}: {mechanism} takes no amount, so only k and the recoder are compared for it.")
    for none in tuning.impossible:
        lines.append(f"Impossible: {none.recoder}, k = {none.k}: no recoding within the policy's limits.")
    if any(any(point.expected.standard_error) for point in tuning.points):
        lines.append(_say_simulated(tuning))
    if any((p.expected.suppression_at_most or 0.0) > p.expected.suppression for p in tuning.points):
        lines.append(
            "Suppression is a lower bound, because classes may still break t or l; the limit is compared "
            "with suppression_at_most."
        )
    if len({point.choice.epsilon for point in tuning.points}) > 1:
        lines.append(FROM_THE_DATA)
    if tuning.unjudged:
        lines.append(f"Judged by the gate alone, on a release: {', '.join(tuning.unjudged)}.")
    return lines


def _say_simulated(tuning: Tuning) -> str:
    """Say what was simulated, and how exactly."""
    worst = [max(p.expected.standard_error[i] for p in tuning.points) for i in (0, 1)]
    if any(point.choice.amounts for point in tuning.points) or tuning.without_amount:
        return (
            f"{tuning.simulated}: linking and loss are simulated, by one release for each point; largest "
            f"standard error of linking {number(worst[0], 2)}. Attackers who know more than the simulated "
            "ones may link more."
        )
    return (
        f"{tuning.simulated}: linking and suppression are simulated; largest standard errors "
        f"{number(worst[0], 2)} and {number(worst[1], 2)}. Suppression has no proven bound then: it is "
        "judged three standard errors above its mean."
    )


def _warnings(point: Point) -> list[str]:
    """Say what the release of a recommended point would be published with a warning of."""
    warned = [v for v in point.verdicts if v.status is Status.WARNED]
    lines = [
        f"It would have a warning: {v.limit} is {number(v.value, 2)}, {v.sense} {v.bound:g} is advised."
        if v.bound is not None
        else f"It would have a warning: {v.limit}."
        for v in warned
    ]
    if drowned := point.expected.drowned:
        lines.append(f"Next to nothing would be left of {', '.join(drowned)}: {DROWNED}.")
    return lines


def as_csv(tuning: Tuning) -> str:
    """Return the points as CSV with a header; – for what is not defined is an empty field there."""
    return rows_as_csv(
        COLUMNS,
        (
            {name: "" if value == "–" else value.removeprefix("≤ ") for name, value in row.items()}
            for row in rows(tuning)
        ),
    )


def rows_as_csv(columns: Sequence[str], lines: Iterable[Mapping[str, str]]) -> str:
    """Return rows of text as CSV, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


_WHOLE, _TEXTS, _SWITCHES = ("k",), ("recoder", "verdict"), ("front", "recommended")


def as_document(tuning: Tuning) -> dict[str, Any]:
    """Return what the table and the sentences say, as JSON types: the same digits, None for –."""
    points = [
        {name: _parse_value(name, value) for name, value in row.items() if name != "amount"}
        | {"amounts": dict(point.choice.amounts)}
        for point, row in zip(tuning.points, rows(tuning), strict=True)
    ]
    return {
        "records": tuning.records,
        "points": points,
        "recommended": next((point for point in points if point["recommended"]), None),
        "impossible": [{"recoder": one.recoder, "k": one.k} for one in tuning.impossible],
        "said": describe(tuning),
    }


def _parse_value(name: str, value: str) -> Any:
    if name in _TEXTS:
        return value
    if name in _SWITCHES:
        return bool(value)
    if name in _WHOLE:
        return int(value)
    return None if value == "–" else float(value.removeprefix("≤ "))
