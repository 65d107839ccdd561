"""A release that is made and judged as it would be published, and thrown away.

Nothing is published, and no ε is booked: another draw is made for the release itself, so what was drawn here
is in nobody's hands. Where a project has no ledger yet, or with ``record_key`` no vault, empty ones are made.
"""

from __future__ import annotations

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.gate import evaluate
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.draws.preconditions import refuse_what_cannot_be_published
from anon_pipeline.publish.early_refusals import before_noise, delivered_to, refuse_early
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.publish.release_in_memory import Release
from anon_pipeline.publish.whole_chain import Request, read_input
from anon_pipeline.sources.population import read_population
from anon_pipeline.stages.history.archive import Archive
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.pipeline import run
from anon_pipeline.tuning.advise import with_advice


def rehearse(
    policy: Policy,
    locations: Locations,
    *,
    partition: str | None = None,
    observe: Observer = ignore,
    archive: Archive | None = None,
) -> Release:
    """Read the policy's source, run all stages in memory, judge what comes out.

    Args:
        observe: called when a stage begins, and now and then with how far a search is.
        archive: see `make_release`; it is only read.
    Returns:
        The release, which the gate has passed, perhaps with warnings. It must not be given away: its noise is
        booked nowhere.
    Raises:
        InputError, InfeasibleError, PolicyError, PublishError: as `make_release`.
        GateRefused: the gate refuses it, and its ``advice`` says what to change in the policy; or it is
            beyond the budget, which a run that uses an earlier draw again does not ask.
    """
    refuse_early(policy, locations, partition, archive)
    with private_stage("ledger"):
        booked = booking(policy, locations, partition=partition)
        booked.refuse_unbookable(fresh=policy.perturb is not None and policy.perturb.republish == "fresh")
    with private_stage("destination"):
        refuse_what_cannot_be_published(policy, locations, partition=partition)
    read, means = read_input(Request(policy, locations, partition, observe, archive), booked)
    where, hierarchies = Where(None, policy.name, partition), locations.hierarchies
    deliverable = delivered_to(policy, locations, partition)
    refusals = before_noise(policy, hierarchies, deliverable=deliverable)
    chain = run(
        policy,
        read.pop(),
        means,
        without_identifiers=refusals.without_identifiers,
        worth_drawing=refusals.worth_drawing,
    )
    observe(Step("gate"))
    released = chain.suppressed
    with private_stage("gate"):
        report = evaluate(
            released.frame,
            policy,
            released.facts,
            originals=chain.k_anonymized.frame,
            hierarchies=hierarchies,
            memory=means.memory,
            population=read_population(policy, folder=locations.sources, hierarchies=hierarchies),
            descent=Descent(released.frame, released.lineage, where),
            in_ledger=booked.in_ledger(None),
        )
    with with_advice(policy, locations, partition=partition, observe=observe):
        refuse_unless_passed(report)
    table = unpack_table(released.frame[policy.released])
    return Release(table, report, released.facts, means.memory, policy, hierarchies)
