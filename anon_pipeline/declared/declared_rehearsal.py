"""A release with declared columns that is made and judged as it would be published, and thrown away.

Nothing is published, booked or kept: another draw is made for the release itself, so what was drawn here is
in nobody's hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.declared.domain_codes import domain_codes, people_of, refuse_unread, unread_shares
from anon_pipeline.declared.draft import (
    declared_booking,
    earlier_epsilon,
    judge_files,
    refuse_unpublishable,
)
from anon_pipeline.declared.parts import Release, parts_of
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.perturb.keys import fresh_key
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.sources import read_source


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What is known of a release that the gate has passed, and that nobody has.

    records: of the source.
    unread: share of the cells of columns that are not empty and were not read, see `unread_shares`.
    """

    report: GateReport
    records: int
    unread: Mapping[str, float]


def rehearse_declared(
    policy: DeclaredRelease, locations: Locations, *, observe: Observer = ignore
) -> Rehearsed:
    """Read the policy's source, make the released records, judge them; see `draft.make_declared_release`.

    Args:
        observe: called when a step begins.
    Raises:
        GateRefused: refused, or ε is beyond the budget.
        InputError, PublishError, PolicyError: as a release would be.
    """
    parts = parts_of(policy.kind)
    refuse_unpublishable(policy, locations)
    with private_stage("ledger"):
        booked = declared_booking(policy, locations)
        booked.refuse_unbookable(fresh=parts.epsilon(policy) > 0)
    earlier = earlier_epsilon(booked, but=None)
    observe(Step("source"))
    with private_stage("source"):
        table = read_source(policy, folder=locations.sources)
        codes, unread = domain_codes(policy, table), unread_shares(policy, table)
        people = people_of(policy, table)
        if not parts.epsilon(policy):
            refuse_unread(policy, table)
        del table
    parts.refuses(policy, len(codes))
    observe(Step("draw"))
    key = fresh_key(system_entropy())
    with private_stage("draw"):
        made = parts.makes(policy, codes, key)
    observe(Step("gate"))
    known = Release((), len(codes), codes, key.seeded, earlier, people)
    report = judge_files(policy, made, known)[2]
    refuse_unless_passed(report)
    return Rehearsed(report, len(codes), unread)
