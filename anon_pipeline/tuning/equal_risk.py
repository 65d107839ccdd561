"""A policy's k and ε at equal risk or at equal loss: one of both is held to that of another policy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

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


class Pair(NamedTuple):
    """A policy with a k and an ε.

    k, epsilon: of it. linking, loss: expected.
    passes: whether it is expected to keep the limits of the gate that can be judged without a release.
    """

    policy: Policy
    k: int
    epsilon: float | None
    linking: float
    loss: float
    passes: bool


class Goal(NamedTuple):
    """What is held, and the most that it may be; the other one shall be as small as possible.

    held: at equal risk the share of the released records that is linked, at equal loss the loss.
    """

    held: Literal["linking", "loss"]
    most: float

    def is_kept(self, expected: Expected) -> bool:
        """Whether what is expected is within the bound."""
        return (expected.linking_released if self.held == "linking" else expected.loss) <= self.most

    def rank(self, pair: Pair) -> tuple[bool, float, float, int]:
        """What decides between pairs, the least being the best: whether it passes, the other one, k."""
        first, second = (pair.loss, pair.linking) if self.held == "linking" else (pair.linking, pair.loss)
        return not pair.passes, first, second, pair.k


def goal_of(held: Literal["linking", "loss"], policy: Policy, before: Staged, hierarchies: Path) -> Goal:
    """Return the goal to have no more of what is held than a policy has, on average over the noise.

    Args:
        before: the table that is recoded.
    """
    expected = _expect(policy, recode_input(policy, before, hierarchies=hierarchies))
    return Goal(held, expected.linking_released if held == "linking" else expected.loss)


def _expect(policy: Policy, table: Recoded) -> Expected:
    return expect(policy, table, entropy=seeded_entropy(_SEED))


def find_pair(policy: Policy, before: Staged, goal: Goal, *, hierarchies: Path) -> Pair | None:
    """Find the best k and ε that keep a goal.

    k is the policy's or up to 50 times it. ε is at most the policy's: twelve from 0.05 on are tried, and some
    more around the best of them, since linking need not grow with ε, nor loss fall, where records are
    suppressed by confidence. A pair that is expected to keep the gate's limits goes before one that is not.

    Args:
        before: the table that is recoded.
    Returns:
        None where no k and ε keep the goal.
    Raises:
        InfeasibleError: no k has a recoding.
    """
    problems: list[InfeasibleError] = []
    found = list(_pairs(policy, before, goal, problems, hierarchies=hierarchies))
    if len(problems) == len(_TIMES):
        raise problems[0]
    return min(found, key=goal.rank, default=None)


def _pairs(
    policy: Policy, before: Staged, goal: Goal, problems: list[InfeasibleError], *, hierarchies: Path
) -> Iterator[Pair]:
    """Yield the best ε for each k that may be better than those before, and note why a k has no recoding."""
    best = math.inf
    for times in _TIMES:
        k = round(policy.anonymize.k * times)
        changed = _with(policy, k, policy.perturb.epsilon if policy.perturb else None)
        try:
            table = recode_input(changed, before, hierarchies=hierarchies)
        except InfeasibleError as error:
            problems.append(error)
            continue
        least = _least_loss(policy, table)
        if least >= best if goal.held == "linking" else least > goal.most:
            continue
        one = _best(policy, table, k, goal)
        if one is not None:
            best = min(best, one.loss) if one.passes else best
            yield one


def _best(policy: Policy, table: Recoded, k: int, goal: Goal) -> Pair | None:
    """Return the best ε of those that are tried, for one k; None where none keeps the goal."""
    if not policy.perturbed:
        return next(_pairs_of_k(policy, table, k, [None], goal), None)
    assert policy.perturb is not None  # noqa: S101 - there is noise
    own = policy.perturb.epsilon
    epsilons = [*(epsilon for epsilon in _EPSILONS if epsilon < own), own]
    first = min(_pairs_of_k(policy, table, k, epsilons, goal), key=goal.rank, default=None)
    if first is None or first.epsilon is None:
        return None
    place = epsilons.index(first.epsilon)
    near = epsilons[max(0, place - 1) : place + 2]
    between = [
        _round_down(low * (high / low) ** (step / (_BETWEEN + 1)))
        for low, high in itertools.pairwise(near)
        for step in range(1, _BETWEEN + 1)
    ]
    return min([first, *_pairs_of_k(policy, table, k, between, goal)], key=goal.rank)


def _pairs_of_k(
    policy: Policy, table: Recoded, k: int, epsilons: Iterable[float | None], goal: Goal
) -> Iterator[Pair]:
    """Yield those of some ε that keep the goal; one that a mechanism does not take is none."""
    for epsilon in epsilons:
        try:
            changed = _with(policy, k, epsilon)
            refuse_contradictions(changed)
        except PolicyError:
            continue
        expected = _expect(changed, table)
        if goal.is_kept(expected):
            passes = all(verdict.status.publishable for verdict in verdicts(changed, expected))
            yield Pair(changed, k, epsilon, expected.linking_released, expected.loss, passes)


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
