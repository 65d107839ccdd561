"""What refuses a release before its noise is drawn, and the memory that it begins with.

Belongs here: what `make_release` and a rehearsal ask alike. Does not belong here: the gate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.base.scratch import refuse_unfit_scratch
from anon_pipeline.evidence.identifying_columns import identifying_columns, utc_today
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import Booking
from anon_pipeline.publish.deliver.delivery import refuse_unfit_columns
from anon_pipeline.publish.draws.pre_draw_checks import refuse_before_drawing
from anon_pipeline.stages.contracts.stages import broken_contract, deidentified_contract
from anon_pipeline.stages.history.archive import Archive, refuse_unless_archived
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.private import Staged


def refuse_early(
    policy: Policy, locations: Locations, partition: str | None, archive: Archive | None
) -> None:
    """Refuse what a policy and its project alone rule out, before anything is read."""
    refuse_contradictions(policy)
    refuse_unfit_scratch()
    if locations.project is not None:  # whatever folder the policy was read from
        refuse_below_defaults(policy, locations.project)
    refuse_unless_archived(policy, archive)
    locations.confine(policy, partition)
    locations.release(policy, partition)


class Refusals(NamedTuple):
    """What `run` asks before any noise is drawn; each raises.

    without_identifiers: of the table of `deidentified`.
    worth_drawing: of the table of `k_anonymized`.
    """

    without_identifiers: Callable[[Staged], None]
    worth_drawing: Callable[[Staged], None]


def before_noise(
    policy: Policy, hierarchies: Path, *, deliverable: Callable[[Staged], None] = lambda k_anonymized: None
) -> Refusals:
    """Return what refuses, before any noise is drawn, what the gate would refuse, whatever the noise.

    Args:
        deliverable: called last, with the table of `k_anonymized`; raises to refuse.
    """

    def worth_drawing(recoded: Staged) -> None:
        """Refuse what the gate would, then what could not be delivered."""
        refuse_before_drawing(policy, recoded)
        deliverable(recoded)

    return Refusals(partial(_refuse_identifiers, policy, hierarchies), worth_drawing)


def delivered_to(policy: Policy, locations: Locations, partition: str | None) -> Callable[[Staged], None]:
    """Return what refuses columns that the policy's destination could not hold, see `before_noise`."""

    def deliverable(recoded: Staged) -> None:
        """Ask the destination, if there is one."""
        with private_stage("destination"):
            refuse_unfit_columns(policy, locations, partition, recoded)

    return deliverable


def _refuse_identifiers(policy: Policy, hierarchies: Path, deidentified: Staged) -> None:
    """Refuse a table in which identifiers are left, before its noise is drawn and its ε is spent.

    The gate would refuse the release for the same reason. In Dagster this is the check of `deidentified`.

    Raises:
        GateRefused: naming columns, kinds of identifiers and counts.
    """
    with private_stage("deidentified"):
        problems = broken_contract(deidentified.frame, deidentified_contract(policy, hierarchies))
        if not problems:
            known = deidentified.facts["deidentified"]
            problems = identifying_columns(
                deidentified.frame,
                policy,
                today=utc_today(),
                following=known["following"],
                holding=known["holding"],
            )
    if problems:
        lines = "\n".join(f"deidentified: {problem}" for problem in problems)
        raise GateRefused(f"{lines}\nNo noise was drawn, and no ε was spent.")


def read_memory(archive: Archive, booked: Booking, partition: str | None) -> Memory:
    """Return what was published before, as the ledger counts it."""
    with private_stage("memory"), archive.alone():
        memory = archive.read(partition)
    with private_stage("ledger"):
        return booked.only_booked(memory)
