"""The table of recoders: algorithms that choose how quasi-identifiers are generalized.

A recoder of a family that exists is one entry here and its algorithm; a new family is one more entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import (
    FULL_DOMAIN,
    GIVEN,
    LOCAL,
    MICROAGGREGATION,
    MONDRIAN,
    SUBTREE,
    Family,
    Fit,
    Recoder,
)
from anon_pipeline.catalog.plugins import table_of

_FULL, _MICRO = "anon_pipeline.recode.fulldomain", "anon_pipeline.recode.microaggregation"


def _one_numeric(fit: Fit) -> str | None:
    if (fit.generalized, fit.numeric) == (1, 1):
        return None
    return (
        "needs one generalize column alone, with numbers, intervals, dates or order, got "
        f"{fit.numeric} such and {fit.generalized - fit.numeric} others"
    )


def _one_ordered(fit: Fit) -> str | None:
    if fit.ordered_limits == 1:
        return None
    return (
        "needs one sensitive column with distance: ordered and a limit in t_closeness, got "
        f"{fit.ordered_limits}"
    )


def _full(
    name: str, algorithm: str, words: str, *, prefers: bool = False, options: frozenset[str] = frozenset()
) -> Recoder:
    place = f"{_FULL}.{algorithm}"
    return Recoder(name, words, FULL_DOMAIN, place, prefers=prefers, needs_levels=True, options=options)


def _fronts(name: str, algorithm: str, words: str) -> Recoder:
    return Recoder(name, words, SUBTREE, f"anon_pipeline.recode.subtree.{algorithm}", needs_levels=True)


def _cuts(name: str, algorithm: str, words: str, *, by_order: bool = False) -> Recoder:
    place = f"anon_pipeline.recode.mondrian.division:{algorithm}"
    return Recoder(name, words, MONDRIAN, place, by_order=by_order)


def _micro(name: str, algorithm: str, words: str, *, keeps_limits: bool = False, **more: object) -> Recoder:
    place = f"{_MICRO}.algorithms:{algorithm}"
    known = {"by_order": True, "keeps_limits": keeps_limits, "of_people": keeps_limits}
    return Recoder(name, words, MICROAGGREGATION, place, **known, **more)  # type: ignore[arg-type]


_ALL = (
    _full(
        "ola",
        "algorithms:ola_node",
        "the node with the least loss, among the minimal nodes of the lattice",
        prefers=True,
    ),
    _full("optimal", "algorithms:optimal_node", "the node with the least loss, among all nodes"),
    _full(
        "incognito",
        "algorithms:incognito_node",
        "a minimal node, found by subsets of the columns",
        prefers=True,
    ),
    _full("samarati", "algorithms:samarati_node", "a node of the least height", prefers=True),
    _full("datafly", "algorithms:datafly_node", "one path up the lattice, the column with most values first"),
    _full("mingen", "algorithms:mingen_node", "the preferred node, among all nodes", prefers=True),
    _full(
        "fixed",
        "algorithms:fixed_node",
        "the levels that the policy names (levels), whatever they lose",
        options=frozenset({"levels"}),
    ),
    _fronts(
        "top_down",
        "top_down:top_down",
        "everything is hidden at first, then values are shown that gain most",
    ),
    _fronts("annealing", "annealing:anneal", "the better of top_down and optimal, improved by random steps"),
    _fronts("genetic", "genetic:evolve", "random fronts, crossed and changed for many generations"),
    _fronts(
        "k_optimize",
        "k_optimize:k_optimize",
        "values on several levels that lose least, if branch and bound ends within 2,500 states",
    ),
    _cuts("mondrian", "mondrian_entries", "ranges by cutting the table in halves, suppressing nothing"),
    _cuts(
        "mondrian_relaxed",
        "mondrian_relaxed_entries",
        "the same, cutting through equal values, too",
        by_order=True,
    ),
    Recoder(
        "local",
        "ranges of clusters that grow by what widens them least, and are merged until they keep t and l",
        LOCAL,
        f"{_MICRO}.algorithms:local_clusters",
        by_order=True,
        keeps_limits=True,
    ),
    Recoder(
        "forest",
        "ranges of clusters of nearest records, which lose at most 3k - 3 times the least possible",
        LOCAL,
        f"{_MICRO}.algorithms:forest_clusters",
        by_order=True,
        keeps_limits=True,
    ),
    Recoder(
        "given",
        "ranges of given classes: records with equal values in a column of the source (classes)",
        GIVEN,
        "anon_pipeline.recode.given_classes:given_classes",
        options=frozenset({"classes"}),
    ),
    _micro("mdav", "mdav_clusters", "means of k records or a few more"),
    _micro(
        "vmdav",
        "vmdav_clusters",
        "the same, with larger clusters where records are close (gamma)",
        options=frozenset({"gamma"}),
    ),
    _micro("k_member", "k_member_clusters", "means of clusters that grow by what widens their ranges least"),
    _micro(
        "one_pass",
        "one_pass_clusters",
        "means of n/k clusters that records join one by one, evened out to k records each",
    ),
    _micro(
        "univariate",
        "univariate_clusters",
        "means of one column, with the least error",
        needs_levels=True,
        misfit=_one_numeric,
    ),
    _micro(
        "merge",
        "merge_clusters",
        "means of clusters that are merged until they keep t and l",
        keeps_limits=True,
    ),
    _micro(
        "kanon_first",
        "kanon_first_clusters",
        "means of clusters that exchange records until they keep t and l",
        keeps_limits=True,
    ),
    _micro(
        "tclose_first",
        "tclose_first_clusters",
        "means of clusters that are made t-close",
        keeps_limits=True,
        misfit=_one_ordered,
    ),
)
RECODERS = table_of("recoders", Recoder, _ALL)


def _families() -> Mapping[str, Family]:
    """Return the families of all recoders; a plugin must not give another family a name that there is."""
    found: dict[str, Family] = {}
    for recoder in RECODERS.values():
        if found.setdefault(recoder.family.name, recoder.family) != recoder.family:
            raise PluginError(
                f"the recoder {recoder.name} must not replace the family {recoder.family.name}. Give its "
                "family another name."
            )
    return MappingProxyType(found)


FAMILIES = _families()
DEFAULT_RECODER = _ALL[0].name
OF_CELLS = "optimal"
"""The recoder that loses least where single cells are suppressed, as docs/comparing.md measures."""
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


def needs_records(recoder: Recoder) -> bool:
    """Tell whether a recoder needs the records in memory; to the others counts are enough."""
    return bool(recoder.family.runs) and (recoder.by_order or not recoder.family.chooses)


def names_where(holds: Callable[[Recoder], bool]) -> tuple[str, ...]:
    """Name the recoders with a trait, in the table's order."""
    return tuple(name for name, recoder in RECODERS.items() if holds(recoder))
