"""Data shuffling: the values stay, and so do correlations of ranks, within columns and with the classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import spearmanr

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.data_shuffling import shuffle_data
from tests.perturb.whole_column.twins import drawn_scores


def test_each_column_keeps_its_values(columns: Callable[..., Columns]) -> None:
    values = np.random.default_rng(0).integers(0, 100, (300, 2))
    found = shuffle_data(columns(values, labels=np.arange(300) % 7))
    assert (np.sort(found, axis=0) == np.sort(values, axis=0)).all()


def test_rank_correlations_stay_and_records_do_not(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(1)
    base = random.normal(0, 1, 20_000)
    values = np.rint(np.stack((np.exp(base), base + random.normal(0, 0.7, 20_000)), axis=1) * 10**5)
    found = shuffle_data(columns(values))
    assert abs(spearmanr(found).statistic - spearmanr(values).statistic) < 0.03
    assert abs(spearmanr(found[:, 0], values[:, 0]).statistic) < 0.03  # within a class nothing is left


def test_differences_between_classes_stay(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(2)
    labels = np.repeat(np.arange(10), 1_000)
    values = np.rint((labels[:, None] + random.normal(0, 1, (10_000, 1))) * 1_000)
    found = shuffle_data(columns(values, labels=labels))
    before = [values[labels == label].mean() for label in range(10)]
    after = [found[labels == label].mean() for label in range(10)]
    assert np.abs(np.array(after) - before).max() < 400  # of a range of 9,000


def test_one_record_in_each_class_keeps_nearly_its_rank(columns: Callable[..., Columns]) -> None:
    values = np.random.default_rng(3).permutation(100)
    found = shuffle_data(columns(values, labels=np.arange(100)))[:, 0]
    assert (found == values).all()  # its class mean is its own score: nothing hides it


@pytest.mark.parametrize("many", [1, 4, 20])
def test_it_is_its_slow_twin(columns: Callable[..., Columns], many: int) -> None:
    """The t-th lowest value goes to the record with the t-th lowest score."""
    random = np.random.default_rng(many)
    labels = random.permutation(np.append(np.arange(many), random.integers(0, many, 80 - many)))
    made = columns(random.integers(0, 30, (80, 2)) + labels[:, None], labels=labels, key=many)
    scores, wanted = drawn_scores(made), [[0, 0] for _ in range(80)]
    for column in range(2):
        values = sorted(made.values[:, column].tolist())
        receivers = sorted(range(80), key=lambda record: scores[record][column])
        for value, record in zip(values, receivers, strict=True):
            wanted[record][column] = value
    assert shuffle_data(made).tolist() == wanted
