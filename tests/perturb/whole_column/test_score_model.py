"""The model of normal scores: class means and common covariances come out of what is drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from anon_pipeline.perturb.whole_column.columns_to_change import Columns
from anon_pipeline.perturb.whole_column.score_model import draw_scores
from tests.perturb.whole_column.twins import drawn_scores, order_of


def test_drawn_scores_have_the_model_s_means_and_correlations(columns: Callable[..., Columns]) -> None:
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 5_000)
    base = random.normal(0, 1, 20_000)
    values = np.stack((base + labels, -base + random.normal(0, 1, 20_000)), axis=1) * 10**5
    orders, drawn = draw_scores(columns(values.round(), labels=labels))
    assert (np.diff(values[orders[0], 0].round()) >= 0).all()
    assert np.abs(drawn.mean(axis=0)).max() < 0.03 and np.abs(drawn.var(axis=0) - 1).max() < 0.05
    means = [drawn[labels == label, 0].mean() for label in range(4)]
    assert np.diff(means).min() > 0.4  # classes differ in the first column
    inside = (
        drawn - np.stack([[drawn[labels == at, j].mean() for at in range(4)] for j in (0, 1)], axis=1)[labels]
    )
    assert np.corrcoef(inside.T)[0, 1] < -0.6


@pytest.mark.parametrize("many", [1, 4, 20])
def test_it_is_its_slow_twin(columns: Callable[..., Columns], many: int) -> None:
    """Of columns with equal values, and classes of different sizes."""
    random = np.random.default_rng(many)
    labels = random.permutation(np.append(np.arange(many), random.integers(0, many, 60 - many)))
    made = columns(random.integers(0, 25, (60, 3)) + labels[:, None], labels=labels, key=many)
    orders, drawn = draw_scores(made)
    assert [order.tolist() for order in orders] == [order_of(made, column, 1) for column in range(3)]
    assert np.allclose(drawn, drawn_scores(made), rtol=0, atol=1e-12)
