"""Publishing: the gate judges the very bytes, and only what passes is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import ANOTHER_DRAW, GateRefused, PublishError
from anon_pipeline.base.threads import side_by_side
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.facts.check import checked_facts
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.ledger import exact_text
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.booking import booking, epsilon_in, with_release_id
from anon_pipeline.publish.delivering import deliver_published
from anon_pipeline.publish.destination import refuse_private_place
from anon_pipeline.publish.draw_keys import Draws
from anon_pipeline.publish.drawing import forget_published
from anon_pipeline.publish.file_formats import column_types, file_types, from_bytes, to_bytes
from anon_pipeline.publish.lapsed import refuse_lapsed
from anon_pipeline.publish.manifest import MANIFEST, ReleaseFile, manifest
from anon_pipeline.publish.measured import Measured
from anon_pipeline.publish.policy_beside import policy_bytes
from anon_pipeline.publish.signing import signing_key
from anon_pipeline.publish.writer import Page, data_file, prepare, write_release
from anon_pipeline.report import public_report
from anon_pipeline.sources.population import Population, read_population
from anon_pipeline.stages.history.archive import Archive, refuse_unless_archived
from anon_pipeline.stages.history.memory import Memory, Past, remember
from anon_pipeline.stages.history.sticky import spent_since
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Staged


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A release as the bytes that would be written, with the gate's report on them.

    frame: (r, columns) the table read back from ``data``.
    data: bytes of the file.
    file: its description.
    report: verdicts on ``frame``.
    """

    frame: pd.DataFrame = field(repr=False)
    data: bytes = field(repr=False)
    file: ReleaseFile
    report: GateReport


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A release that was written: the paths of its files, its manifest, the gate's report.

    report: with all numbers, for the curator; what may be published of it is its ``to_json()``.
    report_path: the page for people, see `anon_pipeline.report`.
    """

    path: Path
    manifest_path: Path
    report_path: Path
    manifest: Mapping[str, Any]
    report: GateReport


def judge(  # noqa: PLR0913 - what is judged, by what, and where it belongs
    released: Staged,
    originals: pd.DataFrame,
    policy: Policy,
    *,
    hierarchies: Path,
    memory: Memory | None = None,
    population: Population | None = None,
    where: Where | None = None,
) -> Judged:
    """Turn a table into bytes, read them back, and let the gate judge what was read.

    Args:
        released: the suppressed table, with private columns, and the facts of every stage.
        originals: (n, columns) the table of `k_anonymized`.
        memory: what was published before; None without ``record_key``.
        population: needed with ``gate.attacks.population``.
        where: the tables must belong; None: in memory, a release of one piece.
    Raises:
        PublishError: the bytes do not read back as the table that was written.
    """
    table = released.frame[policy.released]
    file_format, formulas = policy.publish.format, policy.publish.formulas
    data = to_bytes(table, file_format, formulas=formulas)
    back = from_bytes(data, file_format, like=table, formulas=formulas)
    if digest_frame(back) != digest_frame(table):
        raise PublishError(f"the {file_format} file must read back as it was written; it does not")
    with_ids = back.assign(**{RECORD: released.frame[RECORD].to_numpy()})
    report = evaluate(
        with_ids,
        policy,
        released.facts,
        originals=originals,
        hierarchies=hierarchies,
        memory=memory,
        population=population,
        descent=Descent(released.frame, released.lineage, where or Where(None, policy.name)),
    )
    file = data_file(policy.name, file_format, data, len(back))
    types = file_types(data, file_format) if RELEASE_FORMATS[file_format].typed else column_types(back)
    typed = replace(file, types=types)
    return Judged(back, data, typed, report)


def refuse_unless_passed(report: GateReport, *, drawn: bool = False, kept: str | None = None) -> None:
    """Raise unless every limit was measured and kept.

    Args:
        drawn: whether noise was drawn and paid for, which another policy would be once more.
        kept: where the curator finds what was measured; None: nowhere but in the error's ``report``.
    Raises:
        GateRefused: naming each limit that was not, with its bound, and not by how much.
    """
    if report.passed:
        return
    lines = [v.as_text() for v in report.unkept]
    if kept is not None:
        lines.append(f"({kept})")
    if drawn:
        lines.append(f"({ANOTHER_DRAW})")
    raise GateRefused("The gate refused the release:\n" + "\n".join(lines), report, kept=kept)


@contextmanager
def _held(archive: Archive | None, policy: Policy, partition: str | None) -> Iterator[Memory | None]:
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
def _remembering(archive: Archive | None, memory: Memory | None) -> Iterator[None]:
    """Keep a memory beside the one before while its release is written, and in its place once it is."""
    if archive is None or memory is None:
        yield
        return
    archive.stage(memory)
    yield
    archive.commit()


def _passed(  # noqa: PLR0913 - what is judged, by what, where it belongs, who learns what was measured
    released: Staged,
    originals: pd.DataFrame,
    policy: Policy,
    *,
    locations: Locations,
    memory: Memory | None,
    where: Where,
    measured: Measured | None,
) -> Judged:
    """Judge a release where it lies and refuse it unless it passes; what was measured goes to the curator."""
    judged = judge(
        released,
        originals,
        policy,
        hierarchies=locations.hierarchies,
        memory=memory,
        population=read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies),
        where=where,
    )
    kept = None
    if measured is not None and judged.report.passed:
        measured.keep(judged.report, released.facts)
    elif measured is not None:
        kept = measured.keep_refused(judged.report, released.facts)
    refuse_unless_passed(judged.report, drawn=bool(policy.noisy), kept=kept)
    return judged


def _refuse_if_more(
    epsilon: Fraction, released: Staged, originals: pd.DataFrame, policy: Policy, *, memory: Memory | None
) -> None:
    """Refuse a sticky release that spends more than it was opened with: facts or memory are others."""
    if memory is None or policy.perturb is None or policy.perturb.republish == "fresh":
        return
    spent = spent_since(memory, policy, originals, records=released.frame[RECORD])
    if spent > epsilon:
        raise GateRefused(
            f"sticky: the release spends ε = {exact_text(spent)}, and was opened with {exact_text(epsilon)}. "
            f"Materialize perturbed again."
        )


def _page(policy: Policy, document: Mapping[str, Any], frame: pd.DataFrame) -> Page:
    """Make the report before anything is written; once more only if the manifest's time has to change."""
    early = public_report(policy, document, frame)

    def page(final: Mapping[str, Any]) -> bytes:
        if final == document:
            return early
        refuse_lapsed(final, policy, frame)
        return public_report(policy, final, frame)

    return page


def _described(
    policy: Policy, document: Mapping[str, Any], frame: pd.DataFrame, *, booked: bool
) -> tuple[Page, str | None]:
    """Return the report of a release, and the digest of its records in any order, which the ledger has."""
    tasks: list[Callable[[], Any]] = [partial(_page, policy, document, frame)]
    if booked:
        tasks.append(lambda: canonical_form(frame).digest)
    page, *rows = side_by_side(tasks, records=len(frame))
    return page, rows[0] if rows else None


def publish(  # noqa: PLR0913 - what is released, by what rules, to where, under which locks
    released: Staged,
    originals: pd.DataFrame,
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
        GateRefused: a limit was not kept or not measured, or the budget is spent; nothing is written.
        InputError: facts that no stage writes; the ledger cannot be written, the population cannot be read,
            or the policy signs and there is no usable key.
        PublishError: the destination is private or cannot be written, or another run holds it; see
            `write_release`. ``in_place``: it was published, and not delivered.
    """
    locations.confine(policy, partition)
    refuse_private_place(policy, locations)
    key = signing_key(policy.publish.sign, folder=locations.sources)
    booked = booking(policy, locations, partition=partition)
    facts, release_id = with_release_id(checked_facts(policy, released.facts), ledger=booked.ledger)
    named, ids = replace(released, facts=facts), released.frame[RECORD].to_numpy()
    with booked.failing(release_id):
        epsilon = epsilon_in(policy, facts)
        booked.refuse_another(release_id, epsilon)
        prepare(booked.folder, policy.name)
    with booked.failing(release_id), _held(archive, policy, partition) as memory:
        where = Where(project, policy.name, partition)
        judged = _passed(
            named,
            originals,
            policy,
            locations=locations,
            memory=memory,
            where=where,
            measured=measured,
        )
        _refuse_if_more(epsilon, named, originals, policy, memory=memory)
        second_lock(judged.report)
        made = (datetime.now(UTC), partition)
        document = manifest(policy, judged.report, facts, file=judged.file, made=made)
        digest = judged.report.data_digest
        past, table = Past(digest, partition, release_id), judged.frame.assign(**{RECORD: ids})
        known = None if memory is None else remember(memory, policy, table, originals, past=past)
        with _remembering(archive, known):
            page, rows = _described(policy, document, judged.frame, booked=booked.ledger is not None)
            with booked.writing(release_id, digest, epsilon, rows_digest=rows) as fence:
                written = write_release(
                    booked.folder,
                    judged.file,
                    judged.data,
                    document,
                    wait=policy.publish.wait,
                    key=key,
                    page=page,
                    policy=policy_bytes(policy),
                    fence=fence,
                )
    forget_published(draws)
    deliver_published(policy, locations, partition=partition)
    return _published(booked.folder, judged, written)


def _published(folder: Path, judged: Judged, document: Mapping[str, Any]) -> Published:
    return Published(
        path=folder / judged.file.name,
        manifest_path=folder / MANIFEST,
        report_path=folder / document["report"]["name"],
        manifest=document,
        report=judged.report,
    )
