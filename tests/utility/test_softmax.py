"""Many weights: the same optimum as scikit-learn's, also where features depend on each other."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from anon_pipeline.utility.softmax import softmax_regression


def loss(x: np.ndarray, own: np.ndarray, weights: np.ndarray, intercepts: np.ndarray) -> float:
    scores = x @ weights + intercepts
    top = scores.max(axis=1)
    sums = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
    return float((sums - scores[np.arange(len(own)), own]).sum() + (weights**2).sum() / 2)


@pytest.mark.parametrize("labels", [2, 3, 12])
@pytest.mark.parametrize("coarse", [False, True], ids=["numbers", "nearly dependent"])
def test_the_optimum_is_that_of_scikit_learn(labels: int, coarse: bool) -> None:
    rng = np.random.default_rng(labels)
    x = rng.normal(size=(600, 6))
    own = np.argmax(x[:, :1] * np.linspace(-2, 2, labels) + rng.gumbel(size=(600, labels)), axis=1)
    if coarse:
        x = np.concatenate([x, x @ rng.normal(size=(6, 4)) + 1e-3 * rng.normal(size=(600, 4))], axis=1)
    model = softmax_regression(x, own + 5)
    slow = LogisticRegression(max_iter=5000, tol=1e-10, solver="newton-cg").fit(x, own)
    assert model.labels.tolist() == list(range(5, 5 + labels))
    if labels > 2:  # of two labels scikit-learn penalizes one weight, not two
        best = loss(x, own, slow.coef_.T, slow.intercept_)
        assert loss(x, own, model.weights, model.intercepts) == pytest.approx(best, rel=1e-6)
    assert (model.predict(x) == slow.predict(x) + 5).mean() > 0.99


def test_one_label_is_always_predicted() -> None:
    assert softmax_regression(np.arange(4.0)[:, None], np.full(4, 7)).predict(np.zeros((2, 1))).tolist() == [
        7,
        7,
    ]
