"""Resampling: means of samples, rank by rank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from anon_pipeline.perturb.whole_column.bootstrap_resampling import resample
from anon_pipeline.perturb.whole_column.columns_to_change import Columns


def test_it_is_what_sorting_samples_gives(columns: Callable[..., Columns]) -> None:
    values = np.random.default_rng(0).permutation(50) * 7
    made = columns(values, 3)
    ordered = np.sort(values)
    samples = [np.sort(ordered[(made.uniform(0, part=1 + t) * 50).astype(int)]) for t in range(3)]
    slow = np.rint(np.mean(samples, axis=0))
    assert resample(made)[np.argsort(values), 0].tolist() == slow.tolist()


def test_ranks_stay_and_the_distribution_nearly_does(columns: Callable[..., Columns]) -> None:
    values = np.rint(np.random.default_rng(0).exponential(10_000, 5_000))
    found = resample(columns(values, 10))[:, 0]
    assert (np.diff(found[np.lexsort((found, values))]) >= 0).all()
    assert abs(found.mean() / values.mean() - 1) < 0.02 and (found != values).mean() > 0.9


def test_more_samples_move_values_less(columns: Callable[..., Columns]) -> None:
    values = np.rint(np.random.default_rng(0).normal(0, 10_000, 2_000))
    moved = [np.abs(resample(columns(values, t))[:, 0] - values).mean() for t in (2, 20, 200)]
    assert moved[0] > moved[1] > moved[2]
