"""Limits on what several records of one person reveal, where the policy says whose records they are.

Decision: docs/adr/0046-people-not-records.md.
"""

from __future__ import annotations

from anon_pipeline.evidence import attackers
from anon_pipeline.limits import usual
from anon_pipeline.limits.limit import Advised, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.policy.model import Policy

_ROUNDING = 1e-12  # of a share


def _of_secrets(policy: Policy) -> Demanded:
    """Return the policy's own bounds; as advice, the usual one of every other sensitive column."""
    if policy.person is None:
        return {}
    own = policy.gate.attacks.person_homogeneity
    return {**{name: Advised(usual.HOMOGENEITY) for name in sorted(policy.sensitive)}, **own}


def _of_classes(policy: Policy) -> Demanded:
    if policy.person is None:
        return {}
    own = policy.gate.attacks.dominance
    return {"": Advised(usual.DOMINANCE) if own is None else own}


PERSON_HOMOGENEITY = Limit(
    "person_homogeneity",
    Words(
        "For at most this share of the people, a single value of {} occurs in all classes of their records, "
        "which are two or more, and all of their records have it. An attacker who finds these classes, and "
        "knows that the value stays the same, learns it.",
        advice="keep what varies from record to record out of the quasi-identifiers, or generalize it more; "
        "release one record of each person (rows_per_person: 1), or take a larger k.",
        question="linkability",
    ),
    Judged(
        measure=lambda case, demand: attackers.person_homogeneity(case.evidence, case.policy, demand.of),
        needs=("originals",),
        people=True,
        tolerance=_ROUNDING,
    ),
    demanded=_of_secrets,
    attack=True,
    advisable=True,
)
DOMINANCE = Limit(
    "dominance",
    Words(
        "At most this share of the people is in classes of which one person has more than half of the "
        "records: such a class shows what this person does.",
        advice="set rows_per_person to less than k, or take a larger k.",
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: attackers.dominance(case.evidence),
        needs=("originals",),
        people=True,
        tolerance=_ROUNDING,
    ),
    demanded=_of_classes,
    attack=True,
    advisable=True,
)
