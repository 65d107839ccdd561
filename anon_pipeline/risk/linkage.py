"""Record linkage by the curator, who knows the truth: exact, by threshold, rules, probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.risk.comparison import Levels, LinkageFiles, columns_of, count_similar
from anon_pipeline.risk.pattern_counts import PatternCounts, pattern_counts

_TOLERANCE = 1e-12  # of a mean of similarities, which is a sum of floats
_DIFFERENT, _POTENTIAL, _MATCH = 0, 1, 2


@dataclass(frozen=True, slots=True)
class PairLinkage:
    """What becomes of the pairs of attackers and released records.

    attackers: a, each looks for the one record that is its own.
    matches, right: pairs called a match; those of them that are.
    potentials, open: pairs called a potential match; those of them that are a match.
    linked: attackers whose only match is right.
    risk: linked / attackers, in [0, 1].
    attacker_success: expected share that is right when each attacker picks one of its matches, in [0, 1].
    """

    attackers: int
    matches: int
    right: int
    potentials: int
    open: int
    linked: int
    risk: float
    attacker_success: float


@dataclass(frozen=True, slots=True)
class ProbabilisticLinkage:
    """What attackers link by the agreement ratio R = m/u, with m and u from the known truth.

    linked: attackers whose own record has the highest ratio of all; ties count.
    risk: linked / attackers, in [0, 1].
    attacker_success: the same with a tie worth 1/(records with that ratio), in [0, 1].
    pairs: the pairs classified by the rule of Fellegi and Sunter.
    """

    linked: int
    risk: float
    attacker_success: float
    pairs: PairLinkage


@dataclass(frozen=True, slots=True)
class Rule:
    """P → C: what a pair is where a formula of its similarity levels holds.

    outcome: C.
    holds: P; from levels (patterns, attributes), codes first, 0 the most similar, to (patterns,) of bool.
    """

    outcome: Literal["match", "potential", "different"]
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]] = field(repr=False)


def exact_linkage(files: LinkageFiles) -> PairLinkage:
    """Match what is equal in all attributes.

    Args:
        files: what is known, and what is released.
    Returns:
        The pairs; the order of records does not matter.
    Source:
        [DB 4], the most basic approach: a match is linked if it is the only one.
    """
    a = len(files.own)
    ids = np.zeros(a + len(files.codes), np.int64)
    pairs = (
        *zip(files.known_codes.T, files.codes.T, strict=True),
        *zip(files.known_numbers.T, files.numbers.T, strict=True),
    )
    for known, given in pairs:
        values = np.unique(np.concatenate((known, given)), return_inverse=True)[1]
        ids = np.unique(ids * (int(values.max()) + 1) + values, return_inverse=True)[1].astype(np.int64)
    matches = np.bincount(ids[a:], minlength=int(ids.max()) + 1)[ids[:a]]
    return _link(matches, ids[a:][files.own] == ids[:a])


def threshold_linkage(
    files: LinkageFiles,
    *,
    upper: float,
    lower: float | None = None,
    ranges: NDArray[np.float64] | None = None,
) -> PairLinkage:
    """Match what is similar enough: sim ≥ upper; a potential match where lower ≤ sim < upper.

    Similarity is the mean over the attributes: codes 1 if equal, else 0; numbers max(0, 1 − distance/range).

    Args:
        upper: t_u, in (0, 1].
        lower: t_d ≤ ``upper``; default: ``upper``, so that nothing is potential.
        ranges: (p,) distance at which numbers are not similar at all; default: that between the
            largest and smallest known. Where it is 0, only equal numbers are similar.
    Raises:
        ValueError: thresholds out of order, or a negative range.
    Source:
        [DB 4.1].
    """
    least = upper if lower is None else lower
    if not 0 < least <= upper <= 1:
        raise ValueError(f"thresholds must keep 0 < lower ≤ upper ≤ 1, got {least} and {upper}.")
    spans = np.ptp(files.known_numbers, axis=0) if ranges is None else np.asarray(ranges, np.float64)
    if bool((spans < 0).any()):
        raise ValueError("ranges must be ≥ 0, got a negative one.")
    spans = np.where(spans > 0, spans, np.finfo(np.float64).tiny)
    bounds = upper - _TOLERANCE, least - _TOLERANCE
    counts, mine = count_similar(columns_of(files), spans, bounds)
    potential = (mine >= bounds[1]) & (mine < bounds[0])
    return _link(counts[:, 0], mine >= bounds[0], counts[:, 1] - counts[:, 0], potential)


def rules_linkage(files: LinkageFiles, levels: Levels, rules: Sequence[Rule]) -> PairLinkage:
    """Classify pairs by rules; the first one that holds decides, and where none does they are different.

    Args:
        levels: how similarity becomes levels.
        rules: in order.
    Source:
        [DB 4.2].
    """
    names = {"different": _DIFFERENT, "potential": _POTENTIAL, "match": _MATCH}
    table, outcomes = levels.table(), np.full(levels.patterns, _DIFFERENT, np.int64)
    for rule in reversed(rules):
        outcomes[rule.holds(table)] = names[rule.outcome]
    return _classify(pattern_counts(files, levels), outcomes)


def _classify(compared: PatternCounts, outcomes: NDArray[np.int64]) -> PairLinkage:
    counts, own = compared.by_outcome(outcomes), outcomes[compared.mine]
    return _link(counts[:, _MATCH], own == _MATCH, counts[:, _POTENTIAL], own == _POTENTIAL)


def probabilistic_linkage(
    files: LinkageFiles, levels: Levels, *, false_matches: float = 1e-4, missed: float = 0.05
) -> ProbabilisticLinkage:
    """Link by the agreement ratio of each pair's similarity levels, with the true m and u: the worst case.

    m(γ) and u(γ) are the shares of the true and of all other pairs with the pattern γ of levels: of whole
    patterns, so that no independence of attributes is assumed, and from the truth that only the curator has.
    An attacker who estimates them does worse. Every pair is compared, nothing is blocked.

    Args:
        levels: how similarity becomes levels; from `distance_levels`, say.
        false_matches: μ, largest share of the other pairs that is called a match.
        missed: λ, largest share of the true pairs that is called different.
    Returns:
        Whom the attackers link; the order of records does not matter.
    Source:
        Fellegi and Sunter (1969); [DB 4.3].
    """
    compared = pattern_counts(files, levels)
    total, mine = compared.total, compared.mine
    true = np.bincount(mine, minlength=levels.patterns).astype(np.int64)
    other = total - true
    with np.errstate(divide="ignore"):
        ratios = np.divide(true, other, out=np.zeros(len(true)), where=true > 0)
    ranks = np.unique(ratios, return_inverse=True)[1].astype(np.int64)
    best = compared.best(ranks)
    hit = ranks[mine] == best[:, 0]
    success = math.fsum((hit / best[:, 1]).tolist()) / len(mine)
    outcomes = _optimal_rule(ranks, true, other, (false_matches, missed))
    linked = int(np.count_nonzero(hit))
    pairs = _classify(compared, outcomes)
    return ProbabilisticLinkage(linked, linked / len(mine), success, pairs)


def _optimal_rule(
    ranks: NDArray[np.int64], true: NDArray[np.int64], other: NDArray[np.int64], errors: tuple[float, float]
) -> NDArray[np.int64]:
    """Return the outcome of each pattern: thresholds on the ratio, as wide as the two errors allow."""
    of_rank = int(ranks.max()) + 1
    m = np.bincount(ranks, weights=true, minlength=of_rank)
    u = np.bincount(ranks, weights=other, minlength=of_rank)
    above = np.cumsum(u[::-1])[::-1]  # of the other pairs, those that this rank and higher ones would match
    match = above <= errors[0] * max(float(u.sum()), 1.0)
    different = np.cumsum(m) <= errors[1] * float(m.sum())
    return np.where(match, _MATCH, np.where(different, _DIFFERENT, _POTENTIAL)).astype(np.int64)[ranks]


def _link(
    matches: NDArray[np.int64],
    right: NDArray[np.bool_],
    potentials: NDArray[np.int64] | None = None,
    possible: NDArray[np.bool_] | None = None,
) -> PairLinkage:
    """Add up each attacker's matches, whether the own one is among them, and the same of potential ones."""
    linked = int(np.count_nonzero(right & (matches == 1)))
    success = math.fsum((1 / matches[right]).tolist()) / len(matches)
    return PairLinkage(
        attackers=len(matches),
        matches=int(matches.sum()),
        right=int(np.count_nonzero(right)),
        potentials=0 if potentials is None else int(potentials.sum()),
        open=0 if possible is None else int(np.count_nonzero(possible)),
        linked=linked,
        risk=linked / len(matches),
        attacker_success=success,
    )
