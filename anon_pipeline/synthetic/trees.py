"""Sequential trees: each column is drawn given those before it, from the leaf that a record falls into.

Within a leaf, values are drawn from the distribution of its records, see `marginals`.
Source: Reiter (2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.declared.domain_codes import code_of_otherwise
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.marginals import Marginal, marginal_of

Integers = NDArray[np.int64]

_MOST_FLAGS = 30  # categories that get a column of flags each; more are split by their order


def tree_records(
    policy: SyntheticPolicy, codes: Integers, weights: Integers, records: int, random: RandomNumbers
) -> Integers:
    """Return records drawn column by column, (records, columns) codes.

    Args:
        codes: (n, columns) see `domain_codes`.
        weights: (n,) how often each record counts; those that do not count are not looked at.
    """
    known = np.flatnonzero(weights > 0)
    rows, counts, columns = codes[known], weights[known], list(policy.columns.values())
    found = np.zeros((records, len(columns)), np.int64)
    rare = [_rare_values(column, codes[:, place], policy.rare_below) for place, column in enumerate(columns)]
    first = marginal_of(columns[0], rows[:, 0], counts, policy.least(columns[0]))
    found[:, 0] = first.draw(random.uniform(records))
    for place in range(1, len(columns)):
        column, before = columns[place], columns[:place]
        usable = np.flatnonzero(~np.isin(rows[:, place], rare[place]))
        if not len(usable):
            found[:, place] = code_of_otherwise(column)
            continue
        tree = _fitted_tree(column, policy.leaf_records, random)
        tree.fit(_features(before, rows[usable]), rows[usable, place], sample_weight=counts[usable])
        leaves = tree.apply(_features(before, rows[usable]))
        own = tree.apply(_features(before, found[:, :place]))
        found[:, place] = _draw_in_leaves(
            column, rows[usable, place], counts[usable], leaves, own, policy.k, random
        )
    return found


def _rare_values(column: DeclaredColumn, codes: Integers, k: int) -> Integers:
    """Return the categories that fewer than k records have."""
    if column.values is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(np.bincount(codes, minlength=column.size) < k)


def _fitted_tree(column: DeclaredColumn, leaf: int, random: RandomNumbers) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: PLC0415 - slow to import

    kind = DecisionTreeRegressor if column.values is None else DecisionTreeClassifier
    return kind(min_samples_leaf=leaf, random_state=int(random.below(np.array([2**31]))[0]))


def _features(columns: list[DeclaredColumn], codes: Integers) -> NDArray[np.float32]:
    """Return what a tree splits by: numbers, and a flag for each category of a column with few."""
    parts = []
    for place, column in enumerate(columns):
        if column.values is not None and column.size <= _MOST_FLAGS:
            parts.append(np.eye(column.size, dtype=np.float32)[codes[:, place]])
        else:
            parts.append(codes[:, place : place + 1].astype(np.float32))
    return np.concatenate(parts, axis=1)


def _draw_in_leaves(  # noqa: PLR0913, PLR0917 - records of the data by leaf, and those that are drawn
    column: DeclaredColumn,
    codes: Integers,
    counts: Integers,
    leaves: Integers,
    own: Integers,
    k: int,
    random: RandomNumbers,
) -> Integers:
    """Return a value for each record that is drawn, (r,), from the distribution of its leaf."""
    found, places = np.zeros(len(own), np.int64), random.uniform(len(own))
    members, drawn = _by_leaf(leaves), _by_leaf(own)
    for leaf, wanted in drawn.items():
        rows = members[leaf]
        found[wanted] = _within_leaf(column, codes[rows], counts[rows], k).draw(places[wanted])
    return found


def _within_leaf(column: DeclaredColumn, codes: Integers, counts: Integers, k: int) -> Marginal:
    """Return the distribution of a leaf; its categories are frequent enough in the whole table."""
    return marginal_of(column, codes, counts, k if column.values is None else 1)


def _by_leaf(leaves: Integers) -> dict[int, Integers]:
    order = np.argsort(leaves, kind="stable")
    found, starts = np.unique(leaves[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=True))
