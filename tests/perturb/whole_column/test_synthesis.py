"""Synthetic values: the distribution, correlations and classes of the column, and no record's own values."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import ks_2samp, spearmanr

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.synthesis import draw_synthetic
from tests.perturb.whole_column.twins import drawn_scores


def test_distribution_and_rank_correlations_stay(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(1)
    base = random.normal(0, 1, 20_000)
    values = np.rint(np.stack((np.exp(base), base + random.normal(0, 0.7, 20_000)), axis=1) * 10**6)
    found = draw_synthetic(columns(values))
    for column in range(2):
        assert ks_2samp(found[:, column], values[:, column]).statistic < 0.02
        assert values[:, column].min() <= found[:, column].min()
        assert found[:, column].max() <= values[:, column].max()
        assert np.isin(found[:, column], values[:, column]).mean() < 0.05  # not taken from records
    assert abs(spearmanr(found).statistic - spearmanr(values).statistic) < 0.03
    assert abs(spearmanr(found[:, 0], values[:, 0]).statistic) < 0.03


def test_classes_stay_apart(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(2)
    labels = np.repeat(np.arange(5), 2_000)
    values = np.rint((labels * 2 + random.normal(0, 1, 10_000)) * 1_000)
    found = draw_synthetic(columns(values, labels=labels))[:, 0]
    before, after = ([one[labels == at].mean() for at in range(5)] for one in (values, found))
    assert np.abs(np.array(after) - before).max() < 400  # of a range of 8,000


def test_one_value_stays(columns: Callable[..., Columns]) -> None:
    assert draw_synthetic(columns([7, 7, 7]))[:, 0].tolist() == [7, 7, 7]


def between_ranks(values: list[int], score: float) -> float:
    """Return the value at a score: rank r is at the probability (r + ½)/n, and lines connect the ranks."""
    place = min(max(NormalDist().cdf(score) * len(values) - 0.5, 0.0), len(values) - 1.0)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


@pytest.mark.parametrize("many", [1, 4, 20])
def test_it_is_its_slow_twin(columns: Callable[..., Columns], many: int) -> None:
    random = np.random.default_rng(many)
    labels = random.permutation(np.append(np.arange(many), random.integers(0, many, 80 - many)))
    made = columns(random.integers(0, 10**6, (80, 2)) * (1 + labels[:, None]), labels=labels, key=many)
    scores, found = drawn_scores(made), draw_synthetic(made)
    for column in range(2):
        values = sorted(made.values[:, column].tolist())
        wanted = [round(between_ranks(values, score[column])) for score in scores]
        assert found[:, column].tolist() == wanted
