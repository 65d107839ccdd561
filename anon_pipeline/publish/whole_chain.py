"""The whole way in one call: for notebooks, and for the command line.

Belongs here: policy and data in, release out. Does not belong here: any step of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import PolicyError, private_stage
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.observer import Observer, Progress, Step, ignore, observer_of
from anon_pipeline.base.packed_tables import Table, pack_large, unpack_table
from anon_pipeline.base.scratch import refuse_unfit_scratch
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.perturb.entropy import Entropy, system_entropy
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.open_questions import refuse_open_questions
from anon_pipeline.policy.source import placeless
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.accounting.booking import Booking, booking
from anon_pipeline.publish.draws.draw_keys import Draws, draws_of
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.publish.draws.preconditions import refuse_what_cannot_be_published
from anon_pipeline.publish.early_refusals import before_noise, delivered_to, read_memory, refuse_early
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.publish.release_in_memory import Release
from anon_pipeline.publish.stream_turns import deployment_of
from anon_pipeline.report import Exact, internal_report
from anon_pipeline.sources import read_source
from anon_pipeline.sources.population import Population, read_population
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.history.archive import Archive
from anon_pipeline.stages.history.memory import Memory, Past, remember
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means, Opens
from anon_pipeline.tuning.advise import with_advice
from anon_pipeline.windows.window_states import WindowStates, window_states
from anon_pipeline.windows.window_table import refuse_too_few, window_table

__all__ = ["Release", "anonymize", "make_release"]


def anonymize(
    policy: Policy,
    frame: pd.DataFrame,
    *,
    hierarchies: str | Path = ".",
    entropy: Entropy | None = None,
    outside: bool = False,
    memory: Memory | None = None,
) -> Release:
    """Make a release of a table in memory; only hierarchies, key and population are read, nothing is written.

    Args:
        policy: what the release is; its source and destination are not used.
        frame: (n, columns) personal data.
        hierarchies: folder that tables of hierarchies, a key file and a population are relative to.
        entropy: for tests; a release made with a seed is refused by the gate.
        outside: whether the policy's paths may leave that folder.
        memory: of the release before, see `Release.memory`; ``Memory.empty()`` says that nothing was
            published before; None says nothing: limits on all releases together are then unmeasured.
    Returns:
        The release with its facts and gate report; its frame can be had if the gate has passed it.
    Raises:
        InputError: the data does not fit the policy.
        InfeasibleError: no recoding within the limits.
        PolicyError: the policy has a budget, which only the ledger of `make_release` and Dagster can keep; or
            it contradicts itself, see `policy.contradictions`; or questions stand in its file.
    """
    refuse_contradictions(policy)
    refuse_open_questions(policy.open_questions)
    refuse_unfit_scratch()
    if policy.budget is not None:
        raise PolicyError("budget: cannot be kept in memory. Use make_release, the command line or Dagster.")
    folder = Path(hierarchies)
    _confine(policy, folder, outside=outside)
    with private_stage("key"):
        key = hashing_key(policy, folder=folder)
    known = memory
    if policy.record_key is not None:
        known = (memory or Memory.empty()).rehash(memory_key(policy, key))
        memory = None if memory is None else known
    with private_stage("population"):
        population = read_population(policy, folder=folder, hierarchies=folder)
    means = Means(folder, key, entropy or system_entropy(), memory=known)
    refusals = before_noise(policy, folder)
    chain = run(
        policy,
        frame,
        means,
        without_identifiers=refusals.without_identifiers,
        worth_drawing=refusals.worth_drawing,
    )
    with private_stage("gate"):
        report = _judge(policy, chain, folder, memory=memory, population=population)
        if memory is not None and report.passed:
            past = Past(report.data_digest, None)
            memory = remember(memory, policy, chain.suppressed.frame, chain.k_anonymized.frame, past=past)
    facts = chain.suppressed.facts
    return Release(
        unpack_table(chain.suppressed.frame[policy.released]), report, facts, memory, policy, folder
    )


def _confine(policy: Policy, folder: Path, *, outside: bool) -> None:
    """Refuse a policy whose paths leave a folder, unless they may; a frame takes the place of its source."""
    where = Locations(folder, folder, folder, folder, outside=outside)
    where.confine(policy.model_copy(update={"source": placeless()}))


def _judge(
    policy: Policy, chain: Chain, folder: Path, *, memory: Memory | None, population: Population | None
) -> GateReport:
    """Judge tables that were made in memory just now."""
    released = chain.suppressed
    return evaluate(
        released.frame,
        policy,
        released.facts,
        originals=chain.k_anonymized.frame,
        hierarchies=folder,
        memory=memory,
        population=population,
        descent=Descent(released.frame, released.lineage, Where(None, policy.name)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A release that is asked for: by what policy, from where to where, and who is told.

    partition: None for a release of one piece.
    observe: called when a stage begins, and now and then with how far a search is.
    archive: keeps the memory of what was published; None without ``record_key``.
    waiting: where records of a stream wait; None: nothing waits, and nothing that has waited is looked at.
    """

    policy: Policy
    locations: Locations
    partition: str | None
    observe: Observer
    archive: Archive | None
    waiting: WindowStates | None = None


def make_release(  # noqa: PLR0913 - two are deprecated
    policy: Policy,
    locations: Locations,
    *,
    partition: str | None = None,
    observe: Observer = ignore,
    archive: Archive | None = None,
    reported: Callable[[bytes], None] | None = None,
    witness: Callable[[Chain, Memory | None], None] | None = None,
    second_lock: Callable[[GateReport], None] = lambda report: None,
    told: Callable[[str], None] | None = None,
    searching: Callable[[Progress], None] | None = None,
) -> Published:
    """Read the policy's source, run all stages in memory, publish.

    Args:
        observe: called when a stage begins, and now and then with how far a search is.
        archive: keeps the memory of what was published, such as `publish.accounting.archive.VaultArchive`;
            needed with ``record_key``.
        reported: called with the internal report (private) once the release is published.
        witness: called with the private tables and the memory that the gate is about to judge.
        second_lock: called with a report that has passed, before anything is written; raises to refuse.
        told: deprecated, as ``searching`` is: called with the name of each stage. Use ``observe``.
        searching: called now and then with how far a search is.
    Returns:
        What was written; its ``report`` has all numbers, since who calls this has the originals. What may be
        published of it is its ``to_json()``. The vault keeps the numbers, too, see `publish.measurements`.
    Raises:
        InputError, InfeasibleError, PublishError: see the stages and `publish`.
        GateRefused: see `publish`; its ``advice`` says what to change in the policy.
        PolicyError: the policy contradicts itself, see `policy.contradictions`; questions stand in its file,
            see `policy.open_questions`; or it is weaker than a `policy.defaults.yaml` of the project accepts,
            see `policy.defaults_files`.
    """
    if told is not None or searching is not None:
        observe = observer_of(told, searching)
    asked = Request(policy, locations, partition, observe, archive, window_states(policy, locations))
    opened = _open(asked)
    read, means = read_input(asked, opened.booked, opens=opened)
    with opened.fail_on_error():
        deliverable = delivered_to(policy, locations, partition)
        refusals = before_noise(policy, locations.hierarchies, deliverable=deliverable)
        chain: Chain = run(  # each argument by itself: a call with ** would hold the personal data
            policy,
            read.pop(),
            means,
            without_identifiers=refusals.without_identifiers,
            worth_drawing=refusals.worth_drawing,
        )
        observe(Step("gate"))
        if witness is not None:
            witness(chain, means.memory)
        written = _publish_chain(asked, chain, draws=opened.draws, second_lock=second_lock)
        records = len(chain.k_anonymized.frame)
    if reported is not None:
        with private_stage("report"):
            reported(_internal_page(policy, written, chain, hierarchies=locations.hierarchies))
    del chain
    return_freed_memory(records)
    return written


def _open(asked: Request) -> Opening:
    """Refuse what can be refused before anything is read; return the release in the ledger, and its draws."""
    policy, locations, partition = asked.policy, asked.locations, asked.partition
    refuse_open_questions(policy.open_questions)
    refuse_early(policy, locations, partition, asked.archive)
    with private_stage("ledger"):
        booked = booking(policy, locations, partition=partition)
    opened = Opening(booked, draws_of(policy, locations, partition))
    with private_stage("destination"):
        refuse_what_cannot_be_published(policy, locations, partition=partition)
    return opened


def read_input(asked: Request, booked: Booking, *, opens: Opens | None = None) -> tuple[list[Table], Means]:
    """Read what the stages begin with: the personal data, the key, and what was published before.

    Args:
        booked: the release in the ledger.
        opens: finds or makes the draw; None: a fresh one, which is booked nowhere.
    Returns:
        The (n, columns) data, alone in a list: who takes it out leaves nobody who holds the personal data
        once it is de-identified. And what else the stages need.
    Raises:
        InputError: one of them cannot be read.
    """
    policy, locations, partition = asked.policy, asked.locations, asked.partition
    with private_stage("key"):
        key = hashing_key(policy, folder=locations.sources)
    means = Means(
        locations.hierarchies,
        key,
        system_entropy(),
        opens=opens,
        observe=asked.observe,
        where=Where(None, policy.name, partition),
    )
    asked.observe(Step("source"))
    with private_stage("source"):
        read = partial(read_source, policy, folder=locations.sources, partition=partition)
        if asked.waiting is not None:
            deployment = deployment_of(policy, locations, booked)
            table = window_table(policy, partition, read, asked.waiting, means, deployment)
            refuse_too_few(policy, len(table))
        else:
            table = read()
        table = pack_large(table)
    return_freed_memory(len(table))
    memory = None if asked.archive is None else read_memory(asked.archive, booked, partition)
    return [table], replace(means, memory=memory)


def _publish_chain(
    asked: Request, chain: Chain, *, draws: Draws, second_lock: Callable[[GateReport], None]
) -> Published:
    """Publish what the stages made; a refusal says what to change in the policy."""
    policy, locations, partition = asked.policy, asked.locations, asked.partition
    advising = with_advice(policy, locations, partition=partition, observe=asked.observe)
    with private_stage("published"), advising:
        return publish(
            chain.suppressed,
            chain.k_anonymized.frame,
            policy,
            locations=locations,
            partition=partition,
            second_lock=second_lock,
            archive=asked.archive,
            draws=draws,
            measured=measured_of(policy, locations, partition),
        )


def _internal_page(policy: Policy, written: Published, chain: Chain, *, hierarchies: Path) -> bytes:
    """Return the internal report of a release that was just published."""
    released, originals = chain.suppressed.frame, chain.k_anonymized.frame
    exact = Exact(chain.suppressed.facts, written.report)
    return internal_report(
        policy, written.manifest, released, originals, hierarchies=hierarchies, exact=exact
    )
