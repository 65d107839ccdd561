"""Making a release with declared columns: read, code, book, draw, make records, judge, write.

Retries have the same noise: the key of a draw is sealed in the vault and booked before it is used, found
again by its input, and destroyed once the release is published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import PolicyError, PublishError, private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.declared.declared_manifest import (
    declared_manifest,
    declared_policy_bytes,
    digest_of_tables,
)
from anon_pipeline.declared.declared_report import declared_report
from anon_pipeline.declared.domain_codes import domain_codes, people_of, refuse_unread
from anon_pipeline.declared.parts import Release, parts_of
from anon_pipeline.declared.released_once import refuse_another
from anon_pipeline.ledger import Asked, exact_text, ledger_at
from anon_pipeline.ledger.kinds import account_name
from anon_pipeline.ledger.requests import columns_digest
from anon_pipeline.ledger.same_people import published_epsilon
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.perturb.entropy import Entropy, system_entropy
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.locations import OFF, Locations
from anon_pipeline.policy.open_questions import refuse_open_questions
from anon_pipeline.publish.accounting.booking import Booking
from anon_pipeline.publish.destination import refuse_private_place
from anon_pipeline.publish.draws.draw_keys import Draws
from anon_pipeline.publish.draws.drawing import Opening, forget_published
from anon_pipeline.publish.file_formats import column_types, from_files, to_files
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.manifest.signatures import signing_key
from anon_pipeline.publish.writer import data_file, prepare, write_release
from anon_pipeline.sources import read_source
from anon_pipeline.vault.artifacts import vault_of


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredPublished:
    """A release that was written: its files, its manifest, the gate's report.

    paths: of the data files, at least one.
    """

    paths: tuple[Path, ...]
    manifest_path: Path
    report_path: Path
    manifest: Mapping[str, Any]
    report: GateReport


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A release that is drawn and judged, and not yet written.

    tables: as they are read back from the bytes.
    data: the bytes of each data file.
    report: the gate's, on these bytes.
    release_id: None without a ledger.
    """

    policy: DeclaredRelease
    locations: Locations
    opened: Opening
    tables: Sequence[pd.DataFrame] = field(repr=False)
    data: Sequence[bytes] = field(repr=False)
    records: int
    report: GateReport
    release_id: str | None


def account_of(policy: DeclaredRelease) -> str:
    """Return the name of a policy's dataset in the ledger."""
    return account_name(policy.kind, policy.dataset or policy.name)


def asked_by(policy: DeclaredRelease) -> Asked:
    """Return what a release enters into the ledger: its ε, in an account of its kind."""
    return Asked(
        account_of(policy),
        policy.name,
        None,
        policy.digest,
        policy.digest,
        1,
        exact_text(parts_of(policy.kind).epsilon(policy)),
        policy.budget,
        source_columns=columns_digest(policy.columns),
    )


def declared_booking(policy: DeclaredRelease, locations: Locations, *, run: str = "") -> Booking:
    """Open the deployment's ledger for a release.

    Raises:
        PolicyError: the policy has a budget, and the deployment keeps no ledger.
    """
    if locations.ledger == OFF and policy.budget is not None:
        raise PolicyError("budget: needs the ledger, and ANON_PIPELINE_LEDGER is off. Leave one of them out.")
    ledger = None if locations.ledger == OFF else ledger_at(locations.ledger, run=run)
    return Booking(asked_by(policy), locations.release(policy), ledger)


def make_declared_release(
    policy: DeclaredRelease, locations: Locations, *, observe: Observer = ignore
) -> DeclaredPublished:
    """Read the policy's source, make the released records, publish them if the gate passes.

    Args:
        observe: called when a step begins.
    Raises:
        GateRefused, InputError, PublishError, PolicyError: see `draw_release` and `publish_draft`.
    """
    draft = draw_release(policy, locations, observe=observe)
    observe(Step("published"))
    return publish_draft(draft)


def draw_release(
    policy: DeclaredRelease,
    locations: Locations,
    *,
    observe: Observer = ignore,
    entropy: Entropy | None = None,
    read: Callable[[], Table] | None = None,
    run: str = "",
) -> Draft:
    """Read the policy's source, book what is spent, draw the released records and judge them.

    Args:
        observe: called when a step begins.
        entropy: where keys come from; default: the operating system. The gate refuses what has a seed.
        read: reads the table in another way than the policy's ``source`` says.
        run: of the orchestrator, for the owner of the entries in the ledger.
    Raises:
        GateRefused: refused whatever would be drawn, or ε is beyond the budget.
        InputError: the source cannot be read, or lacks columns or records.
        PublishError: the destination is private or cannot be written.
        PolicyError: a budget without a ledger, or questions stand in the policy's file.
    """
    refuse_open_questions(policy.open_questions)
    parts = parts_of(policy.kind)
    refuse_unpublishable(policy, locations)
    with private_stage("ledger"):
        booked = declared_booking(policy, locations, run=run)
        booked.find()
        refuse_another(policy, booked)
    draws = Draws(policy.name, None, locations.vault, partial(vault_of, locations), locations.project)
    opened = Opening(booked, draws, entropy or system_entropy(), keeps=True)
    observe(Step("source"))
    with private_stage("source"):
        table = read_source(policy, folder=locations.sources) if read is None else read()
        codes, people = domain_codes(policy, table), people_of(policy, table)
        if not parts.epsilon(policy):
            refuse_unread(policy, table)
        del table
    parts.refuses(policy, len(codes))
    with opened.fail_on_error():
        observe(Step("draw"))
        drawn = opened(Fraction(booked.asked.epsilon), _digest_codes(codes))
        with private_stage("draw"):
            made = parts.makes(policy, codes, drawn.key)
        observe(Step("gate"))
        earlier = earlier_epsilon(booked, but=drawn.release_id)
        known = Release((), len(codes), codes, drawn.key.seeded, earlier, people)
        tables, data, report = judge_files(policy, made, known)
    return Draft(policy, locations, opened, tables, data, len(codes), report, drawn.release_id)


def publish_draft(draft: Draft) -> DeclaredPublished:
    """Write a release if the gate has passed it, and destroy the key of its draw.

    Raises:
        GateRefused: it has not; or the ledger does not let it be written.
        PublishError: the destination cannot be written, or another run holds it.
    """
    with draft.opened.fail_on_error():
        refuse_unless_passed(draft.report, drawn=True)
        with private_stage("published"):
            written = _write(draft)
    with private_stage("published"):
        forget_published(draft.opened.draws)
    return written


def refuse_unpublishable(policy: DeclaredRelease, locations: Locations) -> None:
    """Refuse what can be refused before anything is read.

    Raises:
        PublishError: the destination is private or cannot be written.
        InputError: a path outside of its folder; no usable key for the signature.
        GateRefused: refused whatever would be drawn, by the number of records that the policy states.
    """
    locations.confine(policy)
    refuse_private_place(policy, locations)
    prepare(locations.release(policy), policy.name)
    signing_key(policy.publish.sign, folder=locations.sources)
    if policy.records is not None:
        parts_of(policy.kind).refuses(policy, policy.records)


def earlier_epsilon(booked: Booking, *, but: str | None) -> Fraction | None:
    """Return the ε of the releases that were published before; None without a ledger, or without noise.

    Args:
        but: release that is left out.
    Raises:
        InputError: the ledger cannot be read.
    """
    if booked.ledger is None or not booked.noisy:
        return None
    with private_stage("ledger"):
        return published_epsilon(booked.ledger, booked.asked, but=but)


def judge_files(
    policy: DeclaredRelease, made: Sequence[pd.DataFrame], known: Release
) -> tuple[list[pd.DataFrame], list[bytes], GateReport]:
    """Judge the tables of a release by the bytes that would be written.

    Args:
        made: the tables that were drawn.
        known: where they come from, without tables.
    Returns:
        the tables as they are read back, their bytes, the gate's report.
    Raises:
        PublishError: they do not read back as they were.
    """
    with private_stage("gate"):
        tables, data = _bytes_of(policy, made)
        verdicts = tuple(parts_of(policy.kind).judges(policy, replace(known, tables=tables)))
        return tables, data, GateReport(verdicts, digest_of_tables(tables), policy.digest)


def _digest_codes(codes: NDArray[np.int64]) -> str:
    """Return a digest of all that is drawn from; it stays in the vault."""
    head = f"codes 1 {codes.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(codes, "<i8").tobytes()).hexdigest()


def _bytes_of(
    policy: DeclaredRelease, made: Sequence[pd.DataFrame]
) -> tuple[list[pd.DataFrame], list[bytes]]:
    """Return tables as they are read back from the bytes that would be written, and these.

    Raises:
        PublishError: they do not read back as the tables that were written.
    """
    form, found, written = policy.publish.format, list[pd.DataFrame](), list[bytes]()
    for frame in made:
        (data,) = to_files(frame, form)
        found.append(from_files([data], form, like=frame))
        written.append(data)
        if digest_frame(found[-1]) != digest_frame(frame):
            raise PublishError(
                f"publish.format: {form} must keep the table as it is, and does not. Use another format."
            )
    return found, written


def _write(draft: Draft) -> DeclaredPublished:
    """Write a release that has passed, under the ledger's fence."""
    policy, booked, tables = draft.policy, draft.opened.booked, draft.tables
    files = [
        data_file(policy.name, policy.publish.format, data, len(frame), column_types(frame))
        for frame, data in zip(tables, draft.data, strict=True)
    ]
    document = declared_manifest(
        policy,
        draft.report,
        files=[file.described for file in files],
        records=draft.records,
        release_id=draft.release_id,
        made=datetime.now(UTC),
    )
    rows = None if booked.ledger is None or len(tables) > 1 else canonical_form(tables[0]).digest
    epsilon = Fraction(booked.asked.epsilon)
    with booked.writing(draft.release_id, draft.report.data_digest, epsilon, rows_digest=rows) as fence:
        final = write_release(
            booked.folder,
            files,
            document,
            wait=policy.publish.wait,
            key=signing_key(policy.publish.sign, folder=draft.locations.sources),
            page=lambda manifest: declared_report(policy, manifest, tables),
            policy=declared_policy_bytes(policy),
            fence=fence,
        )
    return DeclaredPublished(
        tuple(booked.folder / name for name in dict.fromkeys(file.described.name for file in files)),
        booked.folder / MANIFEST,
        booked.folder / final["report"]["name"],
        final,
        draft.report,
    )
