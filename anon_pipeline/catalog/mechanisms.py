"""The tables of noise mechanisms: of columns with numbers, and of columns with categories.

A new mechanism of numbers is its law, its sampler, and one entry here; one that changes whole columns is a
function and an entry. Plugins add no mechanism of
categories, whose type therefore stands here and not in `entries`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anon_pipeline.catalog.entries import Mechanism, Promise
from anon_pipeline.catalog.plugins import table_of
from anon_pipeline.catalog.whole_column import AmountKind, WholeColumn


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


_NEAREST = "anon_pipeline.perturb.whole_column.nearest_law:LAW"


def _whole_column(
    name: str, words: str, place: str, amount: AmountKind = "none", says: str = "", **traits: Any
) -> Mechanism:
    """Return a mechanism that changes whole columns, and promises nothing."""
    changed = WholeColumn(f"anon_pipeline.perturb.whole_column.{place}", amount, says, **traits)
    return Mechanism(name, words, _NEAREST, promises="nothing", whole_column=changed)


_WHOLE_COLUMNS = (
    _whole_column(
        "rank_swapping",
        "rank swapping",
        "rank_swapping:rank_swap",
        "share",
        "with a value whose rank differs by at most {} of the records",
        categories="ordered",
    ),
    _whole_column(
        "class_swapping",
        "swapping within classes",
        "class_swapping:swap_within_classes",
        keeps="Each of these columns has in every class exactly the values of the members who are released, "
        "in a random order: by itself it does not tell which member has which.",
        categories="any",
        joint=True,
    ),
    _whole_column(
        "individual_ranking",
        "individual ranking",
        "individual_ranking:average_ranks",
        "count",
        "means of {} consecutive values",
    ),
    _whole_column("rounding", "rounding", "value_rounding:round_values", "step", "to multiples of {}"),
    _whole_column(
        "multiplicative_noise",
        "multiplicative noise",
        "multiplicative_noise:multiply",
        "factor",
        "standard deviation {} of the logarithm of the factor",
    ),
    _whole_column(
        "correlated_noise",
        "correlated noise",
        "correlated_noise:add_correlated_noise",
        "factor",
        "variance of the noise {} times that of the column",
        together=True,
    ),
    _whole_column(
        "resampling", "resampling", "bootstrap_resampling:resample", "count", "means of {} samples"
    ),
    _whole_column("data_shuffling", "data shuffling", "data_shuffling:shuffle_data"),
    _whole_column("synthesis", "synthetic values of a model", "synthesis:draw_synthetic"),
    _whole_column(
        "class_synthesis",
        "synthetic values in each class",
        "class_synthesis:draw_in_classes",
        keeps="These columns are drawn at random so that in every class each has the mean and the variance "
        "of the members who are released, but for rounding.",
    ),
)
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
    *_WHOLE_COLUMNS,
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
NOISE_MECHANISMS = {name: one for name, one in MECHANISMS.items() if one.whole_column is None}
"""Those that draw noise for each value, and have a distribution."""
CATEGORY_CHANGES = {
    name: one
    for name, one in MECHANISMS.items()
    if one.whole_column is not None and one.whole_column.categories != "none"
}
"""Those that change columns of categories as a whole, as they do with numbers."""
DEFAULT_MECHANISM = _NUMBERS[0].name


def mechanisms_with(*, promises: tuple[Promise, ...] = ("epsilon", "epsilon and delta")) -> str:
    """Name the mechanisms of numbers with one of these promises, for a message."""
    return ", ".join(name for name, one in MECHANISMS.items() if one.promises in promises)


def amount_mechanisms() -> str:
    """Name the mechanisms of numbers that take an amount, for a message."""
    taking = [name for name, one in MECHANISMS.items() if one.whole_column is not None]
    return ", ".join(name for name in taking if amount_kind(name) != "none")


def joint_mechanisms() -> str:
    """Name the mechanisms that can let the values of several columns move together, for a message."""
    kinds = ((name, one.whole_column) for name, one in MECHANISMS.items())
    return ", ".join(name for name, changed in kinds if changed is not None and changed.joint)


def amount_kind(name: str) -> AmountKind:
    """Return what the amount of a mechanism of numbers is."""
    changed = MECHANISMS[name].whole_column
    return "none" if changed is None else changed.amount
