"""Which columns are changed together, by what words, and that neither order nor classes of others matter."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import PluginError
from anon_pipeline.perturb.grid import LARGEST
from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.whole_column import change, value_rounding
from anon_pipeline.perturb.whole_column.change import change_columns

AMOUNTS = {
    "rank_swapping": Fraction(1, 5),
    "class_swapping": None,
    "individual_ranking": Fraction(3),
    "rounding": Fraction(10),
    "multiplicative_noise": Fraction(1, 5),
    "correlated_noise": Fraction(1, 5),
    "resampling": Fraction(3),
    "data_shuffling": None,
    "synthesis": None,
    "class_synthesis": None,
}


def _noise(kind: str) -> Noise:
    return Noise(kind, Fraction(0), amount=AMOUNTS[kind])


def _words(n: int, places: np.ndarray | None = None) -> Words:
    return Words(NoiseKey(b"k" * 32), np.arange(n, dtype=np.int64) if places is None else places)


@pytest.mark.parametrize("kind", AMOUNTS)
def test_the_order_of_the_records_plays_no_part(kind: str) -> None:
    random = np.random.default_rng(3)
    values, labels = random.integers(0, 50, (60, 2)), random.integers(-1, 4, 60)
    noises, order = [_noise(kind)] * 2, random.permutation(60)
    one = change_columns(values, labels, noises=noises, words=_words(60))
    two = change_columns(values[order], labels[order], noises=noises, words=_words(60, order))
    assert all((one[j][order] == two[j]).all() for j in range(2))
    assert any((one[j] != values[:, j]).any() for j in range(2))


@pytest.mark.parametrize("kind", AMOUNTS)
def test_records_of_no_class_take_no_part(kind: str) -> None:
    random = np.random.default_rng(4)
    values, labels = random.integers(0, 50, (40, 1)), np.arange(40) % 4
    alone = change_columns(values, labels, noises=[_noise(kind)], words=_words(40))[0]
    more = np.concatenate((values, [[10**6], [-(10**6)]]))
    out = change_columns(more, np.append(labels, [-1, -1]), noises=[_noise(kind)], words=_words(42))[0]
    assert (out[:40] == alone).all() and out[40:].tolist() == [10**6, -(10**6)]


def test_each_copy_of_a_table_is_changed_by_itself() -> None:
    values, labels = np.arange(12)[:, None] * 100, np.repeat([0, 1, 2, 3], 3)
    twice = np.concatenate((values, values))
    found = change_columns(
        twice, np.append(labels, labels + 4), noises=[_noise("rank_swapping")], words=_words(24), copies=2
    )[0]
    assert sorted(found[:12]) == sorted(found[12:]) == sorted(values[:, 0])
    assert (found[:12] != found[12:]).any()


def test_columns_of_other_mechanisms_are_left_alone_and_those_of_one_share_no_words() -> None:
    values = np.repeat(np.arange(500)[:, None], 3, axis=1)
    noises = [Noise("uniform", Fraction(1)), _noise("rank_swapping"), _noise("rank_swapping")]
    found = change_columns(values, np.zeros(500, np.int64), noises=noises, words=_words(500))
    assert set(found) == {1, 2} and (found[1] != found[2]).any()


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 5), st.integers(0, 5)), max_size=50),
    st.integers(0, 9),
)
def test_values_that_move_together_stay_one_records(records: list[tuple[int, int, int]], key: int) -> None:
    """Also where each column is changed by a call of its own, as numbers and categories are."""
    labels, *values = np.array(records, np.int64).reshape(-1, 3).T
    n, noise = len(labels), replace(_noise("class_swapping"), together=True)
    words = Words(NoiseKey(key.to_bytes(32, "big")), np.arange(n, dtype=np.int64))
    both = change_columns(np.stack(values, axis=1), labels, noises=[noise, noise], words=words)
    (other,) = change_columns(values[1][:, None], labels, noises=[noise], words=words, numbers=[7]).values()
    assert (other == both[1]).all()
    for label in {*labels.tolist()}:
        own = labels == label
        before, after = (
            [*zip(*(each[own].tolist() for each in of), strict=True)] for of in (values, both.values())
        )
        assert sorted(before) == sorted(after)
        assert label >= 0 or before == after


def test_those_that_move_together_have_words_that_no_other_column_has() -> None:
    values = np.repeat(np.arange(500)[:, None], 3, axis=1)
    joint = replace(_noise("class_swapping"), together=True)
    noises = [joint, _noise("class_swapping"), joint]
    found = change_columns(values, np.zeros(500, np.int64), noises=noises, words=_words(500))
    assert (found[0] == found[2]).all() and abs(np.corrcoef(found[0], found[1])[0, 1]) < 0.2


def test_no_record_and_few_records_can_be_changed() -> None:
    for n in (0, 1, 2):
        for kind in AMOUNTS:
            values = np.arange(n)[:, None] * 7
            found = change_columns(values, np.zeros(n, np.int64), noises=[_noise(kind)], words=_words(n))[0]
            assert found.shape == (n,)


def test_values_stay_within_what_is_exact() -> None:
    noise = Noise("multiplicative_noise", Fraction(0), amount=Fraction(10))
    values = np.full((50, 1), LARGEST)
    found = change_columns(values, np.zeros(50, np.int64), noises=[noise], words=_words(50))[0]
    assert abs(found).max() <= LARGEST


def test_a_function_that_releases_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_rounding, "round_values", lambda columns: columns.values[:1])
    change.import_entry.cache_clear()  # else the function of before is taken
    try:
        with pytest.raises(PluginError, match="rounding must release an int64 for each value"):
            change_columns(
                np.zeros((3, 1)), np.zeros(3, np.int64), noises=[_noise("rounding")], words=_words(3)
            )
    finally:
        change.import_entry.cache_clear()
