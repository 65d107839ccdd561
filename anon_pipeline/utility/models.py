"""Regressions: can a model distinguish release and input, and does it predict as well from the release?

Both fit scikit-learn's logistic regression, L2 with C = 1, to `features`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.threads import side_by_side
from anon_pipeline.utility.features import features
from anon_pipeline.utility.records import Table

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


MOST_RECORDS = 100_000
"""Of more, every so many-th is taken, in the order of `Table.in_order`."""

MOST_LABELS = 64
"""A target with more is not one to be classified by."""

_NEWTON = 300  # weights up to which solving for all of them at once is faster than conjugate gradients
_CONSTANT = 1e-9  # of a column's mean: a smaller deviation is rounding
_STEPS = 1000  # Newton's conjugate gradients need some twenty, whatever the release


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Share of held-out input records whose label is predicted.

    original: by a classifier trained on the input.
    release: by one trained on the release of the same records; None if none of them is released.
    majority: by always saying the label most frequent in training.
    tested: records held out, a third of the input.
    """

    original: float
    release: float | None
    majority: float
    tested: int


def _thin(table: Table) -> Table:
    """Take evenly spaced records of a table that is too large."""
    step = math.ceil(len(table.kept) / MOST_RECORDS)
    return table if step <= 1 else table.take_rows(np.arange(0, len(table.kept), step))


def _fit(x: NDArray[np.floating], y: NDArray[np.integer]) -> LogisticRegression:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - takes most of a second

    labels = len(np.unique(y))
    weights = (x.shape[1] + 1) * (labels if labels > 2 else 1)
    solver = "newton-cholesky" if weights <= _NEWTON else "newton-cg"
    return LogisticRegression(max_iter=_STEPS, solver=solver).fit(x, y)


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let each regression compute by itself: threads cost more than these matrices give.

    It is entered before regressions that run side by side, since it holds for the whole process.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - takes most of a second
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is then near enough
        yield


def propensity_score(table: Table) -> float | None:
    """Compute pMSE: how well a logistic regression distinguishes released records and input records.

    Args:
        table: in order (`Table.in_order`).
    Returns:
        The mean of (p̂ − c)² over both tables together, c the share of released records among them: 0 where
        nobody can distinguish them, at most c·(1 − c), which is ¼ for tables of equal size. None if nothing
        is released.
    Source:
        [DB 2.6], Woo et al. (2009); with c for ½ where records are suppressed, Snoke et al. (2018).
    """
    return propensity_of(*features(_thin(table)))


def propensity_of(before: NDArray[np.float64], after: NDArray[np.float64]) -> float | None:
    """Compute pMSE of two matrices of features, (n, f) and (r, f), as `propensity_score` does."""
    if not len(after):
        return None
    if not before.shape[1]:
        return 0.0  # all records are alike
    y = np.repeat([0, 1], [len(before), len(after)])
    x = np.concatenate([before, after])
    share = len(after) / len(y)
    with _single_threaded():
        scores = _fit(x, y).predict_proba(x)[:, 1]
    return math.fsum(((scores - share) ** 2).tolist()) / len(y)


def _predict(x: NDArray[np.float64], y: NDArray[np.int64], tested: NDArray[np.float64]) -> NDArray[np.int64]:
    """Train on ``x`` with the labels ``y``, and predict the labels of ``tested``.

    Both are scaled so that the columns of ``x`` have mean 0 and deviation 1. Noise makes the columns of a
    release several times as wide as those of its input: by the scale of the input, a regression on the
    release takes twice the time. Columns of a single value are left out: they teach nothing. Single precision
    takes half the time of double, and predicts fewer than one label in a hundred differently.
    """
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    used = deviation > _CONSTANT * (1 + np.abs(mean))
    if not used.any() or len(np.unique(y)) < 2:
        return np.full(len(tested), np.bincount(y).argmax())

    def scale(table: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the columns that vary, centered and scaled as in training."""
        return np.asfortranarray((table[:, used] - mean[used]) / deviation[used], dtype=np.float32)

    predicted: NDArray[np.int64] = _fit(scale(x), y).predict(scale(tested))
    return predicted


def classifier_accuracy(table: Table, target: str | None) -> Accuracy | None:
    """Compare a classifier trained on the release with one trained on the input, on input records of neither.

    Args:
        table: in order (`Table.in_order`): every third record is held out, the others train.
        target: a column of ``table.categories``.
    Returns:
        The accuracies; None without such a column, if it has more than 64 labels, or if the input has fewer
        than two records.
    Source:
        [methods 9.3]; Iyengar (2002).
    """
    if target is None or target not in table.categories:
        return None
    part = _thin(table)
    labels, n = part.categories[target], len(part.kept)
    if n < 2 or len(np.unique(labels)) > MOST_LABELS:
        return None
    held = np.arange(n) % 3 == 1
    before, after = features(part, without=target)
    trained, own = labels[~held], labels[held]

    def share(predicted: NDArray[np.int64]) -> float:
        """Return the share of the tested records that are predicted right."""
        return int((predicted == own).sum()) / len(own)

    released = ~held[part.kept]
    learned = labels[part.kept][released]
    fits = [partial(_predict, before[~held], trained, before[held])]
    if len(learned):
        fits.append(partial(_predict, after[released], learned, before[held]))
    with _single_threaded():
        original, *fitted = side_by_side(fits)
    return Accuracy(
        original=share(original),
        release=share(fitted[0]) if fitted else None,
        majority=share(np.full(len(own), np.bincount(trained).argmax())),
        tested=len(own),
    )
