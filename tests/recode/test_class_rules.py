"""The kernels of one class accept what the measures accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.class_rules import class_distance, keeps_rules, tally
from anon_pipeline.recode.constraints import broken_classes, rules_of
from anon_pipeline.recode.task import Constraints, Diversity
from anon_pipeline.risk.t_closeness import t_closeness
from tests.example_counts import examples_of
from tests.recode.asking import classes, limit_of, rules

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
            limit_of(
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
    laid, values, counts, ends, distances = rules_of(rules(constraints)), [], [], [], []
    for j, limited in enumerate(constraints.sensitive):
        own, room = limited.codes[members], np.empty((2, len(members)), np.int64)
        found = tally(own, np.ones(len(own), np.int64), room[0], room[1], np.zeros(6, np.int64))
        assert room[0, :found].tolist() == sorted(set(own.tolist()))
        assert room[1, :found].tolist() == [int((own == value).sum()) for value in room[0, :found]]
        distances.append(class_distance(laid, j, room[0, :found], room[1, :found], len(members)))
        values += room[0, :found].tolist()
        counts += room[1, :found].tolist()
        ends.append(len(values))
    arrays = [np.array(array, np.int64) for array in (values, counts, ends)]
    return bool(keeps_rules(laid, *arrays, len(members))), distances


@settings(deadline=None, max_examples=examples_of(300))
@given(constrained())
def test_the_kernels_accept_what_the_measures_accept(drawn: tuple[Constraints, np.ndarray]) -> None:
    constraints, labels = drawn
    against = broken_classes(rules(constraints), classes(constraints, labels))
    for label in range(labels.max() + 1):
        kept, distances = asked(constraints, np.flatnonzero(labels == label))
        assert kept == (not against[label])
        for j, limited in enumerate(constraints.sensitive):
            limit = limited.limit
            if limit.t is None:
                assert distances[j] == 0
                continue
            measured = t_closeness(
                limited.codes,
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
