"""What the stage `suppressed` refuses and records; whom it suppresses is decided by `risk.suppression`."""

from __future__ import annotations

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.suppression import Suppression
from anon_pipeline.stages.facts.records import SuppressedFacts
from anon_pipeline.stages.persons import people_facts


def refuse_nothing_left(policy: Policy, found: Suppression) -> None:
    """Refuse a suppression that leaves no record: there is never an empty release.

    Raises:
        InfeasibleError: with what to relax, and whether ε was spent.
    """
    if found.keep.any():
        return
    booked = " Its noise was drawn: where there is a ledger, its ε is booked." if policy.noisy else ""
    raise InfeasibleError(
        "No record is left after suppression by confidence, t-closeness and l-diversity. Use fewer "
        f"quasi-identifiers, a smaller k or confidence, or looser t and l.{booked}",
        k=policy.anonymize.k,
        reached_k=0,
        suppressed=1.0,
    )


def suppression_facts(
    policy: Policy, found: Suppression, kept: Table, *, evidence: Evidence, records: int
) -> SuppressedFacts:
    """Return what is recorded of a suppression.

    Args:
        kept: (s, columns) the records that stay.
        evidence: of the shuffled table.
        records: of the table of `k_anonymized` (n).
    """
    return SuppressedFacts(
        passed_through=policy.suppress.confidence is None,
        confidence=policy.suppress.confidence,
        released=len(kept),
        classes=kept[CLASS].nunique(),
        suppressed_unconfident=found.unconfident,
        suppressed_small_classes=found.small,
        suppressed_by_limit=found.limits,
        suppressed_in_all=records - len(kept),
        **people_facts(evidence, found.keep),
    )
