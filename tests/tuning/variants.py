"""Variants with made-up numbers."""

from __future__ import annotations

from typing import Any

from anon_pipeline.tuning.outcomes import Measured, Outcome

PASSING: dict[str, Any] = {
    "passes": True,
    "refused": (),
    "warned": (),
    "released": 0.9,
    "classes": 1_234,
    "smallest_class": 5,
    "linking": 0.04,
    "loss": 0.3,
    "score": 0.17,
    "granularity": 0.2,
    "noise": None,
    "correlations": 0.1,
    "propensity": 0.01,
    "queries": 0.123456,
    "classifier": -0.02,
    "seconds": 1.5,
}


def outcome(**changes: Any) -> Outcome:
    """A release that the gate passes, but for what is changed."""
    return Outcome(**(PASSING | changes))


MADE = [
    Measured("as in the policy", outcome(), k=5, epsilon=2.0),
    Measured("recoder = fixed", None, "anonymize.levels: must name every generalize column"),
    Measured("k = <b>", outcome(loss=0.2, passes=False, refused=("k", "linking_risk")), k=2),
    Measured("epsilon = 9", outcome(loss=0.1), k=5, epsilon=9.0, weakens=True),
    Measured("k = 9", outcome(loss=0.4, linking=0.002, warned=("rare_values.x",)), k=9, epsilon=None),
]
