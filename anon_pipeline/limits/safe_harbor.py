"""The limit on what software can check of HIPAA's Safe Harbor."""

from __future__ import annotations

from anon_pipeline.evidence.unsafe_columns import unsafe_columns
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy

_PROMISE = (
    "Software checked the release by the list of HIPAA Safe Harbor (45 CFR 164.514(b)(2)(i)): no identifier "
    "that forms or names of columns show, no dates but years, ages over 89 in one group, no ZIP codes beyond "
    "three digits, no three of an area that the policy lists as one of few people, no places below a state "
    "by the names of columns. It cannot check what the owner actually knows (164.514(b)(2)(ii)), free text, "
    "rare diseases and jobs, or columns whose names and values do not say what they hold: the owner answers "
    "for these."
)


def _demands(policy: Policy) -> Demanded:
    return {"": None} if policy.gate.safe_harbor else {}


def _judge_safe_harbor(case: Case, demand: Demand) -> Verdict:
    said = "; ".join(unsafe_columns(case.evidence.released, case.policy)) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


SAFE_HARBOR = Limit(
    "safe_harbor",
    Words(
        "By names, forms and values the release has none of the identifiers of HIPAA Safe Harbor that "
        "software can see: no dates but years, ages over 89 in one group, no place below a state but three "
        "digits of a ZIP code. What the owner knows, free text and rare diseases are not checked.",
        advice="drop the named columns, or release them coarser, as the reason says.",
        question="singling out",
    ),
    Judged(judge=_judge_safe_harbor),
    demanded=_demands,
    expectation="",
    published=Published(valued=False, compares_lists=True, promise=lambda demand: _PROMISE),
)
