"""Equal risk and equal loss where columns are changed as a whole: k and the amounts of these columns.

Such mechanisms have no distribution by which linking and loss could be computed (ADR 88). So a release is
made in memory for each k and strength that is tried, and its linking and loss are simulated.
Decision: docs/adr/0096-equal-risk-without-a-distribution.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final, Literal, NamedTuple

from anon_pipeline.base.errors import InfeasibleError, PolicyError, private_stage
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.catalog.mechanisms import amount_kind
from anon_pipeline.catalog.whole_column import AmountKind
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.limits.linking import LINKING_RISK
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.equal_risk import Goal, Pair
from anon_pipeline.tuning.grid import Choice, policy_at
from anon_pipeline.tuning.trial_loss import judge_trial, loss_of, noise_of, replaced_shares
from anon_pipeline.utility.comparison import compare
from anon_pipeline.utility.measures import MEASURES
from anon_pipeline.utility.trial import Trial, make_trial, trial_means

_TIMES: Final = (1, 2, 5, 10, 20, 50)  # k is the policy's, so many times
_STRENGTHS: Final[Mapping[AmountKind, tuple[float, ...]]] = {
    "share": (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1),
    "factor": (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10),
    "count": (2, 3, 5, 10, 20, 50, 200, 1_000),
    "step": (2, 5, 20, 100, 500, 2_000, 10_000, 50_000),
}
"""Amounts that are tried, as many of each kind; those of ``step`` in multiples of the resolution."""


class Tried(NamedTuple):
    """What a release of a k and amounts links and loses, see `equal_risk.Pair`.

    judged: what the gate compares with its limit on linking.
    """

    linking: float
    loss: float
    judged: float


def amount_at(mechanism: str, strength: int, resolution: float) -> float:
    """Return an amount that is tried of a mechanism which takes one, from strength 0 on.

    Args:
        resolution: see `resolution_of`.
    """
    kind = amount_kind(mechanism)
    amount = _STRENGTHS[kind][strength]
    # in decimals: 100 times 0.57 is 57 here, and a little less in floats, which is no multiple
    return float(Fraction(repr(float(resolution))) * int(amount)) if kind == "step" else amount


def resolution_of(policy: Policy, name: str) -> float:
    """Return the resolution of a perturb column; 1 of categories, whose places are counted."""
    column = policy.perturbed.get(name)
    return 1.0 if column is None else float(column.resolution)


def amounts_of(policy: Policy) -> dict[str, float]:
    """Return the amounts of the columns that are changed as a whole, by their names."""
    found = {name: policy.noisy[name].amount for name in policy.changed_columns}
    return {name: amount for name, amount in found.items() if amount is not None}


def goal_of_release(
    held: Literal["linking", "loss"], policy: Policy, frame: Table, locations: Locations
) -> Goal:
    """Return the goal to have no more of what is held than a release of a policy has.

    Args:
        frame: the table of the source.
    Raises:
        InfeasibleError: it has no recoding.
    """
    tried = measure_release(policy, frame, locations)
    return Goal(held, tried.linking if held == "linking" else tried.loss)


def find_amounts(policy: Policy, frame: Table, goal: Goal, locations: Locations) -> Pair | None:
    """Find the best k and amounts that keep a goal.

    k is the policy's or up to 50 times it. Eight amounts of each column are tried besides its own; those of
    several columns grow together, from the weakest of each to the strongest. ε of other columns stays.
    Amounts that keep the gate's limit on linking go before others. Of the best amounts of each k, the best
    that the gate passes are taken; if it passes none, the best of all.

    Args:
        frame: the table of the source.
    Returns:
        None where no k and amounts keep the goal.
    Raises:
        InfeasibleError: no k has a recoding.
    """
    kept, problems = list[Pair](), list[InfeasibleError]()
    for times in _TIMES:
        k = round(policy.anonymize.k * times)
        try:
            found = list(_pairs_of_k(policy, k, frame, goal, locations))
        except InfeasibleError as error:
            problems.append(error)
            continue
        kept += [min(found, key=goal.rank)] if found else []
    if len(problems) == len(_TIMES):
        raise problems[0]
    kept.sort(key=goal.rank)
    passing = (
        pair for pair in kept if judge_trial(_release(pair.policy, frame, locations), locations).passed
    )
    return next(passing, kept[0] if kept else None)


def _pairs_of_k(policy: Policy, k: int, frame: Table, goal: Goal, locations: Locations) -> Iterator[Pair]:
    """Yield the amounts that keep a goal with one k."""
    for changed in policies_tried(policy, k):
        tried = measure_release(changed, frame, locations)
        if (tried.linking if goal.held == "linking" else tried.loss) <= goal.most:
            bounds = [one.bound for one in demands(changed) if one.limit is LINKING_RISK]
            passes = all(bound is None or tried.judged <= bound for bound in bounds)
            yield Pair(changed, k, changed.noise_epsilon, tried.linking, tried.loss, passes)


def policies_tried(policy: Policy, k: int) -> Iterator[Policy]:
    """Yield a policy with a k and with its own amounts, then with those that are tried."""
    own, epsilon = amounts_of(policy), None if policy.perturb is None else policy.perturb.epsilon
    changed = policy_at(policy, Choice(k, epsilon, policy.suppress.confidence, policy.anonymize.recoder))
    yield changed
    attributes = changed.model_dump()
    for strength in range(len(_STRENGTHS["share"]) if own else 0):
        for name in own:
            amount = amount_at(policy.changed_columns[name], strength, resolution_of(policy, name))
            attributes["columns"][name]["amount"] = amount
        try:
            yield policy_from(attributes)
        except PolicyError:
            continue  # an amount that the column cannot have


def measure_release(policy: Policy, frame: Table, locations: Locations) -> Tried:
    """Make a release of a policy in memory, and measure what it links and loses."""
    made = _release(policy, frame, locations)
    with private_stage("linking and loss"):
        evidence = made.evidence()
        compared = compare(evidence, policy, unpack_table(made.before))
        granularity = MEASURES["granularity"].computes(compared)
        noise = noise_of(MEASURES["noise"].computes(compared))
        released = len(evidence.released) / max(1, compared.records)
        linking = mean_linking_risk(evidence, policy)
        replaced = replaced_shares(evidence, policy)
        return Tried(linking.mean, loss_of(policy, granularity, noise, released, replaced), linking.judged)


def _release(policy: Policy, frame: Table, locations: Locations) -> Trial:
    return make_trial(policy, frame, trial_means(policy, locations))
