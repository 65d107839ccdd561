"""Distributions without values that fewer than k records have."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.synthetic.marginals import marginal_of

AGE = DeclaredColumn(bounds=(0, 99), otherwise="0")
CITY = DeclaredColumn(values=("Cork", "Dublin", "rare"), otherwise="rare")
PLACES = np.linspace(0, 1, 2_001)


def ones(codes: np.ndarray) -> np.ndarray:
    return np.ones(len(codes), np.int64)


@given(codes=st.lists(st.integers(0, 99), min_size=1, max_size=60), k=st.integers(2, 12))
def test_no_number_lies_beyond_the_means_of_k_records(codes: list[int], k: int) -> None:
    values = np.array(codes)
    drawn = marginal_of(AGE, values, ones(values), k).draw(PLACES)
    many, least = np.sort(values), min(k, len(codes))
    assert drawn.min() >= np.floor(many[:least].mean()) and drawn.max() <= np.ceil(many[-least:].mean())
    assert (np.diff(drawn) >= 0).all()


def test_rare_categories_are_left_out_and_others_keep_their_shares() -> None:
    codes = np.array([0] * 60 + [1] * 30 + [2] * 4)
    drawn = marginal_of(CITY, codes, ones(codes), 5).draw(PLACES)
    assert set(drawn) == {0, 1} and abs((drawn == 0).mean() - 2 / 3) < 0.01
    assert set(marginal_of(CITY, codes, ones(codes), 4).draw(PLACES)) == {0, 1, 2}


def test_weights_count_and_rareness_is_of_records() -> None:
    codes, weights = np.array([0] * 10 + [1] * 10), np.array([1] * 10 + [3] * 10)
    assert abs(marginal_of(CITY, codes, weights, 5).draw(PLACES).mean() - 0.75) < 0.01
    few = np.array([0] * 10 + [1])
    assert set(marginal_of(CITY, few, np.array([1] * 10 + [50]), 5).draw(PLACES)) == {0}


def test_where_everything_is_rare_there_is_only_otherwise() -> None:
    codes = np.array([0, 1, 1])
    assert set(marginal_of(CITY, codes, ones(codes), 5).draw(PLACES)) == {2}


def test_large_tables_keep_their_distribution() -> None:
    codes = np.clip(np.random.default_rng(0).normal(50, 15, 20_000).round(), 0, 99).astype(np.int64)
    drawn = marginal_of(AGE, codes, ones(codes), 10).draw(PLACES)
    assert abs(drawn.mean() - codes.mean()) < 0.2 and abs(drawn.std() - codes.std()) < 0.3
