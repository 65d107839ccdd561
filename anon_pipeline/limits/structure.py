"""Limits that every release has: its contract, its origin, and k."""

from __future__ import annotations

from collections.abc import Iterable

from anon_pipeline.contracts.stages import broken_contract, release_contract
from anon_pipeline.encode.codes import PRIVATE
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.facts.origin import broken_origin
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.verdicts import Status, Verdict


def _kept(demand: Demand, problems: Iterable[str]) -> Verdict:
    """Return the verdict of a limit that is broken or not, with what is wrong."""
    said = "; ".join(problems) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


def _contract(case: Case, demand: Demand) -> Verdict:
    shown = case.release
    if case.evidence.originals is not None:
        shown = shown.drop(columns=[*PRIVATE], errors="ignore")
    return _kept(demand, broken_contract(shown, release_contract(case.policy)))


def _origin(case: Case, demand: Demand) -> Verdict:
    """Judge whether every stage was made by this policy, noise and order without a seed, here, of these."""
    problems = broken_origin(case.policy, case.facts or {}, hierarchies=case.evidence.hierarchies)
    problems += ["materialize these stages again"] if problems else []
    if case.descent is not None:
        problems += case.descent.broken(require_originals(case.evidence).frame)
    return _kept(demand, problems)


CONTRACT = Limit(
    name="contract",
    meaning="The columns of the policy and no other, no undeclared identifier, numbers on their grid.",
    demanded=lambda policy: {"": None},
    judge=_contract,
    certain=True,
    expectation="",
    always=True,
    valued=False,
)
ORIGIN = Limit(
    name="origin",
    meaning="Every stage was made by this policy; noise and order come from the system's entropy, not from "
    "a seed.",
    demanded=lambda policy: {"": None},
    judge=_origin,
    needs=("originals",),
    certain=True,
    expectation="",
    always=True,
    valued=False,
)
K = Limit(
    name="k",
    meaning="Every class of equal quasi-identifiers has at least this many records.",
    demanded=lambda policy: {"": policy.gate_k},
    measure=lambda case, demand: case.evidence.classes.k,
    sense="at least",
    always=True,
    foreseen=lambda expected, policy: expected.smallest_class,
    expectation="expect_release_to_be_k_anonymous",
)
