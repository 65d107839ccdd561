"""Perturb columns of categories: their noise, their codes, what is known of the noise before it is drawn.

Decision: docs/adr/0026-categories-with-noise.md.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from anon_pipeline.perturb.budget import exact_fraction
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
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.whole_column.change import change_columns
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


def category_domains(policy: Policy) -> dict[str, Domain]:
    """Return the domain of each column of categories, drawn or changed as a whole, in the policy's order."""
    return {name: _domain(name, column) for name, column in policy.categorical.items()}


def category_noises(policy: Policy) -> dict[str, CategoryNoise]:
    """Return what each column of drawn categories is released under, in the policy's order."""
    shares = epsilon_shares(policy)[len(policy.perturbed) :]
    return {
        name: _noise(name, column, share)
        for (name, column), share in zip(policy.categorical.items(), shares, strict=True)
        if not column.whole_column
    }


def category_changes(policy: Policy) -> dict[str, Noise]:
    """Return what each column of categories is changed by that is changed as a whole, in its order."""
    return {
        name: Noise(
            column.mechanism,
            Fraction(0),
            amount=None if column.amount is None else exact_fraction(column.amount),
            together=column.together,
        )
        for name, column in policy.changed_categories.items()
    }


def changed_places(policy: Policy) -> list[int]:
    """Return which columns of categories are changed as a whole, by their places among all of categories."""
    return [at for at, column in enumerate(policy.categorical.values()) if column.whole_column]


def category_codes(frame: Table, policy: Policy) -> NDArray[np.int64]:
    """Return the columns of categories as codes of their domains, (n, c).

    Raises:
        InputError: values that are missing or not of the domain; by column and count.
    """
    columns, problems = [], []
    for name, domain in category_domains(policy).items():
        codes = pd.Index(domain.values).get_indexer(pd.Index(frame[name].astype(object)))
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
        name: pd.Series(pd.array(np.array(domain.values, dtype=object)[codes[:, j]], dtype="str"))
        for j, (name, domain) in enumerate(category_domains(policy).items())
    }


def draw_category_columns(
    policy: Policy, originals: NDArray[np.int64], labels: NDArray[np.int64], *, words: Words
) -> NDArray[np.int64]:
    """Draw what is released in each column of categories, or change it as a whole, (n, c).

    Args:
        originals: (n, c) codes.
        labels: (n,) class of each record, 0 … m−1.
        words: of the n records; each column takes those of its number, after the columns with numbers.
    """
    found, place_of = originals.copy(), dict(zip(policy.noisy, range(len(policy.noisy)), strict=True))
    first = len(policy.perturbed)
    for name, noise in category_noises(policy).items():
        place = place_of[name]
        found[:, place - first] = draw_categories(
            noise, originals[:, place - first], entropy=words.of_column(place)
        )
    places: Sequence[int] = changed_places(policy)
    changed = change_columns(
        originals[:, places],
        labels,
        noises=[*category_changes(policy).values()],
        words=words,
        numbers=[first + place for place in places],
    )
    for at, values in changed.items():
        found[:, places[at]] = values
    return found


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
    """Describe what happens to every column of categories; nothing of it is from the data.

    Returns:
        Per drawn column: its mechanism, ε, how many values its domain has; the smallest and the largest
        probability, over these, that a value is released as it is, and the mean of their expected distances.
        Of one that is changed as a whole: its mechanism, amount, and how many values its domain has.
    """
    drawn = {
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
    changed = {
        name: {"mechanism": column.mechanism, "amount": column.amount, "values": len(column.domain)}
        for name, column in policy.changed_categories.items()
    }
    return {name: drawn.get(name) or changed[name] for name in policy.categorical}


def _six(number: float) -> float:
    """Round to six digits: the last ones depend on the machine."""
    return float(f"{number:.6g}")
