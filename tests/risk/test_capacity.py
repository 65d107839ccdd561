"""Closeness of more records than whole numbers of 63 bits compare: right, and wrong with the check off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.recode import Constraints, SensitiveLimit, constraints
from anon_pipeline.recode.class_rules import class_distance
from anon_pipeline.risk import t_closeness
from anon_pipeline.risk.capacity import MOST_SQUARED, WORD, refuse_areas, share_unit
from anon_pipeline.risk.histograms import ClassHistograms, class_histograms
from tests.example_counts import examples_of

DISTANCES = ("ordered", "equal", "hierarchical")
TREE = (np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, np.int64))
WHOLE = np.array([1, 2, 3, 4])
OWN = class_histograms(np.array([0, 3]), np.zeros(2, np.int64), m=1)
"""A class of one record with the first value and one with the last."""


def scaled(found: ClassHistograms, factor: int) -> ClassHistograms:
    """As many times the records."""
    return ClassHistograms(found.starts, found.codes, found.counts * factor, found.sizes * factor)


def measured(distance: Any, factor: int) -> float:
    """The measure of the gate."""
    lookups = TREE if distance == "hierarchical" else None
    found = t_closeness.t_closeness_of(
        scaled(OWN, factor), whole=WHOLE * factor, distance=distance, lookups=lookups
    )
    return float(found[0])


def asked(distance: Any, factor: int) -> float:
    """The kernel of the recoders."""
    limit = SensitiveLimit("s", WHOLE * factor, distance, TREE if distance == "hierarchical" else None, t=0.5)
    rules = constraints.rules_of(Constraints(2, 0, (limit,)))
    own = scaled(OWN, factor)
    return float(class_distance(rules, 0, own.codes, own.counts, int(own.sizes[0])))


def test_the_bounds_of_whole_numbers() -> None:
    assert MOST_SQUARED**2 < WORD <= (MOST_SQUARED + 1) ** 2
    assert share_unit(MOST_SQUARED) == 0
    assert share_unit(MOST_SQUARED + 1) == 2**61
    for height in (1, 2, 3, 7, 100):
        least = next(n for n in range(int((WORD / height) ** 0.5) - 2, 2**33) if height * n * n >= WORD)
        assert (share_unit(least - 1, height=height), share_unit(least, height=height) > 0) == (0, True)
        assert share_unit(least, height=height) * height < 2**62


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("measure", [measured, asked])
def test_ten_thousand_million_records_are_as_far_as_ten(distance: Any, measure: Any) -> None:
    for factor in (10**6, 2 * 10**8, 4 * 10**8, 10**9, 10**10):
        assert measure(distance, factor) == pytest.approx(measure(distance, 1), abs=1e-14)


@pytest.mark.parametrize("measure", [measured, asked])
def test_without_the_unit_they_were_wrong_and_passed(measure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ordered distance of 0.23 was 0 or less, which keeps any t; a hierarchical one was no share."""
    for module in (t_closeness, constraints):
        monkeypatch.setattr(module, "share_unit", lambda records, **_: 0)
    assert measure("ordered", 1) == pytest.approx(0.2333, abs=1e-4)
    wrong = [measure("ordered", factor) for factor in (5 * 10**8, 7 * 10**8, 10**9)]
    assert min(wrong) <= 0.01
    assert not 0 <= measure("hierarchical", 10**9) <= 1


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_units_are_as_exact_as_whole_numbers(data: st.DataObject) -> None:
    """The wide arithmetic forced on small tables measures what the exact one does."""
    n = data.draw(st.integers(1, 30))
    codes = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    labels = np.unique(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), return_inverse=True)[1]
    found = class_histograms(codes, labels, m=int(labels.max()) + 1)
    whole = np.bincount(codes, minlength=4) + np.array(data.draw(st.tuples(*[st.integers(0, 3)] * 4)))
    distance: Any = data.draw(st.sampled_from(DISTANCES))
    how: Any = {"whole": whole, "distance": distance, "lookups": TREE if distance == "hierarchical" else None}
    exact = t_closeness.t_closeness_of(found, **how)
    with pytest.MonkeyPatch.context() as patch:
        for module in (t_closeness, constraints):
            patch.setattr(module, "share_unit", lambda records, height=1: 2 ** (62 - height.bit_length()))
        assert t_closeness.t_closeness_of(found, **how) == pytest.approx(exact, abs=1e-14)
        limit = SensitiveLimit("s", whole, distance, how["lookups"], t=0.5)
        rules = constraints.rules_of(Constraints(1, 0, (limit,)))
    for label in range(len(exact)):
        own = slice(found.starts[label], found.starts[label + 1])
        kernel = class_distance(rules, 0, found.codes[own], found.counts[own], int(found.sizes[label]))
        assert kernel == pytest.approx(exact[label], abs=1e-14)


def test_more_ordered_values_than_add_up_are_refused() -> None:
    refuse_areas(10**10, 922_337_203)
    with pytest.raises(InputError, match="and 10,000,000,000 records must have fewer than 922,337,204 "):
        refuse_areas(10**10, 922_337_204)
    whole = np.array([2**61, 2**61, 1])
    found = ClassHistograms(np.array([0, 1]), np.array([0]), np.array([1]), np.array([1]))
    with pytest.raises(InputError, match="A column with distance: ordered and"):
        t_closeness.t_closeness_of(found, whole=whole, distance="ordered")
    with pytest.raises(InputError, match="A column with distance: ordered and"):
        constraints.rules_of(Constraints(2, 0, (SensitiveLimit("s", whole, "ordered", None, t=0.1),)))
