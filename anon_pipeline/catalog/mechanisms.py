"""The tables of noise mechanisms: of columns with numbers, and of columns with categories.

A new mechanism of numbers is its law, its sampler, and one entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Promise = Literal["epsilon", "epsilon and delta", "nothing"]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A kind of noise for columns of numbers.

    name: in the policy.
    words: for people.
    law: place of the module with its law, see `perturb.mechanisms.Law`.
    promises: what is promised of one row. What promises δ as well takes a share of ``perturb.delta``.
    most_epsilon: largest ε of a column, if there is one.
    """

    name: str
    words: str
    law: str
    promises: Promise = "epsilon"
    most_epsilon: float | None = None

    @property
    def needs_delta(self) -> bool:
        """Whether a column needs a δ."""
        return self.promises == "epsilon and delta"

    @property
    def counted(self) -> bool:
        """Whether a budget, which counts ε alone, says all that is spent."""
        return self.promises == "epsilon"


@dataclass(frozen=True, slots=True)
class CategoryMechanism:
    """A kind of noise for columns of categories.

    name: in the policy.
    released: what is released, for people.
    by_distance: whether near values are likelier than far ones; it then needs a hierarchy.
    most_epsilon: largest ε of a column.
    """

    name: str
    released: str
    by_distance: bool = False
    most_epsilon: float = 1_000


_NUMBERS = (
    Mechanism("discrete_laplace", "discrete Laplace", "anon_pipeline.perturb.laplace_noise:LAW"),
    Mechanism(
        "staircase",
        "staircase",
        "anon_pipeline.perturb.staircase_noise:LAW",
        most_epsilon=10,  # its sampler tries again about exp(ε/2)/2 times
    ),
    Mechanism(
        "discrete_gaussian",
        "discrete Gaussian",
        "anon_pipeline.perturb.gaussian_noise:LAW",
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
)
MECHANISMS: Mapping[str, Mechanism] = MappingProxyType({one.name: one for one in _NUMBERS})
CATEGORY_MECHANISMS: Mapping[str, CategoryMechanism] = MappingProxyType(
    {one.name: one for one in _CATEGORIES}
)
DEFAULT_MECHANISM = _NUMBERS[0].name


def fitting(*, promises: tuple[Promise, ...] = ("epsilon", "epsilon and delta")) -> str:
    """Name the mechanisms of numbers with one of these promises, for a message."""
    return ", ".join(name for name, one in MECHANISMS.items() if one.promises in promises)
