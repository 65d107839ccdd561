"""Making an ε-DP release: read, code, book, draw, make records, judge, write.

Retries have the same noise: the key of a draw is sealed in the vault and booked before it is used, found
again by its input, and destroyed once the release is published.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from anon_pipeline.epsilon_dp.domain_codes import domain_codes
from anon_pipeline.epsilon_dp.dp_gate import judge_release, refuse_errors
from anon_pipeline.epsilon_dp.dp_manifest import dp_manifest, dp_policy_bytes
from anon_pipeline.epsilon_dp.dp_report import dp_report
from anon_pipeline.epsilon_dp.methods import method_of, noisy_table
from anon_pipeline.ledger import Asked, exact_text, ledger_at
from anon_pipeline.ledger.requests import columns_digest
from anon_pipeline.limits.verdicts import GateReport
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.entropy import Entropy, system_entropy
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import OFF, Locations
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

ACCOUNT = "epsilon_dp:"
"""Begins the name of a dataset in the ledger: a policy's own cannot have a colon, so that ε of these releases
is never added to the ε of others.
"""


@dataclass(frozen=True, slots=True, eq=False)
class DpPublished:
    """An ε-DP release that was written: its files, its manifest, the gate's report."""

    path: Path
    manifest_path: Path
    report_path: Path
    manifest: Mapping[str, Any]
    report: GateReport


@dataclass(frozen=True, slots=True, eq=False)
class DpDraft:
    """An ε-DP release that is drawn and judged, and not yet written.

    frame: (n, columns) as it is read back from the bytes.
    data: the bytes of the data file.
    report: the gate's, on these bytes.
    release_id: None without a ledger.
    """

    policy: EpsilonDpPolicy
    locations: Locations
    opened: Opening
    frame: pd.DataFrame = field(repr=False)
    data: bytes = field(repr=False)
    report: GateReport
    release_id: str | None


def asked_by(policy: EpsilonDpPolicy) -> Asked:
    """Return what an ε-DP release enters into the ledger: its ε, in an account of its own."""
    return Asked(
        ACCOUNT + (policy.dataset or policy.name),
        policy.name,
        None,
        policy.digest,
        policy.digest,
        1,
        exact_text(exact_fraction(policy.epsilon)),
        policy.budget,
        source_columns=columns_digest(policy.columns),
    )


def dp_booking(policy: EpsilonDpPolicy, locations: Locations, *, run: str = "") -> Booking:
    """Open the deployment's ledger for an ε-DP release.

    Raises:
        PolicyError: the policy has a budget, and the deployment keeps no ledger.
    """
    if locations.ledger == OFF and policy.budget is not None:
        raise PolicyError("budget: needs the ledger, and ANON_PIPELINE_LEDGER is off. Leave one of them out.")
    ledger = None if locations.ledger == OFF else ledger_at(locations.ledger, run=run)
    return Booking(asked_by(policy), locations.release(policy), ledger)


def make_dp_release(
    policy: EpsilonDpPolicy, locations: Locations, *, observe: Observer = ignore
) -> DpPublished:
    """Read the policy's source, make records with noise, publish them if the gate passes.

    Args:
        observe: called when a step begins.
    Raises:
        GateRefused, InputError, PublishError, PolicyError: see `draw_dp_release` and `publish_dp_release`.
    """
    draft = draw_dp_release(policy, locations, observe=observe)
    observe(Step("published"))
    return publish_dp_release(draft)


def draw_dp_release(
    policy: EpsilonDpPolicy,
    locations: Locations,
    *,
    observe: Observer = ignore,
    entropy: Entropy | None = None,
    read: Callable[[], Table] | None = None,
    run: str = "",
) -> DpDraft:
    """Read the policy's source, book ε, draw the noise, make records of it and judge them.

    Args:
        observe: called when a step begins.
        entropy: where keys come from; default: the operating system. The gate refuses what has a seed.
        read: reads the table in another way than the policy's ``source`` says.
        run: of the orchestrator, for the owner of the entries in the ledger.
    Raises:
        GateRefused: the expected error is too large, or ε is beyond the budget.
        InputError: the source cannot be read, or lacks columns or records.
        PublishError: the destination is private or cannot be written.
        PolicyError: a budget without a ledger.
    """
    _refuse_early(policy, locations)
    with private_stage("ledger"):
        booked = dp_booking(policy, locations, run=run)
        booked.find()
    draws = Draws(policy.name, None, locations.vault, partial(vault_of, locations), locations.project)
    opened = Opening(booked, draws, entropy or system_entropy())
    observe(Step("source"))
    with private_stage("source"):
        table = read_source(policy, folder=locations.sources) if read is None else read()
        codes = domain_codes(policy, table)
        del table
    refuse_errors(policy, len(codes))
    method_of(policy).refuses(policy, len(codes), exact_fraction(policy.epsilon))
    with opened.fail_on_error():
        observe(Step("noise"))
        drawn = opened(exact_fraction(policy.epsilon), _digest_codes(codes))
        with private_stage("noise"):
            frame = noisy_table(policy, codes, drawn.key)
        observe(Step("gate"))
        with private_stage("gate"):
            found, data = _bytes_of(policy, frame)
            report = judge_release(policy, found, len(codes), seeded=drawn.key.seeded)
    return DpDraft(policy, locations, opened, found, data, report, drawn.release_id)


def publish_dp_release(draft: DpDraft) -> DpPublished:
    """Write a release if the gate has passed it, and destroy the key of its noise.

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


def _refuse_early(policy: EpsilonDpPolicy, locations: Locations) -> None:
    """Refuse what can be refused before anything is read."""
    locations.confine(policy)
    refuse_private_place(policy, locations)
    prepare(locations.release(policy), policy.name)
    signing_key(policy.publish.sign, folder=locations.sources)
    if policy.records is not None:
        refuse_errors(policy, policy.records)


def _digest_codes(codes: NDArray[np.int64]) -> str:
    """Return a digest of all that noise is added to; it stays in the vault."""
    head = f"codes 1 {codes.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(codes, "<i8").tobytes()).hexdigest()


def _bytes_of(policy: EpsilonDpPolicy, frame: pd.DataFrame) -> tuple[pd.DataFrame, bytes]:
    """Return a table as it is read back from the bytes that would be written, and these.

    Raises:
        PublishError: they do not read back as the table that was written.
    """
    (data,) = to_files(frame, policy.publish.format)
    found = from_files([data], policy.publish.format, like=frame)
    if digest_frame(found) != digest_frame(frame):
        raise PublishError(
            f"publish.format: {policy.publish.format} must keep the table as it is, and does not. "
            "Use another format."
        )
    return found, data


def _write(draft: DpDraft) -> DpPublished:
    """Write a release that has passed, under the ledger's fence."""
    policy, booked, frame = draft.policy, draft.opened.booked, draft.frame
    file = data_file(policy.name, policy.publish.format, draft.data, len(frame), column_types(frame))
    document = dp_manifest(
        policy,
        draft.report,
        files=[file.described],
        records=len(frame),
        release_id=draft.release_id,
        made=datetime.now(UTC),
    )
    rows = None if booked.ledger is None else canonical_form(frame).digest
    epsilon = Fraction(booked.asked.epsilon)
    with booked.writing(draft.release_id, draft.report.data_digest, epsilon, rows_digest=rows) as fence:
        final = write_release(
            booked.folder,
            [file],
            document,
            wait=policy.publish.wait,
            key=signing_key(policy.publish.sign, folder=draft.locations.sources),
            page=lambda manifest: dp_report(policy, manifest, frame),
            policy=dp_policy_bytes(policy),
            fence=fence,
        )
    return DpPublished(
        booked.folder / file.described.name,
        booked.folder / MANIFEST,
        booked.folder / final["report"]["name"],
        final,
        draft.report,
    )
