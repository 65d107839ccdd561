"""Slow twins of what mechanisms of whole columns share, number by number, with the same random words."""

from __future__ import annotations

import math
from statistics import NormalDist, fmean

from anon_pipeline.perturb.whole_column.columns_to_change import Columns


def words_of(columns: Columns, column: int, part: int = 0) -> list[int]:
    """Return the first random word of each record."""
    return [row[0] for row in columns.words[column].of_part(part).rows(slice(None), 1).tolist()]


def normal_numbers(columns: Columns, column: int) -> list[float]:
    """Return the normal number of each record, by inversion: of the middle of one of 2⁵³ equal intervals."""
    upper = [word % 2**64 // 2**11 for word in words_of(columns, column)]
    return [NormalDist().inv_cdf((bits + 0.5) / 2**53) for bits in upper]


def order_of(columns: Columns, column: int, part: int) -> list[int]:
    """Return the records by their values, equal ones by their random words."""
    values, words = columns.values[:, column].tolist(), words_of(columns, column, part)
    return sorted(range(len(values)), key=lambda record: (values[record], words[record]))


def triangle_of(matrix: list[list[float]]) -> list[list[float]]:
    """Return L with L·Lᵀ = matrix by the textbook's sums; of matrices with full rank."""
    found = [[0.0] * len(matrix) for _ in matrix]
    for i in range(len(matrix)):
        for j in range(i + 1):
            rest = matrix[i][j] - sum(found[i][t] * found[j][t] for t in range(j))
            found[i][j] = math.sqrt(rest) if i == j else rest / found[j][j]
    return found


def drawn_scores(columns: Columns) -> list[list[float]]:
    """Return the scores of each record: the mean of its class, and normal numbers with the common covariance.

    The score of an original is the normal quantile of (rank + ½)/n.
    """
    n, q = columns.values.shape
    labels, scores = columns.labels.tolist(), [[0.0] * q for _ in range(n)]
    for column in range(q):
        for rank, record in enumerate(order_of(columns, column, 1)):
            scores[record][column] = NormalDist().inv_cdf((rank + 0.5) / n)
    members = {own: [one for one in range(n) if labels[one] == own] for own in labels}
    means = [[fmean(scores[one][j] for one in members[own]) for j in range(q)] for own in labels]
    within = [[scores[one][j] - means[one][j] for j in range(q)] for one in range(n)]
    triangle = triangle_of([[sum(one[i] * one[j] for one in within) / n for j in range(q)] for i in range(q)])
    normal = [normal_numbers(columns, column) for column in range(q)]
    return [
        [means[one][j] + sum(triangle[j][t] * normal[t][one] for t in range(q)) for j in range(q)]
        for one in range(n)
    ]
