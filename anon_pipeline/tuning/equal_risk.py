"""A policy's k and ε with the least loss by which no more records are linked than by another one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from anon_pipeline.base.errors import InfeasibleError, PolicyError
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.grid import Choice, policy_at
from anon_pipeline.tuning.limit_forecasts import verdicts
from anon_pipeline.tuning.recode_input import Recoded, recode_input
from anon_pipeline.tuning.results import Expected

_TIMES: Final = (1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)  # k is the policy's, so many times
_EPSILONS: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 40.0)  # and the policy's own
_BETWEEN: Final = 3  # ε that are tried between the best one and each neighbor
_SEED: Final = 0  # of simulated noise, as in `tune`


class Safe(NamedTuple):
    """A policy that links no more than it may.

    k, epsilon: of it. loss: expected.
    passes: whether it is expected to keep the limits of the gate that can be judged without a release.
    """

    policy: Policy
    k: int
    epsilon: float | None
    loss: float
    passes: bool

    @property
    def rank(self) -> tuple[bool, float, int]:
        """What decides between several, the least being the best: it passes, loses little, has a small k."""
        return not self.passes, self.loss, self.k


def linking_at(policy: Policy, before: Staged, hierarchies: Path) -> float:
    """Return the share of released records that are linked, on average over the noise.

    Args:
        before: the table that is recoded.
    """
    return _expect(policy, recode_input(policy, before, hierarchies=hierarchies)).linking_released


def _expect(policy: Policy, table: Recoded) -> Expected:
    return expect(policy, table, entropy=seeded_entropy(_SEED))


def as_safe(policy: Policy, before: Staged, most: float, *, hierarchies: Path) -> Safe | None:
    """Find the k and ε with the least loss by which at most a share is linked.

    k is the policy's or up to 50 times it. ε is at most the policy's: twelve from 0.05 on are tried, and some
    more around the best of them, since linking need not grow with ε, nor loss fall, where records are
    suppressed by confidence. A pair that is expected to keep the gate's limits goes before one that is not.

    Args:
        before: the table that is recoded.
        most: share of the released records.
    Returns:
        None where no k and ε link so few.
    Raises:
        InfeasibleError: no k has a recoding.
    """
    problems: list[InfeasibleError] = []
    found = list(_all_safe(policy, before, most, problems, hierarchies=hierarchies))
    if len(problems) == len(_TIMES):
        raise problems[0]
    return min(found, key=lambda one: one.rank, default=None)


def _all_safe(
    policy: Policy, before: Staged, most: float, problems: list[InfeasibleError], *, hierarchies: Path
) -> Iterator[Safe]:
    """Yield the best ε for each k that may lose less than those before, and note why a k has no recoding."""
    best = math.inf
    for times in _TIMES:
        k = round(policy.anonymize.k * times)
        changed = _with(policy, k, policy.perturb.epsilon if policy.perturb else None)
        try:
            table = recode_input(changed, before, hierarchies=hierarchies)
        except InfeasibleError as error:
            problems.append(error)
            continue
        if _least_loss(policy, table) >= best:
            continue
        one = _best(policy, table, k, most)
        if one is not None:
            best = min(best, one.loss) if one.passes else best
            yield one


def _best(policy: Policy, table: Recoded, k: int, most: float) -> Safe | None:
    """Return the ε with the least loss of those that are tried, for one k; None where none is safe."""
    if not policy.perturbed:
        return next(_safe(policy, table, k, [None], most), None)
    assert policy.perturb is not None  # noqa: S101 - there is noise
    own = policy.perturb.epsilon
    epsilons = [*(epsilon for epsilon in _EPSILONS if epsilon < own), own]
    first = min(_safe(policy, table, k, epsilons, most), key=lambda one: one.rank, default=None)
    if first is None or first.epsilon is None:
        return None
    place = epsilons.index(first.epsilon)
    near = epsilons[max(0, place - 1) : place + 2]
    between = [
        _round_down(low * (high / low) ** (step / (_BETWEEN + 1)))
        for low, high in itertools.pairwise(near)
        for step in range(1, _BETWEEN + 1)
    ]
    return min([first, *_safe(policy, table, k, between, most)], key=lambda one: one.rank)


def _safe(
    policy: Policy, table: Recoded, k: int, epsilons: Iterable[float | None], most: float
) -> Iterator[Safe]:
    """Yield those of some ε that link at most a share; one that a mechanism does not take is none."""
    for epsilon in epsilons:
        try:
            changed = _with(policy, k, epsilon)
            refuse_contradictions(changed)
        except PolicyError:
            continue
        expected = _expect(changed, table)
        if expected.linking_released <= most:
            passes = all(verdict.status.publishable for verdict in verdicts(changed, expected))
            yield Safe(changed, k, epsilon, expected.loss, passes)


def _least_loss(policy: Policy, table: Recoded) -> float:
    """Return what a recoding loses whatever its ε: the loss of `Expected` without any noise."""
    generalized, noisy = len(policy.generalized), len(policy.perturbed)
    return table.information_loss * generalized / max(1, generalized + noisy)


def _round_down(number: float) -> float:
    """Round down to two digits.

    >>> _round_down(1.299), _round_down(0.01299)
    (1.2, 0.012)
    """
    power = math.floor(math.log10(number)) - 1
    return float(f"{math.floor(number / 10.0**power) * 10.0**power:.2g}")


def _with(policy: Policy, k: int, epsilon: float | None) -> Policy:
    return policy_at(policy, Choice(k, epsilon, policy.suppress.confidence, policy.anonymize.recoder))
