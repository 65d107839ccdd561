"""Synthetic values in each class, with exactly the means and covariances of its members, but for rounding.

Normal numbers are drawn for a class, and transformed linearly until their means and covariances are those of
the class: with the recoding that makes the classes these are the hybrid data of microaggregation. Where a
class has no more members than columns, or its numbers are on a line, each column is transformed by itself:
variances stay, but not covariances.
Source: Domingo-Ferrer and González-Nicolás (2010), Hybrid microdata using microaggregation; [DB 3.3].
"""

from __future__ import annotations

import numpy as np

from anon_pipeline.perturb.whole_column.columns_to_change import Columns, Integers, Reals

_FLAT = 1e-9  # of the largest variance, below which numbers count as on a line


def draw_in_classes(columns: Columns) -> Integers:
    """Draw the values of all columns of each class, (n, q), rounded to the grid."""
    order = np.argsort(columns.labels, kind="stable")
    labels = columns.labels[order]
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    sizes = np.diff([*starts, len(order)])
    values = columns.values[order].astype(np.float64)
    random = np.stack([columns.normal(column) for column in range(values.shape[1])], axis=1)[order]
    means, centered = _center(values, starts, sizes)
    _, drawn = _center(random, starts, sizes)
    place = np.repeat(np.arange(len(sizes)), sizes)
    matrices = _transformations(_covariances(drawn, starts), _covariances(centered, starts))
    made = np.einsum("nq,nqp->np", drawn, matrices[place])
    found = np.empty_like(columns.values)
    found[order] = np.rint(means[place] + made).astype(np.int64)
    return found


def _center(values: Reals, starts: Integers, sizes: Integers) -> tuple[Reals, Reals]:
    """Return the means of classes, (m, q), and the values without them, (n, q)."""
    means = np.add.reduceat(values, starts, axis=0) / sizes[:, None]
    return means, values - np.repeat(means, sizes, axis=0)


def _covariances(centered: Reals, starts: Integers) -> Reals:
    """Return the sums of products of each class, (m, q, q)."""
    products = centered[:, :, None] * centered[:, None, :]
    found: Reals = np.add.reduceat(products, starts, axis=0)
    return found


def _transformations(drawn: Reals, wanted: Reals) -> Reals:
    """Return what gives drawn numbers the wanted sums of products, (m, q, q); else the wanted variances."""
    roots, axes = np.linalg.eigh(drawn)
    whole = roots[:, 0] > _FLAT * np.maximum(roots[:, -1], 1e-300)
    inverse = axes * np.where(whole[:, None], 1 / np.sqrt(np.maximum(roots, 1e-300)), 0.0)[:, None, :]
    values, vectors = np.linalg.eigh(wanted)
    square = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    together = inverse @ axes.transpose(0, 2, 1) @ square @ vectors.transpose(0, 2, 1)
    diagonal = np.sqrt(
        np.diagonal(wanted, axis1=1, axis2=2) / np.maximum(np.diagonal(drawn, axis1=1, axis2=2), 1e-300)
    )
    apart = np.eye(drawn.shape[1]) * np.where(np.isfinite(diagonal), diagonal, 0.0)[:, None, :]
    found: Reals = np.where(whole[:, None, None], together, apart)
    return found
