"""What variants were found to do, as rows of text: for the terminal, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from anon_pipeline.tuning.outcomes import Measured, Outcome
from anon_pipeline.tuning.output import number

COLUMNS: Final = (
    *("variant", "k", "epsilon", "gate", "released", "classes", "smallest_class", "linking", "loss"),
    *("granularity", "noise", "correlations", "propensity", "queries", "classifier", "seconds"),
)


def gate_in_words(found: Outcome) -> str:
    """Say that the gate passes a release, with how many warnings, or which limits it does not keep."""
    if found.refused:
        return f"refuses: {', '.join(found.refused)}"
    return f"passes, warns of {len(found.warned)}" if found.warned else "passes"


def least_loss(found: Sequence[Measured]) -> Measured | None:
    """Return the variant with the least loss of those that the gate passes; None where it passes none."""
    passing = [one for one in found if one.outcome is not None and one.outcome.passes]
    return min(passing, key=lambda one: one.outcome.loss if one.outcome else 1.0, default=None)


def rows(found: Sequence[Measured]) -> list[dict[str, str]]:
    """Return the variants as texts, by `COLUMNS`; one without a release has its name, and why."""
    return [_row(one) for one in found]


def _row(one: Measured) -> dict[str, str]:
    row = dict.fromkeys(COLUMNS, "–") | {"variant": one.name}
    if one.outcome is None:
        return row | {"gate": f"no release: {one.problem}"}
    measured = asdict(one.outcome)
    shown = {name: number(measured[name]) for name in COLUMNS if name in measured}
    return (
        row
        | shown
        | {
            "k": str(one.k),
            "epsilon": "–" if one.epsilon is None else f"{one.epsilon:g}",
            "gate": gate_in_words(one.outcome),
            "classes": f"{one.outcome.classes:,}",
            "smallest_class": f"{one.outcome.smallest_class:,}",
        }
    )


def as_csv(found: Sequence[Measured]) -> str:
    """Return the variants as CSV, with a title and a line for each."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(found))
    return text.getvalue()


def as_json(found: Sequence[Measured]) -> list[dict[str, Any]]:
    """Return the variants as JSON types: for the curator alone."""
    return [
        {
            "variant": one.name,
            "problem": one.problem or None,
            "k": one.k,
            "epsilon": one.epsilon,
            "outcome": None if one.outcome is None else asdict(one.outcome),
        }
        for one in found
    ]
