"""Multinomial logistic regression for many weights: scikit-learn's loss, minimized in fewer steps.

Features of a coarse release nearly depend on each other, so that L-BFGS needs a thousand steps for them. Here
the same steps are taken in coordinates in which the features do not depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_STEPS = 1000
_GRADIENT = 5e-7  # of the mean loss, where a step would no longer change what is predicted


@dataclass(frozen=True, slots=True, eq=False)
class Softmax:
    """A fitted model: of each label, in ``labels`` (K,), its weights (f, K) and its intercept (K,)."""

    labels: NDArray[np.integer] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)
    intercepts: NDArray[np.float64] = field(repr=False)

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.integer]:
        """Return the likeliest label of each row (n, f), (n,)."""
        found: NDArray[np.integer] = self.labels[np.argmax(x @ self.weights + self.intercepts, axis=1)]
        return found


def softmax_regression(x: NDArray[np.float64], y: NDArray[np.integer]) -> Softmax:
    """Minimize Σ −log p(yᵢ | xᵢ) + ½Σw², as scikit-learn's `LogisticRegression` with C = 1.

    Args:
        x: (n, f) features, n ≥ 1, f ≥ 1.
        y: (n,) labels, K of them.
    Source:
        Böhning (1992) bounds the curvature by that of least squares, which the coordinates are taken from.
    """
    from scipy.linalg import cholesky, solve_triangular  # noqa: PLC0415 - only where something is fitted
    from scipy.optimize import minimize  # noqa: PLC0415

    labels, own = np.unique(y, return_inverse=True)
    n, f = x.shape
    rows, size = np.arange(n), (f + 1, len(labels))
    wide = np.concatenate([x, np.ones((n, 1))], axis=1)
    curvature = wide.T @ wide / 4 + np.diag([1.0] * f + [1e-6 * n])
    back = solve_triangular(cholesky(curvature, lower=True), np.eye(f + 1), lower=True, trans="T")
    turned, penalized = np.ascontiguousarray(wide @ back), back[:f]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the loss by record, and its gradient."""
        at = flat.reshape(size)
        scores = turned @ at
        scores -= scores.max(axis=1, keepdims=True)
        right = float(scores[rows, own].sum())
        np.exp(scores, out=scores)
        sums = scores.sum(axis=1)
        scores /= sums[:, None]
        scores[rows, own] -= 1
        weights = penalized @ at
        value = float(np.log(sums).sum()) - right + float((weights * weights).sum()) / 2
        return value / n, ((turned.T @ scores + penalized.T @ weights) / n).ravel()

    options = {"maxiter": _STEPS, "gtol": _GRADIENT, "ftol": 64 * np.finfo(np.float64).eps, "maxls": 50}
    found = minimize(loss, np.zeros(size).ravel(), jac=True, method="L-BFGS-B", options=options)
    weights = back @ found.x.reshape(size)
    return Softmax(labels, weights[:f], weights[f])
