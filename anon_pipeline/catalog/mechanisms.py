"""The tables of noise mechanisms: of columns with numbers, and of columns with categories.

A new mechanism of numbers is its law, its sampler, and one entry here. Plugins add no mechanism of
categories, whose type therefore stands here and not in `entries`.
"""

from __future__ import annotations

from dataclasses import dataclass

from anon_pipeline.catalog.entries import Mechanism, Promise
from anon_pipeline.catalog.plugins import table_of


@dataclass(frozen=True, slots=True)
class CategoryMechanism:
    """A kind of noise for columns of categories.

    name: in the policy.
    released: what is released, for people.
    by_distance: whether near values are likelier than far ones; it then needs a hierarchy.
    by_shares: whether other values are drawn by shares that the policy names.
    most_epsilon: largest ε of a column.
    """

    name: str
    released: str
    by_distance: bool = False
    by_shares: bool = False
    most_epsilon: float = 1_000


_NUMBERS = (
    Mechanism("discrete_laplace", "discrete Laplace", "anon_pipeline.perturb.discrete_laplace_noise:LAW"),
    Mechanism(
        "staircase",
        "staircase",
        "anon_pipeline.perturb.staircase_noise:LAW",
        most_epsilon=10,  # its sampler tries again about exp(ε/2)/2 times
    ),
    Mechanism(
        "discrete_gaussian",
        "discrete Gaussian",
        "anon_pipeline.perturb.discrete_gaussian_noise:LAW",
        promises="epsilon and delta",
    ),
    Mechanism("uniform", "uniform", "anon_pipeline.perturb.uniform_noise:LAW", promises="nothing"),
)
_CATEGORIES = (
    CategoryMechanism(
        "randomized_response",
        "Released as a value of a public list, which is the person's own or any other at random (randomized "
        "response)",
    ),
    CategoryMechanism(
        "exponential",
        "Released as a random value of a public hierarchy, near ones likelier than far ones (exponential "
        "mechanism)",
        by_distance=True,
    ),
    CategoryMechanism(
        "pram",
        "Released as a value of a public list, which is the person's own or one drawn by public shares, so "
        "that these shares stay as they are on average (post-randomization)",
        by_shares=True,
    ),
)
CATEGORY_MECHANISMS = table_of("mechanisms", CategoryMechanism, _CATEGORIES)
MECHANISMS = table_of("mechanisms", Mechanism, _NUMBERS, taken=CATEGORY_MECHANISMS)
DEFAULT_MECHANISM = _NUMBERS[0].name


def mechanisms_with(*, promises: tuple[Promise, ...] = ("epsilon", "epsilon and delta")) -> str:
    """Name the mechanisms of numbers with one of these promises, for a message."""
    return ", ".join(name for name, one in MECHANISMS.items() if one.promises in promises)
