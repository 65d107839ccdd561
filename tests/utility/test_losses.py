"""Losses of a release, against the definitions written out cell by cell in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.catalog.losses import LOSSES, WEIGHED
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.recode.loss import cell_loss
from anon_pipeline.utility.cells import numerical_precision
from anon_pipeline.utility.losses import information_loss, lost_by_cells
from tests.utility.columns import categories, decades, on_level, ranged

BY_CELLS: dict[str, Callable] = {name: partial(lost_by_cells, cell_loss(name)) for name in WEIGHED}
NOTHING = np.empty(0, np.int64)

columns = st.lists(
    st.tuples(st.integers(0, 7), st.one_of(st.none(), st.integers(0, 2))), min_size=1, max_size=30
)


def by_classes(name, sizes, n, *, target=None, labels=NOTHING):
    """Compute a loss of classes, as of a whole comparison."""
    has = None if target is None else "x"
    held = SimpleNamespace(sizes=np.asarray(sizes), records=n, target=has, answers=target, labels=labels)
    return information_loss(LOSSES[name], held)


@given(columns, st.randoms(use_true_random=False))
def test_losses_are_those_of_the_definitions(cells, random):
    hierarchy, n = decades(), len(cells)
    own = [leaf for leaf, _ in cells]
    column = on_level(hierarchy, own, [level for _, level in cells])
    counts = Counter(own)
    steps = granules = Fraction(0)
    widths, bits, most = [], [], []
    span = np.ptp(hierarchy.coordinates[own])
    for leaf, level in cells:
        at = 2 if level is None else level
        below = np.flatnonzero(hierarchy.lookups[at] == hierarchy.lookups[at][leaf]).tolist()
        steps += Fraction(1) if level is None else Fraction(level, 2)
        granules += Fraction(1) if level is None else Fraction(len(below) - 1, 7)
        wide = np.ptp(hierarchy.coordinates[below])
        share = min(1.0, wide / span) if span else float(len(below) > 1)
        widths.append(1.0 if level is None else share)
        within = n if level is None else sum(counts[other] for other in below)
        bits.append(math.log2(within / counts[leaf]))
        most.append(math.log2(n / counts[leaf]))
    assert BY_CELLS["precision"]([column]) == pytest.approx(float(steps / n))
    assert BY_CELLS["granularity"]([column]) == pytest.approx(float(granules / n))
    assert numerical_precision([column]) == pytest.approx(sum(widths) / n)
    expected = sum(bits) / sum(most) if sum(most) else 0.0
    assert BY_CELLS["entropy"]([column]) == pytest.approx(expected, abs=1e-8)  # log₂ in units of 2^-30
    moved = random.sample(cells, n)
    other = on_level(hierarchy, [leaf for leaf, _ in moved], [level for _, level in moved])
    for loss in BY_CELLS.values():
        assert loss([column]) == loss([other])


@pytest.mark.parametrize("name", WEIGHED)
def test_nothing_generalized_loses_nothing_and_everything_suppressed_loses_everything(name):
    own = [0, 3, 4, 7]
    assert BY_CELLS[name]([on_level(decades(), own, [0] * 4)]) == 0.0
    assert BY_CELLS[name]([on_level(decades(), own, [None] * 4)]) == 1.0
    assert BY_CELLS[name]([]) is None


@pytest.mark.parametrize("name", WEIGHED)
def test_a_constant_column_loses_nothing(name):
    only = from_columns("x", [np.array(["5"], object), np.array(["*"], object)], coordinates=np.array([5.0]))
    assert BY_CELLS[name]([on_level(only, [0, 0], [0, 0])]) == 0.0


def test_the_mean_is_over_columns():
    numbers, letters = on_level(decades(), [0, 4], [1, 1]), on_level(categories(), [0, 3], [2, 2])
    assert BY_CELLS["precision"]([numbers, letters]) == 0.75
    assert BY_CELLS["granularity"]([numbers, letters]) == pytest.approx((3 / 7 + 1) / 2)


def test_levels_and_widths_of_one_column_are_both_shares():
    column = ranged(decades(), [1, 5, 7], [(0, 4), (4, 5), (7, 7)])
    assert BY_CELLS["precision"]([column]) == pytest.approx((10 / 12 + 1 / 12 + 0) / 3)
    assert BY_CELLS["granularity"]([column]) == pytest.approx((4 + 1 + 0) / 7 / 3)


@given(st.lists(st.integers(1, 9)), st.integers(0, 5), st.randoms(use_true_random=False))
def test_losses_of_classes_are_those_of_the_definitions(sizes, gone, random):
    n = sum(sizes) + gone
    if n:
        for order in (sizes, random.sample(sizes, len(sizes))):
            own = np.array(order, np.int64)
            assert by_classes("discernibility", own, n) == sum(m * m for m in sizes) + n * gone
            assert by_classes("average_class_size", own, n) == n / (len(sizes) + (gone > 0))


def test_discernibility_does_not_overflow():
    assert by_classes("discernibility", np.array([46_341], np.int32), 46_341) == 46_341**2
    assert by_classes("discernibility", np.array([2**32]), 2**32 + 1) == 2**64 + 2**32 + 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1))
def test_classification_counts_suppressed_and_minority_records(records):
    target, labels = np.array(records).T
    right, sizes = 0, []
    for label in set(labels[labels >= 0].tolist()):
        right += np.bincount(target[labels == label]).max()
        sizes.append(int((labels == label).sum()))
    found = by_classes("classification", sizes, len(records), target=target, labels=labels)
    assert found == (len(records) - right) / len(records)
    assert by_classes("classification", sizes, len(records)) is None
