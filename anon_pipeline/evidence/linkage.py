"""Record linkage of a release with its originals: the files that are linked, and what is linked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.encode.grids import grid_units
from anon_pipeline.evidence.attackers import quasi_codes
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.comparison import MOST_PATTERNS, LinkageFiles, distance_levels, levels_of
from anon_pipeline.risk.linkage import (
    Rule,
    exact_linkage,
    probabilistic_linkage,
    rules_linkage,
    threshold_linkage,
)

ATTACKERS = 2_000
"""Largest number of simulated attackers."""

_LEVELS = 8  # of a perturb column's distances, where few columns are perturbed
_ROUNDING = 1 + 1e-12


def linkage_share(evidence: Evidence, policy: Policy, kind: str) -> float:
    """Return the share of the attackers that link their own record, in [0, 1].

    By levels of similarity many records are equally likely: for ``probabilistic`` a tie is worth its share.
    The other kinds count who has a single match.

    Each attacker knows the quasi-identifiers of one released person, generalized as in the release, and
    looks through all of it. Of more than `ATTACKERS` records, evenly many of the records in order of their
    values: the order of the rows does not matter.

    Args:
        policy: with ``gate.attacks.linkage``.
        kind: one of `LINKAGES`.
    Raises:
        InputError: this is a file alone, or there are too many columns to distinguish their combinations.
    """
    return LINKAGES[kind](evidence, policy)


def _exact(evidence: Evidence, policy: Policy) -> float:
    return exact_linkage(_by_column(evidence, policy)[0]).risk


def _threshold(evidence: Evidence, policy: Policy) -> float:
    files, ranges = _by_column(evidence, policy)
    return threshold_linkage(files, upper=policy.gate.attacks.linkage.similarity, ranges=ranges).risk


def _probabilistic(evidence: Evidence, policy: Policy) -> float:
    files = _by_class(evidence, policy)
    columns = max(files.numbers.shape[1], 1)
    levels = min(_LEVELS, max(2, int((MOST_PATTERNS // 2) ** (1 / columns))))
    return probabilistic_linkage(files, distance_levels(files, levels=levels)).attacker_success


def _attackers(evidence: Evidence, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose released records evenly, in order of what is released (codes, (r, q)) and known of them."""
    originals = require_originals(evidence)
    order = np.lexsort((*originals.grid[originals.own].T, *codes.T[::-1]))
    chosen = min(ATTACKERS, len(order))
    return order[np.arange(chosen) * len(order) // chosen]


def _by_column(evidence: Evidence, policy: Policy) -> tuple[LinkageFiles, NDArray[np.float64]]:
    """Return files with every quasi-identifier, and the range of each perturb column."""
    originals, codes = require_originals(evidence), quasi_codes(evidence, policy)
    some, codes = _attackers(evidence, codes), codes[:, : len(policy.generalized)]
    known, released = originals.grid[originals.own], grid_units(evidence.released, policy)
    return LinkageFiles(codes[some], codes, known[some], released, some), np.ptp(known, axis=0)


def _by_class(evidence: Evidence, policy: Policy) -> LinkageFiles:
    """Return files with the class and distances in class diameters: records of other classes never match."""
    originals, some = require_originals(evidence), _attackers(evidence, quasi_codes(evidence, policy))
    classes = evidence.classes
    known, released = originals.grid[originals.own], grid_units(evidence.released, policy)
    low = np.full((len(classes.sizes), known.shape[1]), np.inf)
    high = -low
    np.minimum.at(low, classes.labels, known)
    np.maximum.at(high, classes.labels, known)
    scales = np.divide(1.0, high - low, out=np.zeros_like(low), where=high > low)[classes.labels]
    labels = classes.labels[:, None]
    return LinkageFiles(labels[some], labels, known[some] * scales[some], released * scales, some)


def _rules(evidence: Evidence, policy: Policy) -> float:
    """Link by the policy's rules: similarities of numbers become distances."""
    files, ranges = _by_column(evidence, policy)
    limits, cuts = policy.gate.attacks.linkage, []
    for name, span in zip(policy.perturbed, ranges.tolist(), strict=True):
        least = {rule[name] for rule in limits.match if name in rule}
        cuts.append(np.unique([(1 - each) * span * _ROUNDING for each in least]))
    names = [*policy.generalized, *policy.perturbed]
    spans = dict(zip(policy.perturbed, zip(cuts, ranges.tolist(), strict=True), strict=True))
    rules = [Rule("match", _test(rule, names, spans)) for rule in limits.match]
    return rules_linkage(files, levels_of(files, tuple(cuts)), rules).risk


def _test(
    rule: Mapping[str, float], names: list[str], spans: Mapping[str, tuple[NDArray[np.float64], float]]
) -> Callable[[NDArray[np.int64]], NDArray[np.bool_]]:
    """Return whether every column of a rule is similar enough, as a function of the levels."""
    most = {}
    for name, least in rule.items():
        if name in spans:
            cuts, span = spans[name]
            most[names.index(name)] = int(np.searchsorted(cuts, (1 - least) * span * _ROUNDING))
        else:
            most[names.index(name)] = 0 if least > 0 else 1
    return lambda levels: np.all([levels[:, at] <= level for at, level in most.items()], axis=0)


LINKAGES: Mapping[str, Callable[[Evidence, Policy], float]] = {
    "exact": _exact,
    "threshold": _threshold,
    "rules": _rules,
    "probabilistic": _probabilistic,
}
"""Attackers that compare all records: field of ``gate.attacks.linkage`` → the share that each one links."""
