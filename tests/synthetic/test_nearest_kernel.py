"""The nearest record, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.synthetic.nearest_kernel import nearest


@pytest.mark.parametrize("left_out", [-1, 0, 1, 2])
def test_it_is_that_of_a_slow_twin(left_out: int) -> None:
    random = np.random.default_rng(0)
    numeric = np.array([True, False, True])
    tables = [
        np.stack([random.random(n), random.integers(0, 3, n), random.random(n)], axis=1) for n in (40, 200)
    ]
    distances, places = nearest(*tables, numeric, left_out=left_out)
    for own, distance, place in zip(tables[0], distances, places, strict=True):
        apart = np.abs(tables[1] - own)
        apart[:, 1] = apart[:, 1] > 0
        whole = apart[:, [at for at in range(3) if at != left_out]].sum(axis=1)
        assert distance == pytest.approx(whole.min()) and whole[place] == pytest.approx(whole.min())


def test_without_numbers_or_with_one_record() -> None:
    numeric, table = np.array([False, False]), np.array([[0.0, 1.0], [2.0, 3.0]])
    distances, places = nearest(table, table[::-1], numeric)
    assert distances.tolist() == [0.0, 0.0] and places.tolist() == [1, 0]
    assert nearest(table, table[:1], numeric)[0].tolist() == [0.0, 2.0]
