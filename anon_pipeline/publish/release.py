"""Publishing: only what the gate passes is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.base.packed_tables import Table, with_column_of
from anon_pipeline.base.threads import side_by_side_unless_huge
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.gate import GateReport
from anon_pipeline.ledger import exact_text
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.open_questions import refuse_open_questions
from anon_pipeline.publish.accounting.booking import Booking, booking, epsilon_in, with_release_id
from anon_pipeline.publish.deliver.delivery import deliver_published
from anon_pipeline.publish.destination import refuse_private_place
from anon_pipeline.publish.draws.draw_keys import Draws
from anon_pipeline.publish.draws.drawing import forget_published
from anon_pipeline.publish.judgment import Judged, judge, refuse_unless_passed
from anon_pipeline.publish.manifest.acknowledgement_dates import refuse_lapsed
from anon_pipeline.publish.manifest.manifest import MANIFEST, manifest
from anon_pipeline.publish.manifest.signatures import signing_key
from anon_pipeline.publish.measurements import Measured
from anon_pipeline.publish.policy_file import policy_bytes
from anon_pipeline.publish.stream_turns import has_streamed
from anon_pipeline.publish.writer import Page, prepare, write_release
from anon_pipeline.report import public_report
from anon_pipeline.sources.population import read_population
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.history.archive import Archive, refuse_unless_archived
from anon_pipeline.stages.history.memory import Memory, Past, remember
from anon_pipeline.stages.history.sticky import spent_since
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import Staged
from anon_pipeline.windows.window_states import window_states
from anon_pipeline.windows.window_table import refuse_former_stream


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A release that was written: the paths of its files, its manifest, the gate's report.

    paths: of the data files, each once; at least one.
    report: with all numbers, for the curator; what may be published of it is its ``to_json()``.
    report_path: the page for people, see `anon_pipeline.report`.
    frame: (r, columns) the table that was judged, read back from the bytes of the data files.
    """

    paths: tuple[Path, ...]
    manifest_path: Path
    report_path: Path
    manifest: Mapping[str, Any]
    report: GateReport
    frame: Table = field(repr=False)

    @property
    def path(self) -> Path:
        """The data file, of a release in several files the first one."""
        return self.paths[0]


@contextmanager
def _hold_memory(archive: Archive | None, policy: Policy, partition: str | None) -> Iterator[Memory | None]:
    """Hold the memory from before it is judged by until it is written; None without ``record_key``.

    Raises:
        InputError: ``record_key`` without an archive, or an archive without it.
    """
    refuse_unless_archived(policy, archive)
    if archive is None:
        yield None
        return
    with archive.alone():
        yield archive.read(partition)


@contextmanager
def _stage_memory(archive: Archive | None, memory: Memory | None) -> Iterator[None]:
    """Keep a new memory next to the old one while its release is written; then replace the old one."""
    if archive is None or memory is None:
        yield
        return
    archive.stage(memory)
    yield
    archive.commit()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Task:
    """A release that is about to be published.

    released: the suppressed table, with the facts of every stage.
    originals: (n, columns) the table of `k_anonymized`.
    partition: None for a release of one piece.
    booked: where the ledger has it.
    release_id: None without a ledger.
    epsilon: that it was opened with.
    """

    policy: Policy
    released: Staged
    originals: Table
    locations: Locations
    partition: str | None
    booked: Booking
    release_id: str | None
    epsilon: Fraction


def _require_pass(
    task: _Task, *, memory: Memory | None, project: str | None, measured: Measured | None
) -> Judged:
    """Judge a release where it lies and refuse it unless it passes; what was measured goes to the curator."""
    policy, locations = task.policy, task.locations
    judged = judge(
        task.released,
        task.originals,
        policy,
        hierarchies=locations.hierarchies,
        memory=memory,
        population=read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies),
        where=Where(project, policy.name, task.partition),
        in_ledger=task.booked.in_ledger(task.release_id),
    )
    kept = None
    if measured is not None and judged.report.passed:
        measured.keep(judged.report, task.released.facts)
    elif measured is not None:
        kept = measured.keep_refused(judged.report, task.released.facts)
    refuse_unless_passed(judged.report, drawn=bool(policy.noisy), kept=kept)
    return judged


def _refuse_if_more(task: _Task, memory: Memory | None) -> None:
    """Refuse a sticky release that spends more than it was opened with: facts or memory are others."""
    policy = task.policy
    if memory is None or policy.perturb is None or policy.perturb.republish == "fresh":
        return
    spent = spent_since(memory, policy, task.originals, records=task.released.frame[RECORD])
    if spent > task.epsilon:
        raise GateRefused(
            f"sticky: the release spends ε = {exact_text(spent)}, and was opened with "
            f"{exact_text(task.epsilon)}. Materialize perturbed again."
        )


def _page(policy: Policy, document: Mapping[str, Any], frame: Table) -> Page:
    """Make the report before anything is written; once more only if the manifest's time has to change."""
    early = public_report(policy, document, frame)

    def page(final: Mapping[str, Any]) -> bytes:
        """Return the report for a manifest, in UTF-8: the one made before if its manifest stayed."""
        if final == document:
            return early
        refuse_lapsed(final, policy, frame)
        return public_report(policy, final, frame)

    return page


def _describe(
    policy: Policy, document: Mapping[str, Any], frame: Table, *, booked: bool
) -> tuple[Page, str | None]:
    """Return the report of a release, and the digest of its records in any order, which the ledger has."""
    tasks: list[Callable[[], Any]] = [partial(_page, policy, document, frame)]
    if booked:
        tasks.append(lambda: canonical_form(frame).digest)
    page, *rows = side_by_side_unless_huge(tasks, records=len(frame))
    return page, rows[0] if rows else None


def publish(  # noqa: PLR0913 - what is released, by what rules, to where, under which locks
    released: Staged,
    originals: Table,
    policy: Policy,
    *,
    locations: Locations,
    partition: str | None = None,
    second_lock: Callable[[GateReport], None] = lambda report: None,
    archive: Archive | None = None,
    draws: Draws | None = None,
    project: str | None = None,
    measured: Measured | None = None,
) -> Published:
    """Judge a table and write it if the gate passes it; there is no way to hand in a verdict.

    Args:
        released: the suppressed table with its private columns, and the facts of every stage.
        originals: (n, columns) the table of `k_anonymized`.
        second_lock: called with a report that has passed; raises to refuse all the same.
        archive: keeps the memory of what was published; needed with ``record_key``. It learns of this release
            when, and only when, it is published.
        draws: where the key of the noise is; it is destroyed once the release is published, and so are
            those of earlier draws for this place.
        measured: keeps all that the gate measured, of refused releases, too; None: it is not kept.
        project: id of the one whose vault the tables come from; None for tables that were kept in memory.
    Raises:
        GateRefused: a limit was not kept or not measured, or the budget is spent; nothing is published.
        InputError: facts that no stage writes; the ledger cannot be written, the population cannot be read,
            or the policy signs and there is no usable key.
        PolicyError: questions of `init` stand in the policy's file.
        PublishError: the destination is private or cannot be written, or another run holds it; see
            `write_release`. ``in_place``: it was published, and not delivered.
    """
    refuse_open_questions(policy.open_questions)
    locations.confine(policy, partition)
    refuse_private_place(policy, locations)
    booked = booking(policy, locations, partition=partition)
    waiting = window_states(policy, locations, opens=None if draws is None else draws.opens)
    refuse_former_stream(policy, waiting, partial(has_streamed, policy, locations, booked))
    key = signing_key(policy.publish.sign, folder=locations.sources)
    facts, release_id = with_release_id(checked_facts(policy, released.facts), ledger=booked.ledger)
    with booked.fail_on_error(release_id):
        epsilon = _prepare(booked, policy, facts, release_id=release_id)
        named = replace(released, facts=facts)
        task = _Task(policy, named, originals, locations, partition, booked, release_id, epsilon)
    with booked.fail_on_error(release_id), _hold_memory(archive, policy, partition) as memory:
        judged = _require_pass(task, memory=memory, project=project, measured=measured)
        _refuse_if_more(task, memory)
        second_lock(judged.report)
        written = _write(task, judged, archive=archive, memory=memory, key=key)
    forget_published(draws)
    deliver_published(policy, locations, partition=partition)
    return _publication(booked.folder, judged, written)


def _prepare(booked: Booking, policy: Policy, facts: Facts, *, release_id: str | None) -> Fraction:
    """Prepare the folder of a release that is still open; return the ε that it was opened with."""
    epsilon = epsilon_in(policy, facts)
    booked.refuse_another(release_id, epsilon)
    prepare(booked.folder, policy.name)
    return epsilon


def _remember(task: _Task, judged: Judged, memory: Memory) -> Memory:
    """Return the memory with this release."""
    table = with_column_of(judged.frame, task.released.frame, RECORD)
    past = Past(judged.report.data_digest, task.partition, task.release_id)
    return remember(memory, task.policy, table, task.originals, past=past)


def _write(
    task: _Task,
    judged: Judged,
    *,
    archive: Archive | None,
    memory: Memory | None,
    key: Ed25519PrivateKey | None,
) -> Mapping[str, Any]:
    """Write a release that has passed, under the ledger's fence; return its manifest."""
    policy, booked, digest = task.policy, task.booked, judged.report.data_digest
    made = (datetime.now(UTC), task.partition)
    document = manifest(
        policy, judged.report, task.released.facts, files=[file.described for file in judged.files], made=made
    )
    known = None if memory is None else _remember(task, judged, memory)
    with _stage_memory(archive, known):
        page, rows = _describe(policy, document, judged.frame, booked=booked.ledger is not None)
        with booked.writing(task.release_id, digest, task.epsilon, rows_digest=rows) as fence:
            return write_release(
                booked.folder,
                judged.files,
                document,
                wait=policy.publish.wait,
                key=key,
                page=page,
                policy=policy_bytes(policy),
                fence=fence,
            )


def _publication(folder: Path, judged: Judged, document: Mapping[str, Any]) -> Published:
    return Published(
        paths=tuple(folder / name for name in dict.fromkeys(file.described.name for file in judged.files)),
        manifest_path=folder / MANIFEST,
        report_path=folder / document["report"]["name"],
        manifest=document,
        report=judged.report,
        frame=judged.frame,
    )
