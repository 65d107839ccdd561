"""The table of recoders: algorithms that choose how quasi-identifiers are generalized.

A recoder of a family that exists is one entry here and its algorithm; a new family is one more entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal


@dataclass(frozen=True, slots=True)
class Fit:
    """What a recoder may need to know of a policy's columns.

    generalized: columns with the role generalize.
    numeric: those of them with intervals, numbers, dates or order.
    ordered_limits: sensitive columns with distance: ordered and a limit in t_closeness.
    """

    generalized: int
    numeric: int
    ordered_limits: int


@dataclass(frozen=True, slots=True)
class Family:
    """Recoders that release values of one form.

    runs: place of the function that recodes a table by one of them.
    releases: ``levels`` of a hierarchy, one for a whole column; ``ranges`` of values, by class; ``means`` of
        the values of a class, which do not say which values they stand for.
    cells: whether single cells can be suppressed instead of whole records.
    """

    name: str
    runs: str
    releases: Literal["levels", "ranges", "means"]
    cells: bool = False


@dataclass(frozen=True, slots=True)
class Recoder:
    """One algorithm.

    algorithm: place of the function that the family calls for it.
    prefers: whether it chooses between several nodes, by ``anonymize.prefer``.
    needs_levels: whether every generalize column must have a hierarchy.
    by_order: whether it may part records with equal quasi-identifiers, by the order of the table.
    keeps_limits: whether it makes classes larger until they keep t and l, instead of suppressing them.
    options: keys of ``anonymize`` that are for this recoder alone.
    misfit: what is wrong with a policy's columns; None: nothing.
    """

    name: str
    family: Family
    algorithm: str
    prefers: bool = False
    needs_levels: bool = False
    by_order: bool = False
    keeps_limits: bool = False
    options: frozenset[str] = frozenset()
    misfit: Callable[[Fit], str | None] = lambda fit: None


_FULL, _MICRO = "anon_pipeline.recode.fulldomain", "anon_pipeline.recode.microaggregation"
_FULL_DOMAIN = Family("full_domain", f"{_FULL}.recoding:full_domain", "levels", cells=True)
_MONDRIAN = Family("mondrian", "anon_pipeline.recode.mondrian.mondrian:mondrian", "ranges")
_MICROAGGREGATION = Family("microaggregation", f"{_MICRO}.microaggregation:microaggregation", "means")


def _one_numeric(fit: Fit) -> str | None:
    if (fit.generalized, fit.numeric) == (1, 1):
        return None
    return (
        "univariate needs one generalize column alone, with numbers, intervals, dates or order, got "
        f"{fit.numeric} such and {fit.generalized - fit.numeric} others. These fit: mdav, vmdav, merge, "
        "kanon_first."
    )


def _one_ordered(fit: Fit) -> str | None:
    if fit.ordered_limits == 1:
        return None
    return (
        "tclose_first needs one sensitive column with distance: ordered and a limit in t_closeness, got "
        f"{fit.ordered_limits}. These fit any limits: merge, kanon_first."
    )


def _full(name: str, algorithm: str, *, prefers: bool = False) -> Recoder:
    return Recoder(name, _FULL_DOMAIN, f"{_FULL}.{algorithm}", prefers=prefers, needs_levels=True)


def _cuts(name: str, algorithm: str, *, by_order: bool = False) -> Recoder:
    place = f"anon_pipeline.recode.mondrian.mondrian:{algorithm}"
    return Recoder(name, _MONDRIAN, place, by_order=by_order)


def _micro(name: str, algorithm: str, *, keeps_limits: bool = False, **more: object) -> Recoder:
    place = f"{_MICRO}.algorithms:{algorithm}"
    return Recoder(name, _MICROAGGREGATION, place, by_order=True, keeps_limits=keeps_limits, **more)  # type: ignore[arg-type]


_ALL = (
    _full("ola", "algorithms:ola_node", prefers=True),
    _full("optimal", "algorithms:optimal_node"),
    _full("incognito", "algorithms:incognito_node", prefers=True),
    _full("samarati", "algorithms:samarati_node", prefers=True),
    _full("datafly", "algorithms:datafly_node"),
    _full("mingen", "algorithms:mingen_node", prefers=True),
    _cuts("mondrian", "strict_entries"),
    _cuts("mondrian_relaxed", "relaxed_entries", by_order=True),
    _micro("mdav", "mdav_clusters"),
    _micro("vmdav", "vmdav_clusters", options=frozenset({"gamma"})),
    _micro("univariate", "univariate_clusters", needs_levels=True, misfit=_one_numeric),
    _micro("merge", "merge_clusters", keeps_limits=True),
    _micro("kanon_first", "kanon_first_clusters", keeps_limits=True),
    _micro("tclose_first", "tclose_first_clusters", keeps_limits=True, misfit=_one_ordered),
)
RECODERS: Mapping[str, Recoder] = MappingProxyType({recoder.name: recoder for recoder in _ALL})
FAMILIES: Mapping[str, Family] = MappingProxyType({recoder.family.name: recoder.family for recoder in _ALL})
DEFAULT_RECODER = _ALL[0].name
PREFERENCES = (
    "loss",
    "least_absolute_distance",
    "least_relative_distance",
    "most_distinct_tuples",
    "least_suppression",
)
"""How a recoder that prefers chooses between nodes."""


def recoder_of(name: str) -> Recoder:
    """Return a recoder.

    Raises:
        KeyError: there is none of this name.
    """
    return RECODERS[name]


def names_where(holds: Callable[[Recoder], bool]) -> tuple[str, ...]:
    """Name the recoders with a trait, in the table's order."""
    return tuple(name for name, recoder in RECODERS.items() if holds(recoder))
