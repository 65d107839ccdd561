"""The distance of a cluster slot by slot is the gate's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode.class_rules import class_distance
from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.slots import distance_with, make_scale
from anon_pipeline.recode.task import Task
from tests.example_counts import examples_of


def replacements(asked: Task, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, int, int]]:
    """Clusters, a member of each, a newcomer."""
    codes = asked.by_record.sensitive[0]
    for size in rng.integers(1, 12, 8).tolist():
        own = rng.choice(len(codes), min(size, len(codes)), replace=False)
        yield codes[own], int(codes[own[0]]), int(codes[rng.integers(len(codes))])


@settings(deadline=None, max_examples=examples_of(100))
@given(data=st.data())
def test_the_distance_slot_by_slot_is_the_gates(data: st.DataObject, drawn: Any, micro: Any) -> None:
    asked = data.draw(micro.tasks(drawn.tables, "tclose_first", most=24))
    rules, rng = rules_of(asked.constraints), np.random.default_rng(3)
    for own, old, new in replacements(asked, rng):
        scale = make_scale(rules, 0, np.array([len(own)]))
        changed = np.append(own[1:], new)
        values, counts = np.unique(changed, return_counts=True)
        expected = class_distance(rules, 0, values, counts, len(own))
        ranked = np.sort(scale.ranks[own])
        assert distance_with(scale, ranked, scale.ranks[old], scale.ranks[new]) == pytest.approx(
            expected, abs=1e-12
        )
