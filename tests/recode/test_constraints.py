"""A class keeps in a search what the gate measures afterwards: kernels against `risk`, and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_pipeline.recode.class_rules import CLOSE
from anon_pipeline.recode.constraints import breaches, infeasible_error
from anon_pipeline.recode.task import Constraints, Diversity
from tests.recode.asking import classes, limit_of, rules


def test_what_stands_in_the_way_is_named_with_what_was_reached() -> None:
    salary = limit_of("salary", np.array([0, 0, 1, 1]), np.array([2, 2]), "equal", None, 0.2)
    constraints = Constraints(2, 1, (salary,))
    labels = np.array([0, 0, 1, 1])
    assert breaches(rules(constraints), classes(constraints, labels))["t_closeness.salary"].tolist() == [
        True,
        True,
    ]
    error = infeasible_error(rules(constraints), classes(constraints, labels), advice="Raise t.")
    assert str(error) == (
        "No recoding keeps k = 2, t = 0.2 in salary: t_closeness.salary fails for more "
        "records than the 1 that may be suppressed. Raise t. On a terminal, --show-values says by how much."
    )
    assert error.exact == (
        "t_closeness.salary fails for 4 of 4 records (its worst class is at 0.5). "
        "Largest k within the suppression limit: 2. "
        "Keeping all limits would suppress 100.00% of the records."
    )
    assert (error.k, error.reached_k, error.suppressed) == (2, 2, 1.0)


@pytest.mark.parametrize(
    ("diversity", "worst"),
    [
        (
            Diversity("distinct", 3),
            "fails for 4 of 4 records (its worst class has l = 1)",
        ),
        (Diversity("entropy", 2.5), "(its worst class has l = 1)"),
        (Diversity("recursive", 2, 0.5), "(its worst class has the ratio inf)"),
    ],
)
def test_what_was_reached_of_diversity_is_told(diversity: Diversity, worst: str) -> None:
    limit = limit_of("s", np.array([0, 0, 1, 2]), np.array([2, 1, 1]), diversity=diversity)
    limits = Constraints(2, 0, (limit,))
    error = infeasible_error(rules(limits), classes(limits, np.array([0, 0, 1, 1])), advice="Lower l.")
    assert worst in error.exact
    assert "worst" not in str(error)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ({"distance": "equal", "t": 0.1}, "is at 0.3333"),
        ({"diversity": Diversity("distinct", 3)}, "has l = 2"),
        ({"diversity": Diversity("recursive", 2, 0.5)}, "has the ratio 1"),
    ],
)
def test_nothing_is_told_of_a_class_below_k(limit: Any, told: str) -> None:
    """A class of four, and two persons alone, each as far from the whole as the person's value is rare."""
    secret = np.array([0, 0, 1, 1, 2, 3])
    constraints = Constraints(3, 0, (limit_of("s", secret, np.bincount(secret), **limit),))
    together = classes(constraints, np.array([0, 0, 0, 0, 1, 2]))
    message = infeasible_error(rules(constraints), together, advice="Relax it.").exact
    assert f".s fails for 6 of 6 records (its worst class {told})" in message
    apart = classes(constraints, np.arange(6))
    alone = infeasible_error(rules(constraints), apart, advice="Relax it.").exact
    assert "worst class" not in alone


def test_the_tolerance_is_the_gates() -> None:
    from anon_pipeline.evidence.measures import is_t_close

    assert is_t_close(np.array([0.2 + CLOSE / 2]), 0.2).all()
    assert not is_t_close(np.array([0.2 + 2 * CLOSE]), 0.2).any()
