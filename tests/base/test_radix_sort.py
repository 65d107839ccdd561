"""Sorting digit by digit, against numpy's stable sorting, at each width, with narrow and wide places."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.base import order
from anon_pipeline.base.order import add_values, count_values, rank_values, repeated_rows, sort_keys
from anon_pipeline.base.radix_sort import sort_numbers, sort_with_places


@pytest.mark.parametrize("wide", [1, 2, 10, 11, 12, 16, 21, 22, 23, 33, 34, 44, 45, 54])
def test_as_numpy_sorts(wide: int) -> None:
    random = np.random.default_rng(wide)
    keys = random.integers(0, 2**wide, 250)
    keys = np.concatenate((keys, keys[::3], [0, 2**wide - 1]))[random.permutation(len(keys) + 86)]
    given, places = keys.copy(), np.argsort(keys, kind="stable")
    for bits in (9, 63 - wide):
        found = sort_with_places(keys, wide, bits)
        assert [one.tolist() for one in found] == [keys[places].tolist(), places.tolist()]
    assert sort_numbers(keys, wide).tolist() == keys[places].tolist()
    assert keys.tolist() == given.tolist()


def test_no_number_and_one() -> None:
    empty, one = np.empty(0, np.int64), np.array([5])
    assert [found.tolist() for found in sort_with_places(empty, 3, 1)] == [[], []]
    assert [found.tolist() for found in sort_with_places(one, 3, 1)] == [[5], [0]]
    assert (sort_numbers(empty, 62).tolist(), sort_numbers(one, 62).tolist()) == ([], [5])


@pytest.mark.parametrize("space", [1, 9, 2**16, 2**31, 2**48, 2**62])
def test_many_numbers_are_in_the_order_of_few(space: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sorts has the same, whether a compiled loop does it or numpy."""
    random = np.random.default_rng(space % 7)
    keys = random.integers(0, space, 400)[random.integers(0, 400, 700)]
    found = []
    for least in (2**16, 0):
        monkeypatch.setattr(order, "_COMPILED_FROM", least)
        places, sizes = repeated_rows(keys, space)
        arrays = (
            *sort_keys(keys, space),
            *count_values(keys, space),
            *add_values(keys, np.ones_like(keys), space),
            rank_values(keys, space)[0],
            np.sort(places),
            sizes,
        )
        found.append([array.tolist() for array in arrays])
    assert found[0] == found[1]
    narrow = (keys % 9).astype(np.int8)
    assert sort_keys(narrow, 9)[0].tolist() == np.sort(narrow).tolist()
