"""Limits on what the noise leaves to be linked, and on how many records had to be left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expected import STANDARD_ERRORS, Expectation, expectation, mean_linking_risk
from anon_pipeline.evidence.linkage import LINKAGES, linked_by
from anon_pipeline.evidence.measures import confident_originals, linking_risk, linking_share, suppression
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.foreseen import Foreseen
from anon_pipeline.limits.limit import Demand, Demanded, Limit
from anon_pipeline.limits.meanings import OVER_NOISE
from anon_pipeline.policy.contradictions import linking_bounds
from anon_pipeline.policy.model import Policy

_MORE_NOISE = "take a smaller ε, or a larger k: both hide an original among more others."


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
    return linking_risk(evidence, policy).attacker_success


def _as_judged(share: float, expected: Foreseen) -> float:
    """Return an expected share as the gate judges it: with standard errors where it was simulated."""
    return min(share + STANDARD_ERRORS * expected.standard_error[0], 1.0)


def _foreseen_linking(expected: Foreseen, policy: Policy) -> float:
    linked = expected.linking_released
    return _as_judged(linked, expected) if policy.gate.linking == "expected" else linked


def _linking_risk(policy: Policy) -> Demanded:
    """Return the policy's own limit; the usual one where numbers have noise and no limit is on linking."""
    limited = any(True for _ in linking_bounds(policy.gate, "gate"))
    if limited or not policy.perturbed:
        return demand_on_release(policy.gate.linking_risk)
    return {"": usual.linking_bound(policy.gate_k)}


def _linkages(policy: Policy) -> Demanded:
    limits = policy.gate.attacks.linkage
    return {kind: getattr(limits, kind) for kind in LINKAGES if getattr(limits, kind) is not None}


def _nearest(policy: Policy) -> str:
    """Say which share is limited; of people, who are linked by any of their records."""
    if policy.person is None:
        return LINKING_RISK.meaning
    own = "a record that is nearest to one of their own originals"
    return f"At most this share of the people has {own}. {OVER_NOISE}"


def _missing(policy: Policy) -> str:
    if policy.person is None:
        return SUPPRESSION.meaning
    beyond = "" if policy.rows_per_person is None else " Records beyond rows_per_person are not counted."
    return f"At most this share of the people has a record that was suppressed.{beyond}"


def _pointed_at(policy: Policy) -> str:
    """Say how few originals no interval holds; of people, with how many."""
    fewest, what = policy.gate.confidence_k or 2, "originals" if policy.person is None else "people"
    group = f"1 to {fewest - 1} {what}" if fewest > 2 else f"1 {what.removesuffix('s')}"
    return f"No noisy value points to a group of {group}: its confidence interval holds none or more of them."


LINKING_RISK = Limit(
    name="linking_risk",
    meaning=f"At most this share of the records is nearest to its own original. {OVER_NOISE}",
    meaning_for=_nearest,
    demanded=_linking_risk,
    measure=lambda case, demand: linking_share(case.evidence, case.policy),
    needs=("originals",),
    people=True,
    over_noise=lambda case, demand: mean_linking_risk(case.evidence, case.policy, whole=case.whole_table),
    mapped=True,
    foreseen=_foreseen_linking,
    expectation="expect_release_linking_risk_to_be_at_most",
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise",
)
SUPPRESSION = Limit(
    name="suppression",
    meaning="At most this share of the input is missing from the release.",
    meaning_for=_missing,
    demanded=lambda policy: demand_on_release(policy.gate.suppression),
    measure=lambda case, demand: suppression(case.evidence),
    needs=("originals",),
    missing=True,
    foreseen=lambda expected, policy: expected.suppression_judged,
    expectation="expect_release_suppression_to_be_at_most",
)
CONFIDENCE_K = Limit(
    name="confidence_k",
    meaning="The confidence interval of each record holds no original, or at least this many.",
    meaning_for=_pointed_at,
    demanded=lambda policy: demand_on_release(policy.gate.confidence_k),
    measure=_confidence_k,
    sense="at least",
    needs=("originals",),
    foreseen=lambda expected, policy: policy.anonymize.k,
    expectation="expect_release_to_be_confidently_k_anonymous",
)
ATTACKER_SUCCESS = Limit(
    name="attacker_success",
    meaning=f"At most this share of the guesses is right that pick the nearest original. {OVER_NOISE}",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.attacker_success),
    measure=lambda case, demand: _attacker_success(case.evidence, case.policy),
    needs=("originals",),
    over_noise=_mean_of(_attacker_success),
    attack=True,
    advice=_MORE_NOISE,
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise",
)
ASSIGNMENT_RISK = Limit(
    name="assignment_risk",
    meaning="At most this share is linked: by the nearest original, by the likeliest one, or one to one. "
    f"{OVER_NOISE}",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.assignment_risk),
    measure=lambda case, demand: attackers.assignment_risk(case.evidence, case.policy),
    needs=("originals",),
    over_noise=_mean_of(attackers.assignment_risk),
    attack=True,
    advice=_MORE_NOISE,
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise, of everybody",
)
EXPECTED_LINKING_RISK = Limit(
    name="expected_linking_risk",
    meaning="On average over the noise, at most this share is linked.",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.expected_linking_risk),
    measure=lambda case, demand: attackers.expected_linking_risk(case.evidence, case.policy),
    needs=("originals",),
    attack=True,
    foreseen=lambda expected, policy: _as_judged(expected.linking, expected),
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise, and the law of the noise",
)
AVERAGING = Limit(
    name="averaging",
    meaning="By the mean of several releases, at most this share would be linked.",
    demanded=lambda policy: demand_on_release(policy.gate.attacks.averaging),
    measure=lambda case, demand: attackers.averaging(case.evidence, case.policy, demand.wanted),
    bound=lambda limit: limit.risk,
    needs=("originals",),
    attack=True,
    advice="take a smaller ε, expect fewer releases, or let published noise stay (perturb.republish).",
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise, and several releases",
)
LINKAGE = Limit(
    name="linkage",
    meaning=f"At most this share is linked by comparing all records: {{}}. {OVER_NOISE}",
    demanded=_linkages,
    measure=lambda case, demand: linked_by(case.evidence, case.policy, demand.of),
    needs=("originals",),
    over_noise=lambda case, demand: expectation(
        case.evidence, case.policy, partial(linked_by, kind=demand.of)
    ),
    attack=True,
    advice=_MORE_NOISE,
    question="linkability",
    knows="the generalized values, and the exact ones behind the noise, compared with every record",
)
