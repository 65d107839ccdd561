"""What variants were found to do, as rows of text: for the terminal, and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.outcomes import Measured
from anon_pipeline.tuning.output import rows_as_csv
from anon_pipeline.tuning.shown_numbers import amounts_in_words, number

COLUMNS: Final = (
    *(
        "variant",
        "k",
        "epsilon",
        "amount",
        "gate",
        "released",
        "classes",
        "smallest_class",
        "linking",
        "loss",
        "score",
    ),
    *("granularity", "noise", "correlations", "propensity", "queries", "classifier", "seconds"),
)


_MORE: Final = 1.05
"""A variant links no more than another one if it links at most so many times as many: some are bounds."""


def heading(name: str, policy: Policy) -> str:
    """Return the heading of a column; where the policy counts people, with what its shares are of.

    Without noise linking is classes/records, also where people are counted.
    """
    said = name.replace("_", " ")
    if policy.person is None or name not in ("released", "linking"):
        return said
    noisy = bool(policy.perturbed or policy.whole_columns)
    return f"{said} ({'people' if name == 'linking' and noisy else 'records'})"


def gate_in_words(one: Measured) -> str:
    """Say whether the gate passes a release, what it warns of, and whether protection is weaker."""
    warned = () if one.outcome is None else one.outcome.warned
    return _gate(one, f"warns: {', '.join(warned)}")


def short_gates(found: Sequence[Measured]) -> tuple[list[str], list[str]]:
    """Say of each variant what `gate_in_words` says, with numbers for limits that warn; and which is which.

    Most variants warn of the same limits, whose names need many lines each.
    """
    passing = [one.outcome for one in found if one.outcome is not None and not one.outcome.refused]
    names = dict.fromkeys(name for own in passing for name in own.warned)
    numbers = {name: number for number, name in enumerate(names, 1)}
    said = []
    for one in found:
        warned = () if one.outcome is None or one.outcome.refused else one.outcome.warned
        numbered = ", ".join(map(str, sorted(numbers[name] for name in warned)))
        said.append(_gate(one, f"warns of {numbered}"))
    return said, [f"{number}: {name}" for name, number in numbers.items()]


def _gate(one: Measured, warnings: str) -> str:
    found = one.outcome
    if found is None:
        return f"no release: {one.problem}"
    if found.refused:
        said = f"refuses: {', '.join(found.refused)}"
    else:
        said = f"passes, {warnings}" if found.warned else "passes"
    return f"{said}; weaker protection" if one.weakens else said


def least_loss(found: Sequence[Measured]) -> Measured | None:
    """Return the variant with the least loss of those that protect no less than the first one.

    The gate passes them, their policy weakens no protection, and they link no more records.

    Args:
        found: the first one is the policy itself.
    Returns:
        None where there is none.
    """
    first = found[0].outcome
    most = 1.0 if first is None else first.linking * _MORE
    fitting = [
        (own.loss, place)
        for place, one in enumerate(found)
        if (own := one.outcome) is not None and own.passes and not one.weakens and own.linking <= most
    ]
    return found[min(fitting)[1]] if fitting else None


def by_loss(found: Sequence[Measured]) -> list[Measured]:
    """Return the variants that have a release, the least loss first."""
    made = [(own.loss, place) for place, one in enumerate(found) if (own := one.outcome) is not None]
    return [found[place] for _, place in sorted(made)]


def rows(found: Sequence[Measured]) -> list[dict[str, str]]:
    """Return the variants as texts, by `COLUMNS`; one without a release has its name, and why."""
    return [_row(one) for one in found]


def _row(one: Measured) -> dict[str, str]:
    row = dict.fromkeys(COLUMNS, "–") | {"variant": one.name}
    if one.outcome is None:
        return row | {"gate": gate_in_words(one)}
    measured = asdict(one.outcome)
    shown = {name: number(measured[name]) for name in COLUMNS if name in measured}
    return (
        row
        | shown
        | {
            "k": str(one.k),
            "epsilon": "–" if one.epsilon is None else f"{one.epsilon:g}",
            "amount": amounts_in_words(one.amounts),
            "gate": gate_in_words(one),
            "classes": f"{one.outcome.classes:,}",
            "smallest_class": f"{one.outcome.smallest_class:,}",
        }
    )


def as_csv(found: Sequence[Measured]) -> str:
    """Return the variants as CSV, with a title and a line for each."""
    return rows_as_csv(COLUMNS, rows(found))


def as_json(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return the variants as JSON types: for the curator alone."""
    return [
        {
            "variant": one.name,
            "problem": one.problem or None,
            "k": one.k,
            "epsilon": one.epsilon,
            "amounts": {**one.amounts},
            "weakens": one.weakens,
            "outcome": None if one.outcome is None else asdict(one.outcome),
        }
        for one in found
    ]
