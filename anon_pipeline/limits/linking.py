"""Limits on what the noise leaves to be linked, and on how many records had to be left out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expectation import STANDARD_ERRORS, Expectation, expectation, mean_linking_risk
from anon_pipeline.evidence.linkage import LINKAGES, linkage_share
from anon_pipeline.evidence.measures import confident_originals, linking_risk, linking_risk_share, suppression
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.forecast import Foreseen
from anon_pipeline.limits.limit import Demand, Demanded, Limit
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.policy.contradictions import linking_bounds
from anon_pipeline.policy.model import Policy

KNOWS_EXACT = "the generalized values, and the exact values before noise"
"""What the usual attacker on linking knows."""

_MORE_NOISE = "take a smaller ε, or a larger k: both hide an original among more others."


def _hide_more(policy: Policy, of: str) -> str:
    """Advise more noise; of columns that are changed as a whole, more change."""
    if not policy.whole_columns:
        return _MORE_NOISE
    more = f"take a larger amount or another mechanism for {', '.join(policy.whole_columns)}, or a larger k"
    return f"{more}." if policy.noise_epsilon is None else f"{more}; or a smaller ε for the other columns."


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


LINKING_RISK = Limit(
    "linking_risk",
    Words(
        "The share of released records that lie nearest to the record that they come from is at most the "
        "bound.",
        of_people="The share of the people who have a released record that lies nearest to one of their own "
        "originals is at most the bound.",
        question="linkability",
        knows=KNOWS_EXACT,
    ),
    Judged(
        measure=lambda case, demand: linking_risk_share(case.evidence, case.policy),
        needs=("originals",),
        people=True,
        over_noise=lambda case, demand: mean_linking_risk(case.evidence, case.policy, whole=case.whole_table),
    ),
    demanded=_linking_risk,
    expectation="expect_release_linking_risk_to_be_at_most",
    forecast=Forecast(mapped=True, value=_foreseen_linking),
)
SUPPRESSION = Limit(
    "suppression",
    Words(
        "At most this share of the input is missing from the release.",
        of_people="At most this share of the people has a record that was suppressed. Records beyond "
        "rows_per_person are not counted.",
    ),
    Judged(measure=lambda case, demand: suppression(case.evidence), needs=("originals",)),
    demanded=lambda policy: demand_on_release(policy.gate.suppression),
    expectation="expect_release_suppression_to_be_at_most",
    published=Published(missing=True),
    forecast=Forecast(value=lambda expected, policy: expected.suppression_judged),
)
CONFIDENCE_K = Limit(
    "confidence_k",
    Words(
        "Whoever looks for originals near a noisy value (in its confidence interval) finds none, or at least "
        "this many.",
        of_people="Whoever looks for originals near a noisy value (in its confidence interval) finds none, "
        "or those of at least this many people.",
    ),
    Judged(measure=_confidence_k, sense="at least", needs=("originals",)),
    demanded=lambda policy: demand_on_release(policy.gate.confidence_k),
    expectation="expect_release_to_be_confidently_k_anonymous",
    forecast=Forecast(value=lambda expected, policy: policy.anonymize.k),
)
ATTACKER_SUCCESS = Limit(
    "attacker_success",
    Words(
        "At most this share of nearest-original guesses is correct.",
        advice=_MORE_NOISE,
        advice_for=_hide_more,
        question="linkability",
        knows=KNOWS_EXACT,
    ),
    Judged(
        measure=lambda case, demand: _attacker_success(case.evidence, case.policy),
        needs=("originals",),
        over_noise=_mean_of(_attacker_success),
    ),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.attacker_success),
    attack=True,
)
ASSIGNMENT_RISK = Limit(
    "assignment_risk",
    Words(
        "At most this share is linked by the best of three attacks: nearest original, most probable "
        "original, one-to-one assignment.",
        advice=_MORE_NOISE,
        advice_for=_hide_more,
        question="linkability",
        knows="the generalized values, and the exact values before noise, of everybody",
    ),
    Judged(
        measure=lambda case, demand: attackers.assignment_risk(case.evidence, case.policy),
        needs=("originals",),
        over_noise=_mean_of(attackers.assignment_risk),
    ),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.assignment_risk),
    attack=True,
)
EXPECTED_LINKING_RISK = Limit(
    "expected_linking_risk",
    Words(
        "On average over the noise, at most this share is linked.",
        question="linkability",
        knows="the generalized values, the exact values before noise, and the law of the noise",
    ),
    Judged(
        measure=lambda case, demand: attackers.expected_linking_risk(case.evidence, case.policy),
        needs=("originals",),
    ),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.expected_linking_risk),
    attack=True,
    forecast=Forecast(value=lambda expected, policy: _as_judged(expected.linking, expected)),
)
AVERAGING = Limit(
    "averaging",
    Words(
        "By the mean of several releases, at most this share would be linked.",
        advice="take a smaller ε, expect fewer releases, or let published noise stay (perturb.republish).",
        question="linkability",
        knows="the generalized values, the exact values before noise, and several releases",
    ),
    Judged(
        measure=lambda case, demand: attackers.averaging(case.evidence, case.policy, demand.wanted),
        bound=lambda limit: limit.risk,
        needs=("originals",),
    ),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.averaging),
    attack=True,
)
LINKAGE = Limit(
    "linkage",
    Words(
        "At most this share is linked by comparing all records: {}.",
        advice=_MORE_NOISE,
        advice_for=_hide_more,
        question="linkability",
        knows="the generalized values, and the exact values before noise, compared with every record",
    ),
    Judged(
        measure=lambda case, demand: linkage_share(case.evidence, case.policy, demand.of),
        needs=("originals",),
        over_noise=lambda case, demand: expectation(
            case.evidence, case.policy, partial(linkage_share, kind=demand.of)
        ),
    ),
    demanded=_linkages,
    attack=True,
)
