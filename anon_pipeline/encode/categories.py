"""Perturb columns of categories: their noise, their codes, what is known of the noise before it is drawn.

Decision: docs/adr/0026-categories-with-noise.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.grids import epsilon_shares, quantize_columns
from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.perturb.category_law import (
    CategoryNoise,
    Domain,
    expected_distance,
    flat_domain,
    hierarchy_domain,
    keep_probabilities,
)
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.grid import from_grid
from anon_pipeline.perturb.keys import Words
from anon_pipeline.policy.columns import PerturbCategories
from anon_pipeline.policy.model import Policy


def _domain(name: str, column: PerturbCategories) -> Domain:
    if column.hierarchy is None:
        return flat_domain(column.domain)
    leaves = pd.Series(list(column.domain), name=name, dtype="str")
    return hierarchy_domain(code_column(leaves, column.hierarchy)[1])


def _noise(name: str, column: PerturbCategories, epsilon: Fraction) -> CategoryNoise:
    """Return what a column is released under; its shares in the order of the domain."""
    domain = _domain(name, column)
    by_value = dict(
        zip(column.domain, column.shares or (), strict=False)
    )  # the domain may be in another order
    shares = tuple(Fraction(str(by_value[value])) for value in domain.values) if by_value else ()
    return CategoryNoise(column.mechanism, epsilon, domain, shares)


def category_noises(policy: Policy) -> dict[str, CategoryNoise]:
    """Return what each column of categories is released under, in the policy's order."""
    shares = epsilon_shares(policy)[len(policy.perturbed) :]
    return {
        name: _noise(name, column, share)
        for (name, column), share in zip(policy.categorical.items(), shares, strict=True)
    }


def category_codes(frame: Table, policy: Policy) -> NDArray[np.int64]:
    """Return the columns of categories as codes of their domains, (n, c).

    Raises:
        InputError: values that are missing or not of the domain; by column and count.
    """
    columns, problems = [], []
    for name, noise in category_noises(policy).items():
        codes = pd.Index(noise.domain.values).get_indexer(pd.Index(frame[name].astype(object)))
        outside = int((codes < 0).sum())
        if outside:
            problems.append(
                f"{name}: every value must be of the policy's domain, got {counted_records(outside)} with "
                "others"
            )
        columns.append(codes.astype(np.int64))
    if problems:
        raise InputError(problems)
    return np.stack(columns, axis=1) if columns else np.empty((len(frame), 0), np.int64)


def category_values(codes: NDArray[np.int64], policy: Policy) -> dict[str, pd.Series]:
    """Return codes (n, c) of the domains as columns of texts, by name."""
    return {
        name: pd.Series(pd.array(np.array(noise.domain.values, dtype=object)[codes[:, j]], dtype="str"))
        for j, (name, noise) in enumerate(category_noises(policy).items())
    }


def draw_category_columns(policy: Policy, originals: NDArray[np.int64], *, words: Words) -> NDArray[np.int64]:
    """Draw what is released in each column of categories, (n, c).

    Args:
        originals: (n, c) codes.
        words: of the n records; each column takes those of its number, after the columns with numbers.
    """
    columns = [
        draw_categories(noise, originals[:, j], entropy=words.of_column(len(policy.perturbed) + j))
        for j, noise in enumerate(category_noises(policy).values())
    ]
    return np.stack(columns, axis=1) if columns else originals


def noisy_units(frame: Table, policy: Policy) -> NDArray[np.int64]:
    """Return all perturb columns in the order of `Policy.noisy`: grid units, then codes, (n, p + c).

    Raises:
        InputError: values that do not fit their grid or their domain; by column and count.
    """
    return np.hstack((quantize_columns(frame, policy), category_codes(frame, policy)))


def noisy_columns(values: NDArray[np.int64], policy: Policy) -> dict[str, Any]:
    """Return all perturb columns as they are released, by name, from what `noisy_units` makes of them.

    Args:
        values: (n, p + c) grid units, then codes.
    """
    numbers = {
        name: from_grid(values[:, j], column.resolution)
        for j, (name, column) in enumerate(policy.perturbed.items())
    }
    return numbers | category_values(values[:, len(numbers) :], policy)


def category_facts(policy: Policy) -> dict[str, dict[str, Any]]:
    """Describe the noise of every column of categories; nothing of it is from the data.

    Returns:
        Per column: its mechanism, ε, how many values its domain has; the smallest and the largest
        probability, over these, that a value is released as it is, and the mean of their expected distances.
    """
    return {
        name: {
            "mechanism": noise.mechanism,
            "epsilon": float(noise.epsilon),
            "values": len(noise.domain.values),
            "least_kept": _six(keep_probabilities(noise).min()),
            "most_kept": _six(keep_probabilities(noise).max()),
            "mean_distance": _six(expected_distance(noise).mean()),
        }
        for name, noise in category_noises(policy).items()
    }


def _six(number: float) -> float:
    """Round to six digits: the last ones depend on the machine."""
    return float(f"{number:.6g}")
