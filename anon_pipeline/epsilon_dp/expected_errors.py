"""How much error the noise of a policy is expected to cause: closed forms of policy and number of records.

The number of records is public. Nothing here looks at data: it can be asked before ε is spent, and published.
"""

from __future__ import annotations

import math
from fractions import Fraction

from anon_pipeline.epsilon_dp.histograms import SENSITIVITY
from anon_pipeline.epsilon_dp.noisy_means import column_shares
from anon_pipeline.epsilon_dp.record_groups import group_sizes
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.discrete_laplace_law import mean_absolute
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy


def expected_errors(policy: EpsilonDpPolicy, records: int) -> dict[str, float]:
    """Return the expected error of each table of counts, or of each column, in [0, 1].

    * A table of counts: half of the mean absolute noise of all cells, as a share of the records. So many are
      counted in a wrong cell, at most on average; noise below zero is cut off, which is not considered.
    * A column of noisy means: the mean absolute noise of one mean, as a share of the column's range, before
      it is moved into the range. What the means themselves lose is not in it: this depends on the data.
    * Categories of groups: a bound on how many records fewer of a group have the chosen value than have the
      most frequent one, as a share of the group [Dwork and Roth (2014), Theorem 3.11].

    Args:
        records: of the release, ≥ 1.
    """
    epsilon = exact_fraction(policy.epsilon)
    if policy.histograms is not None:
        share = epsilon / len(policy.tables)
        return {
            ", ".join(table): _count_error(policy.cells(table), records, share) for table in policy.tables
        }
    shares = column_shares(policy, epsilon)
    return {
        name: _column_error(policy, column, records, share)
        for (name, column), share in zip(policy.columns.items(), shares, strict=True)
    }


def _count_error(cells: int, records: int, epsilon: Fraction) -> float:
    return min(1.0, cells * float(mean_absolute(float(SENSITIVITY / epsilon))) / (2 * records))


def _column_error(policy: EpsilonDpPolicy, column: DeclaredColumn, records: int, epsilon: Fraction) -> float:
    grouped, ranked = policy.group_means, policy.column_means
    if grouped is None:
        if column.values is not None or ranked is None:
            return _count_error(column.size, records, epsilon)
        return _mean_error(column, min(ranked.k, records), 1, epsilon)
    many, size = len(group_sizes(records, grouped.k)), min(grouped.k, records)
    if column.values is None:
        return _mean_error(column, size, many, epsilon)
    return min(1.0, 2 * many / float(epsilon) * (1 + math.log(column.size)) / size)


def _mean_error(column: DeclaredColumn, size: int, times: int, epsilon: Fraction) -> float:
    noise = float(mean_absolute(float(times * column.steps / epsilon)))
    return min(1.0, noise / (size * column.steps))
