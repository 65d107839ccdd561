"""Bounds that hold where a policy has none."""

from __future__ import annotations

import pytest

from anon_pipeline.limits.usual import linking_bound


@pytest.mark.parametrize(("k", "bound"), [(2, 0.5), (4, 0.5), (5, 0.4), (8, 0.25), (10, 0.2), (100, 0.2)])
def test_the_bound_follows_k_where_classes_are_small(k: int, bound: float) -> None:
    assert linking_bound(k) == bound
