"""What attackers get right on average over the noise: no draw, and so nothing of the release, decides it.

The stages after the recoding run with noise of a fixed seed, which no release uses: noise,
confidence, classes below k, classes beyond t or l. Originals are put into an order of their values first, so
that neither their order nor the numbers of the classes change the result: it is a function of the recoded
table and the policy alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.order import rank_values
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.attackers import noise_law
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import (
    class_limits,
    compact_labels,
    exact_originals,
    linking_shares,
    require_originals,
    sorted_originals,
)
from anon_pipeline.evidence.simulated_releases import (
    SEED,
    DrawingTable,
    Drawn,
    Whole,
    all_released,
    drawing_table,
)
from anon_pipeline.evidence.spare import spare_records
from anon_pipeline.evidence.value_order import number_classes
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import cdf, radius, sensitivities
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.expected_linking import expected_linking_risk
from anon_pipeline.risk.linking import linking_table
from anon_pipeline.risk.strata import MOST, combined_ratio, draws_of, groups_of
from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.risk.survival import Outputs, expected_kept, fates, sort_line

__all__ = [
    "STANDARD_ERRORS",
    "DrawingTable",
    "Drawn",
    "Expectation",
    "Measure",
    "Whole",
    "best_of_means",
    "drawing_table",
    "expectation",
    "mean_linking_risk",
    "mean_of_shares",
]

STANDARD_ERRORS = 3
"""Standard errors above its mean that a simulated value is judged at."""
SIMULATED_RECORDS = 2**17
"""Records whose noise is drawn to measure a table, all draws together."""

_CLOSE = 0.01  # by which a bound may be too high
_WORK = 2.0**24  # steps that a bound may take for one class
_LEAST = 8  # draws of the whole, 16 at most; of groups of classes 2 may do (`risk.strata`)

Measure = Callable[[Evidence, Policy], float]


@dataclass(frozen=True, slots=True)
class Expectation:
    """The mean of a share over the noise.

    mean: in [0, 1].
    standard_error: of ``mean``; 0 where it is exact (to 1e-9).
    draws: releases that were simulated; 0 where it is exact.
    """

    mean: float
    standard_error: float = 0.0
    draws: int = 0

    @property
    def judged(self) -> float:
        """What is compared with a limit: the mean, and `STANDARD_ERRORS` more where it was simulated."""
        return min(self.mean + STANDARD_ERRORS * self.standard_error, 1.0)


def _draws(records: int) -> int:
    return min(max(SIMULATED_RECORDS // records, _LEAST), 16)


def expectation(
    evidence: Evidence, policy: Policy, measure: Measure, *, together: bool = False
) -> Expectation:
    """Simulate the mean of a measure over all releases that the noise could have made.

    Args:
        evidence: with originals; which of them were released, and how, plays no part.
        policy: all of its stages after the recoding.
        measure: a share of the released records, in [0, 1].
        together: whether the measure judges each class by itself: then of a small table many copies, each
            with noise of its own, are measured at once.
    Returns:
        The mean, each draw weighing as much as records are released in it, and its standard error: at least
        that of one record in all that were drawn. It is 1 where no draw leaves a record.
    Raises:
        InputError: a file alone.
    """
    table, draws = _several(evidence, policy, together=together)
    return _mean(table, lambda drawn: measure(drawn.as_evidence(), policy), draws)


def _several(
    evidence: Evidence, policy: Policy, *, together: bool, whole: Whole | None = None
) -> tuple[DrawingTable, int]:
    """Return what is drawn, and how often; ``whole`` makes it where it is the table once."""
    records = int(np.count_nonzero(require_originals(evidence).labels >= 0))
    draws = _draws(records)
    copies = max(SIMULATED_RECORDS // (draws * records), 1) if together else 1
    if copies == 1 and whole is not None:
        return whole(), draws
    return drawing_table(evidence, policy, copies), draws


def _mean(table: DrawingTable, measure: Callable[[Drawn], float], draws: int) -> Expectation:
    """Return the mean of a measure over the draws."""
    found = list(_shares(table, lambda drawn: (measure(drawn),), draws))
    return best_of_means(found) if found else Expectation(1.0, 0.0, draws)


def best_of_means(found: Sequence[tuple[Sequence[float], int]]) -> Expectation:
    """Return the largest of the means of several attackers, by the value that is judged.

    The mean of the best one in each draw would be too large: chance helps another one each time.

    Args:
        found: of each draw, at least one, the share that each attacker links, and the records it releases.
    """
    records = [many for _, many in found]
    means = (mean_of_shares(own, records) for own in zip(*(shares for shares, _ in found), strict=True))
    return max(means, key=lambda one: one.judged)


def mean_of_shares(shares: Sequence[float], records: Sequence[int]) -> Expectation:
    """Return the mean of a share over draws, at least one, each weighing as much as it releases records."""
    mean = math.fsum(share * many for share, many in zip(shares, records, strict=True)) / sum(records)
    spread = float(np.std(shares, ddof=1)) / math.sqrt(len(shares)) if len(shares) > 1 else 1.0
    return Expectation(mean, max(spread, 1 / sum(records)), len(shares))


def _shares(
    table: DrawingTable, measure: Callable[[Drawn], Sequence[float]], draws: int
) -> Iterator[tuple[Sequence[float], int]]:
    """Yield what is measured of each draw, and how many records it releases."""
    entropy = seeded_entropy(SEED)
    for _ in range(draws):
        drawn = table.draw_release(entropy)
        if drawn is not None:
            yield measure(drawn), len(drawn.rows)


def mean_linking_risk(evidence: Evidence, policy: Policy, *, whole: Whole | None = None) -> Expectation:
    """Return the mean of `measures.linking_risk` over the noise.

    Without a confidence nobody is left out by chance, and it is exact: by the closed form for one perturb
    column, by enumeration for several where that is small. With one, a single perturb column has an upper
    bound in closed form, which is taken where it is within a hundredth of the mean. Else it is simulated. It
    is 1 where no record can be released.

    Columns that are changed as a whole are always simulated.

    Where people are counted, the share of them with a linked record is always simulated: that two records of
    one person are linked is not independent of what becomes of their classes.

    Args:
        policy: all of its stages after the recoding.
        whole: makes the `drawing_table` of a large table; None: it is made here. Records that are equal in
            all that linking looks at may be in any order.
    Raises:
        InputError: a file alone.
    """
    if require_originals(evidence).people is not None or policy.whole_columns:
        table, draws = _several(evidence, policy, together=True)
        shares = list(_shares(table, lambda drawn: linking_shares(drawn.as_evidence(), policy), draws))
        return best_of_means(shares) if shares else Expectation(1.0, 0.0, draws)
    if policy.suppress.confidence is not None:
        bound = _at_most(evidence, policy, policy.suppress.confidence)
        if bound is not None:
            return Expectation(bound)
        return _simulate(evidence, policy, whole)
    behind = _without_refused(evidence, policy)
    if not len(behind.own):
        return Expectation(1.0)
    exact = exact_originals(behind)
    law = noise_law(replace(evidence, originals=behind), policy)
    random, draws = np.random.default_rng(SEED), min(SIMULATED_RECORDS // len(behind.own), 1024)
    if draws < _LEAST:
        draws = draws_of(np.bincount(behind.labels[behind.own]), records=SIMULATED_RECORDS)
    found = expected_linking_risk(exact, behind.labels, law, random=random, draws=draws)
    return Expectation(found.risk, found.standard_error, found.draws)


def _simulate(evidence: Evidence, policy: Policy, whole: Whole | None) -> Expectation:
    """Simulate the mean of `measures.linking_risk`, with the originals sorted once."""
    table, draws = _several(evidence, policy, together=True, whole=whole)
    behind, sizes = table.originals, np.bincount(table.labels)
    sort = sorted_originals(behind)
    sought = linking_table(behind.own, behind.grid, labels=behind.labels, sort=sort)
    if draws > _LEAST or sought.table is None:
        return _mean(table, lambda drawn: sought.measure(drawn.numbers, drawn.rows).risk, draws)
    groups = groups_of(sizes).astype(np.int8)[table.labels]
    draws = draws_of(sizes, records=SIMULATED_RECORDS)
    linked, of = np.zeros((2, draws, MOST))
    for draw, drawn in enumerate(table.releases(draws)):
        if drawn is not None:
            own = groups[drawn.rows]
            near = sought.ties(drawn.numbers, drawn.rows) > 0
            linked[draw] = np.bincount(own[near], minlength=MOST)
            of[draw] = np.bincount(own, minlength=MOST)
    if not of.any():
        return Expectation(1.0, 0.0, draws)
    mean, error = combined_ratio(linked, of)
    return Expectation(mean, max(error, 1 / float(of.sum())), draws)


def _at_most(evidence: Evidence, policy: Policy, confidence: float) -> float | None:
    """Bound the mean for one perturb column from above; None where the bound may be more than 1 % too high.

    Linked and released is at most who is linked and not left out by the confidence, whatever becomes of the
    class; released is at least who stays in the classes that keep k, t and l whomever they lose.
    """
    if len(policy.perturbed) != 1:
        return None
    behind = number_classes(evidence, policy)
    labels, exact = behind.labels[behind.own], quantize(behind.grid[behind.own])
    classes, (noise,) = compact_labels(labels), noises(policy)
    every = all_released(behind, classes, evidence, policy)
    sensitivity = sensitivities(noise, class_diameters(exact, classes)[:, 0])
    law = Outputs(partial(cdf, noise), sensitivity, noise.inputs, output_bounds(policy)[0])
    column, k = sort_line(exact[:, 0], labels), policy.anonymize.k
    found = fates(column, law, radius=radius(noise, sensitivity, confidence), k=k)
    counts = column.found.counts
    sure = np.minimum(classes.sizes - k, spare_records(policy, every))
    kept = math.fsum(expected_kept(column.found, found.lost, most_lost=sure, work=_WORK).tolist())
    if kept < (1 - _CLOSE) * math.fsum((counts * (1 - found.lost)).tolist()):
        return None
    return min(math.fsum((counts * (found.linked - found.both)).tolist()) / kept, 1.0)


def _without_refused(evidence: Evidence, policy: Policy) -> Originals:
    """Return the originals without the classes that t or l leaves out whatever the noise is."""
    behind = number_classes(evidence, policy)
    labels = behind.labels[behind.own]
    classes = EquivalenceClasses(labels, np.bincount(labels).astype(np.int64))
    every = all_released(behind, classes, evidence, policy)
    keep = suppress_unconfident(
        None, labels, k=policy.anonymize.k, limits=class_limits(every, policy), people=every.people
    ).keep
    found = np.full(len(behind.labels), -1, np.int64)
    own = behind.own[keep]
    found[own] = rank_values(labels[keep], len(classes.sizes))[0]
    return replace(behind, labels=found, own=own)
