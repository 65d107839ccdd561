"""What can be asked of a hierarchy."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.hierarchy import Hierarchy

HIERARCHY = Hierarchy(
    "x",
    (np.array([0, 1, 2]), np.array([0, 0, 1]), np.array([0, 0, 0])),
    (
        np.array(["a", "b", None], dtype=object),
        np.array(["ab", None], dtype=object),
        np.array(["*"], dtype=object),
    ),
)


def test_sizes() -> None:
    assert (HIERARCHY.height, HIERARCHY.leaves, HIERARCHY.has_missing) == (3, 3, True)


@pytest.mark.parametrize(("level", "below"), [(0, [1, 1, 1]), (1, [2, 1]), (2, [3])])
def test_leaves_below(level: int, below: list[int]) -> None:
    assert HIERARCHY.leaves_below(level).tolist() == below


def test_without_missing_values() -> None:
    plain = Hierarchy("x", (np.array([0]),), (np.array(["a"], dtype=object),))
    assert not plain.has_missing
