"""Limits on what the noise leaves to be linked, and on how many records had to be left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expected import STANDARD_ERRORS, Expectation, expectation, expected_linking
from anon_pipeline.evidence.linkage import LINKAGES, linked_by
from anon_pipeline.evidence.measures import confident_originals, linking, suppressed_share
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand, Demanded, Foreseen, Limit
from anon_pipeline.policy.model import Policy

_OVER_NOISE = "The mean over the noise is judged; with linking: realized, the drawn noise."


def demand_on_release(wanted: Any) -> Demanded:
    """Return what is demanded by a limit on the whole release; nothing where it is not set."""
    return {} if wanted is None else {"": wanted}


def _mean_of(measure: Callable[[Evidence, Policy], float]) -> Callable[[Case, Demand], Expectation]:
    """Return what simulates the mean of a measure that judges each class by itself."""
    return lambda case, demand: expectation(case.evidence, case.policy, measure, together=True)


def _confidence_k(case: Case, demand: Demand) -> int:
    """Return the fewest originals in the interval of a released record; records that have none may stay."""
    counts = confident_originals(case.evidence, case.policy, cap=demand.wanted, drawn=case.noises)
    within = counts[counts > 0]
    return int(within.min()) if len(within) else int(demand.wanted)


def _attacker_success(evidence: Evidence, policy: Policy) -> float:
    return linking(evidence, policy).attacker_success


def _as_judged(share: float, expected: Foreseen) -> float:
    """Return an expected share as the gate judges it: with standard errors where it was simulated."""
    return min(share + STANDARD_ERRORS * expected.standard_error[0], 1.0)


def _foreseen_linking(expected: Foreseen, policy: Policy) -> float:
    linked = expected.linking_released
    return _as_judged(linked, expected) if policy.gate.linking == "expected" else linked


def _linkages(policy: Policy) -> Demanded:
    limits = policy.gate.attacks.linkage
    return {kind: getattr(limits, kind) for kind in LINKAGES if getattr(limits, kind) is not None}


LINKING_RISK = Limit(
    name="linking_risk",
    meaning=f"At most this share of the records is nearest to its own original. {_OVER_NOISE}",
    demanded=lambda policy: demand_on_release(policy.gate.linking_risk),
    measure=lambda case, demand: linking(case.evidence, case.policy).risk,
    needs=("originals",),
    over_noise=lambda case, demand: expected_linking(case.evidence, case.policy),
    linking=True,
    mapped=True,
    foreseen=_foreseen_linking,
    expectation="expect_release_linking_risk_to_be_at_most",
)
SUPPRESSION = Limit(
    name="suppression",
    meaning="At most this share of the input is missing from the release.",
    demanded=lambda policy: demand_on_release(policy.gate.suppression),
    measure=lambda case, demand: suppressed_share(case.evidence),
    needs=("originals",),
    missing=True,
    foreseen=lambda expected, policy: expected.suppression_judged,
    expectation="expect_release_suppression_to_be_at_most",
)
CONFIDENCE_K = Limit(
    name="confidence_k",
    meaning="No record has fewer originals than this, but at least one, in its confidence interval.",
    demanded=lambda policy: demand_on_release(policy.gate.confidence_k),
    measure=_confidence_k,
    sense="at least",
    needs=("originals",),
    foreseen=lambda expected, policy: policy.anonymize.k,
    expectation="expect_release_to_be_confidently_k_anonymous",
)
ATTACKER_SUCCESS = Limit(
    name="attacker_success",
    meaning=f"At most this share of the guesses at the nearest original is right. {_OVER_NOISE}",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.attacker_success),
    measure=lambda case, demand: _attacker_success(case.evidence, case.policy),
    needs=("originals",),
    over_noise=_mean_of(_attacker_success),
    attack=True,
)
ASSIGNMENT_RISK = Limit(
    name="assignment_risk",
    meaning="At most this share is linked, by the nearest or likeliest original or one to one. "
    f"{_OVER_NOISE}",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.assignment_risk),
    measure=lambda case, demand: attackers.assignment_share(case.evidence, case.policy),
    needs=("originals",),
    over_noise=_mean_of(attackers.assignment_share),
    attack=True,
)
EXPECTED_LINKING_RISK = Limit(
    name="expected_linking_risk",
    meaning="The noise lets at most this share be linked, on average.",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.expected_linking_risk),
    measure=lambda case, demand: attackers.expected_linking_share(case.evidence, case.policy),
    needs=("originals",),
    attack=True,
    linking=True,
    foreseen=lambda expected, policy: _as_judged(expected.linking, expected),
)
AVERAGING = Limit(
    name="averaging",
    meaning="The mean of several releases would let at most this share be linked.",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.averaging),
    measure=lambda case, demand: attackers.averaging_share(case.evidence, case.policy, demand.wanted),
    bound=lambda limit: limit.risk,
    needs=("originals",),
    attack=True,
)
LINKAGE = Limit(
    name="linkage",
    meaning=f"At most this share is linked by comparing all records: {{}}. {_OVER_NOISE}",
    demanded=_linkages,
    measure=lambda case, demand: linked_by(case.evidence, case.policy, demand.of),
    needs=("originals",),
    over_noise=lambda case, demand: expectation(
        case.evidence, case.policy, partial(linked_by, kind=demand.of)
    ),
    attack=True,
)
