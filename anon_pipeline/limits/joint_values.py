"""Advice on secrets that columns reveal only together, which limits on single columns do not see.

Decision: docs/adr/0068-green-is-harder-to-reach-by-mistake.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anon_pipeline.evidence.joint_homogeneity import joint_homogeneity
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy

_ROUNDING = 1e-12  # of a share


def _beside_insensitive(policy: Policy) -> Demanded:
    """Advise on sensitive columns, if there are insensitive ones."""
    names = sorted(policy.sensitive) if policy.insensitive else ()
    return {name: Advised(usual.HOMOGENEITY) for name in names}


def _judge_joint(case: Case, demand: Demand) -> Verdict:
    others = sorted(case.policy.insensitive)
    return _largest(demand, joint_homogeneity(case.evidence, demand.of, others), "revealed by")


def _largest(demand: Demand, shares: Mapping[str, float], said: str) -> Verdict:
    """Judge the largest share, and name the columns of all that are too large."""
    found = demand.compare(max(shares.values(), default=0.0))
    if found.status is Status.PASSED:
        return found
    names = [name for name, share in shares.items() if share > demand.wanted]
    return replace(found, reason=f"{said} {', '.join(names)}")


JOINT_HOMOGENEITY = Limit(
    "joint_homogeneity",
    Words(
        "At most this share of the {counted} has a value of {} that one insensitive column, together with "
        "the class or alone, makes nearly certain, and the class alone does not; not counting what happens "
        "by chance. Only advice.",
        advice="give the insensitive column that is named the role generalize (or sensitive, if nobody can "
        "know it), release it coarser, or drop it.",
        question="inference",
    ),
    Judged(judge=_judge_joint, people=True, tolerance=_ROUNDING),
    demanded=_beside_insensitive,
    advisable=True,
)
