from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.risk.boxes import points_in_boxes
from tests.example_counts import examples_of


def twin(points, low, high):
    return [
        sum(all(a <= x <= b for a, x, b in zip(*box, strict=True)) for box in ((lo, p, hi) for p in points))
        for lo, hi in zip(low, high, strict=True)
    ]


@st.composite
def spaces(draw):
    q, width = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    number = st.integers(0, 9)
    points = draw(st.lists(st.tuples(*[number] * q), max_size=25))
    boxes = draw(st.lists(st.tuples(*[number] * q), max_size=6))
    low = np.array(boxes, np.int64).reshape(-1, q)
    high = low + np.array(draw(st.lists(st.integers(-1, 4), min_size=low.size, max_size=low.size))).reshape(
        low.shape
    )
    for j in range(q):
        if draw(st.booleans()):  # a column of cells that do not overlap
            low[:, j] = low[:, j] // width * width
            high[:, j] = low[:, j] + width - 1
    return np.array(points, np.int64).reshape(-1, q), low, high.astype(np.int64)


@settings(max_examples=examples_of(300))
@given(spaces())
def test_counts_are_those_of_looking_at_each_pair(space):
    points, low, high = space
    assert points_in_boxes(points, low, high).tolist() == twin(points.tolist(), low.tolist(), high.tolist())


def test_many_columns_of_many_cells_do_not_overflow():
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2**20, (300, 8))
    low = points[rng.integers(0, 300, 50)]
    assert points_in_boxes(points, low, low).tolist() == twin(points.tolist(), low.tolist(), low.tolist())
    wide = low + 2**19
    assert points_in_boxes(points, low, wide).tolist() == twin(points.tolist(), low.tolist(), wide.tolist())


def test_nothing_in_or_nothing_to_count_is_zero():
    none, some = np.empty((0, 2), np.int64), np.ones((3, 2), np.int64)
    assert points_in_boxes(none, some, some).tolist() == [0, 0, 0]
    assert points_in_boxes(some, none, none).tolist() == []
    assert points_in_boxes(some, some, some - 1).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("points", "low"), [((3, 0), (2, 0)), ((3, 2), (2, 1))])
def test_other_columns_are_refused(points, low):
    box = np.zeros(low, np.int64)
    with pytest.raises(ValueError, match="the same columns, at least one"):
        points_in_boxes(np.zeros(points, np.int64), box, box)
