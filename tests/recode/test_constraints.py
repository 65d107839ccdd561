"""A class keeps in a search what the gate measures afterwards: kernels against `risk`, and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.class_rules import CLOSE, class_distance, keeps_rules, tally
from anon_pipeline.recode.constraints import breaches, broken_classes, infeasible_error, rules_of
from anon_pipeline.recode.task import Constraints, Diversity, SensitiveLimit
from anon_pipeline.risk.closeness import closeness

TREE = (np.arange(6), np.array([0, 0, 1, 1, 1, 2]), np.zeros(6, np.int64))
DIVERSITIES = (
    [Diversity("distinct", x) for x in (1, 2, 3)]
    + [Diversity("entropy", x) for x in (1.0, 1.9, 2.0, 2.5)]
    + [Diversity("recursive", x, c) for x in (1, 2, 3) for c in (0.5, 1.0, 2.0)]
)


@st.composite
def constrained(draw: st.DrawFn) -> tuple[Constraints, np.ndarray]:
    """Draw up to three sensitive columns over up to 12 records, and classes."""
    n = draw(st.integers(1, 12))
    limits = []
    for j in range(draw(st.integers(0, 3))):
        codes = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), np.int64)
        more = np.array(draw(st.lists(st.integers(0, 3), min_size=6, max_size=6)), np.int64)
        distance: Any = draw(st.sampled_from(["ordered", "equal", "hierarchical"]))
        limits.append(
            SensitiveLimit(
                f"s{j}",
                codes,
                np.bincount(codes, minlength=6) + more,
                distance,
                TREE if distance == "hierarchical" else None,
                draw(st.none() | st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])),
                draw(st.none() | st.sampled_from(DIVERSITIES)),
            )
        )
    labels = np.unique(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    return Constraints(draw(st.integers(1, 4)), 0, tuple(limits)), labels.astype(np.int64)


def asked(constraints: Constraints, members: np.ndarray) -> tuple[bool, list[float]]:
    """Ask the kernels about one class."""
    rules, values, counts, ends, distances = rules_of(constraints), [], [], [], []
    for j, limit in enumerate(constraints.sensitive):
        own, room = limit.codes[members], np.empty((2, len(members)), np.int64)
        found = tally(own, np.ones(len(own), np.int64), room[0], room[1], np.zeros(6, np.int64))
        assert room[0, :found].tolist() == sorted(set(own.tolist()))
        assert room[1, :found].tolist() == [int((own == value).sum()) for value in room[0, :found]]
        distances.append(class_distance(rules, j, room[0, :found], room[1, :found], len(members)))
        values += room[0, :found].tolist()
        counts += room[1, :found].tolist()
        ends.append(len(values))
    arrays = [np.array(array, np.int64) for array in (values, counts, ends)]
    return bool(keeps_rules(rules, *arrays, len(members))), distances


@settings(deadline=None, max_examples=300)
@given(constrained())
def test_the_kernels_accept_what_the_measures_accept(drawn: tuple[Constraints, np.ndarray]) -> None:
    constraints, labels = drawn
    against = broken_classes(constraints, labels)
    for label in range(labels.max() + 1):
        kept, distances = asked(constraints, np.flatnonzero(labels == label))
        assert kept == (not against[label])
        for j, limit in enumerate(constraints.sensitive):
            if limit.t is None:
                assert distances[j] == 0
                continue
            measured = closeness(
                limit.codes,
                labels,
                whole=limit.whole,
                m=labels.max() + 1,
                distance=limit.distance,
                lookups=limit.lookups,
            )
            assert distances[j] == pytest.approx(measured[label], abs=1e-14)


def test_a_tally_sorts_where_there_are_many_values() -> None:
    room = np.empty((2, 3), np.int64)
    found = tally(np.array([900, 7, 900]), np.array([2, 1, 3]), room[0], room[1], np.zeros(1000, np.int64))
    assert (room[0, :found].tolist(), room[1, :found].tolist()) == ([7, 900], [1, 5])


def test_what_stands_in_the_way_is_named_with_what_was_reached() -> None:
    salary = SensitiveLimit("salary", np.array([0, 0, 1, 1]), np.array([2, 2]), "equal", None, 0.2)
    constraints = Constraints(2, 1, (salary,))
    labels = np.array([0, 0, 1, 1])
    assert breaches(constraints, labels)["t_closeness.salary"].tolist() == [True, True]
    error = infeasible_error(constraints, labels, advice="Raise t.")
    assert str(error) == (
        "No recoding keeps k = 2, t = 0.2 in salary: t_closeness.salary stands in the way for 4 of 4 "
        "records (its worst class is at 0.5), and 1 may be suppressed. Raise t. "
        "Largest k within the suppression limit: 2. "
        "Keeping all limits would suppress 100.00% of the records."
    )
    assert (error.k, error.reached_k, error.suppressed) == (2, 2, 1.0)


@pytest.mark.parametrize(
    ("diversity", "worst"),
    [
        (
            Diversity("distinct", 3),
            "in the way for 4 of 4 records (its worst class has l = 1)",
        ),
        (Diversity("entropy", 2.5), "(its worst class has l = 1)"),
        (Diversity("recursive", 2, 0.5), "(its worst class has the ratio inf)"),
    ],
)
def test_what_was_reached_of_diversity_is_told(diversity: Diversity, worst: str) -> None:
    limit = SensitiveLimit("s", np.array([0, 0, 1, 2]), np.array([2, 1, 1]), diversity=diversity)
    error = infeasible_error(Constraints(2, 0, (limit,)), np.array([0, 0, 1, 1]), advice="Lower l.")
    assert worst in str(error)


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
    constraints = Constraints(3, 0, (SensitiveLimit("s", secret, np.bincount(secret), **limit),))
    message = str(infeasible_error(constraints, np.array([0, 0, 0, 0, 1, 2]), advice="Relax it."))
    assert f".s stands in the way for 6 of 6 records (its worst class {told})" in message
    alone = str(infeasible_error(constraints, np.arange(6), advice="Relax it."))
    assert "worst class" not in alone


def test_the_tolerance_is_the_gates() -> None:
    from anon_pipeline.evidence.measures import is_t_close

    assert is_t_close(np.array([0.2 + CLOSE / 2]), 0.2).all()
    assert not is_t_close(np.array([0.2 + 2 * CLOSE]), 0.2).any()
