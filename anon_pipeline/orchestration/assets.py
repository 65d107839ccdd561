"""The assets of one release: a stage each, from `raw` to `published`."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import private_stage
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.lock import checked_on_this_data
from anon_pipeline.orchestration.metadata import facts_metadata, report_metadata, sizes_table
from anon_pipeline.orchestration.partitions import partition_of_run
from anon_pipeline.orchestration.resources import VAULT, Folders
from anon_pipeline.orchestration.vault import (
    archive_in,
    check_retainable,
    draws_in,
    published_before,
    retain_by_policy,
    where_at,
)
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.beforehand import refuse_what_cannot_be_published
from anon_pipeline.publish.booking import Booking, booking, release_id_in
from anon_pipeline.publish.drawing import Opening
from anon_pipeline.report import class_sizes
from anon_pipeline.sources import read_source
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.stored import of_stage, trusted

_DESCRIPTIONS = {
    "raw": "The personal data, accepted: columns and types as the policy declares. Private.",
    "deidentified": "Direct identifiers removed, masked or hashed. Private.",
    "k_anonymized": "Quasi-identifiers generalized: each class has k records; suppressed ones are kept.",
    "perturbed": "Noise on the perturb columns, scaled to each class. Private.",
    "shuffled": "The records in an order that says nothing. Private.",
    "suppressed": "Without records that a confidence interval would single out; judged by the gate. Private.",
    "published": "The release: written only if the gate passes the bytes to be written.",
}


def stage_key(policy: Policy, stage: str) -> dg.AssetKey:
    """Return the key of a stage's asset: ``<release>/<stage>``."""
    return dg.AssetKey([policy.name, stage])


def build_assets(policy: Policy, partitions: dg.PartitionsDefinition | None) -> list[dg.AssetsDefinition]:
    """Return the seven assets of a release.

    Args:
        policy: what the release is.
        partitions: of the release; None for a release of one piece.
    """
    private = [_private(policy, partitions, stage, ins, work) for stage, (ins, work) in _WORK.items()]
    return [*private, _published(policy, partitions)]


@dataclass(frozen=True, slots=True)
class _At:
    """What a stage's work is done with: the policy, the deployment's folders, the run and its partition.

    vault: the IO manager of the private tables.
    """

    policy: Policy
    folders: Locations
    partition: str | None
    run: str
    vault: object

    def where(self) -> Where:
        return where_at(self.vault, self.policy, self.folders, self.partition)

    def booking(self) -> Booking:
        return booking(self.policy, self.folders, partition=self.partition, run=self.run)


def _raw(at: _At) -> Staged:
    frame = read_source(at.policy, folder=at.folders.sources, partition=at.partition)
    return pipeline.raw(at.policy, frame, entropy=system_entropy(), where=at.where())


def _deidentified(at: _At, before: Staged) -> Staged:
    return pipeline.deidentified(at.policy, before, key=hashing_key(at.policy, folder=at.folders.sources))


def _k_anonymized(at: _At, before: Staged) -> Staged:
    return pipeline.k_anonymized(at.policy, before, hierarchies=at.folders.hierarchies)


def _perturbed(at: _At, before: Staged) -> Staged:
    check_retainable(at.vault, at.policy)
    refuse_what_cannot_be_published(at.policy, at.folders, partition=at.partition)
    memory = published_before(at.policy, at.folders, partition=at.partition, manager=at.vault)
    booked = at.booking()
    opened = Opening(booked, draws_in(at.vault, at.policy, at.folders, at.partition))
    with opened.failing():
        return pipeline.perturbed(
            at.policy,
            before,
            entropy=system_entropy(),
            memory=None if memory is None else booked.counted(memory),
            opens=opened,
        )


def _shuffled(at: _At, before: Staged) -> Staged:
    with at.booking().failing(release_id_in(before.facts)):
        return pipeline.shuffled(at.policy, before, entropy=system_entropy())


def _suppressed(at: _At, before: Staged, originals: Staged) -> Staged:
    with at.booking().failing(release_id_in(before.facts)):
        return pipeline.suppressed(at.policy, before, originals, hierarchies=at.folders.hierarchies)


_WORK: dict[str, tuple[dict[str, str], Callable[..., Staged]]] = {
    "raw": ({}, _raw),
    "deidentified": ({"before": "raw"}, _deidentified),
    "k_anonymized": ({"before": "deidentified"}, _k_anonymized),
    "perturbed": ({"before": "k_anonymized"}, _perturbed),
    "shuffled": ({"before": "perturbed"}, _shuffled),
    "suppressed": ({"before": "shuffled", "originals": "k_anonymized"}, _suppressed),
}
"""The private stages in order: the stages whose tables each needs, by argument, and its work."""


def _private(
    policy: Policy,
    partitions: dg.PartitionsDefinition | None,
    stage: str,
    ins: Mapping[str, str],
    work: Callable[..., Staged],
) -> dg.AssetsDefinition:
    """Return the asset of a private stage: its table goes to the vault, its facts to the metadata."""

    @dg.asset(**_common(policy, partitions, stage, ins), io_manager_key=VAULT)
    def private(
        context: dg.AssetExecutionContext,
        anon_folders: Folders,
        anon_vault: dg.ResourceParam[Any],
        **tables: Staged,
    ) -> Staged:
        with as_failure(), private_stage(stage):
            at = _At(
                policy,
                anon_folders.locations(),
                partition_of_run(context, partitions),
                context.run.run_id,
                anon_vault,
            )
            at.folders.confine(policy, at.partition)
            where = at.where()
            before = {name: of_stage(policy, table, ins[name], where) for name, table in tables.items()}
            staged = work(at, **before)
            context.add_output_metadata(facts_metadata(staged.facts[stage]))
            return staged

    return private


def _published(policy: Policy, partitions: dg.PartitionsDefinition | None) -> dg.AssetsDefinition:
    """Return the asset that publishes: the gate first, then the second lock, then the bytes.

    Last, private tables that the policy does not retain are deleted.
    """
    ins = {"released": "suppressed", "originals": "k_anonymized"}

    @dg.asset(**_common(policy, partitions, "published", ins))
    def published(
        context: dg.AssetExecutionContext,
        anon_folders: Folders,
        anon_vault: dg.ResourceParam[Any],
        released: Staged,
        originals: Staged,
    ) -> dg.MaterializeResult:
        with as_failure(), private_stage("published"):
            partition = partition_of_run(context, partitions)
            check_retainable(anon_vault, policy)
            trusted(policy, originals)
            lock = partial(checked_on_this_data, context.instance, policy, partition=partition)
            folders = anon_folders.locations()
            written = publish(
                released,
                originals.frame,
                policy,
                locations=folders,
                partition=partition,
                second_lock=lock,
                archive=None if policy.record_key is None else archive_in(anon_vault, policy, folders),
                draws=draws_in(anon_vault, policy, folders, partition),
                project=where_at(anon_vault, policy, folders, partition).project,
            )
            retain_by_policy(anon_vault, policy, partition, now=datetime.datetime.now(datetime.UTC))
            sizes = sizes_table(class_sizes(policy, released.frame))
            return dg.MaterializeResult(metadata={**_published_metadata(written), "classes": sizes})

    return published


def _common(
    policy: Policy, partitions: dg.PartitionsDefinition | None, stage: str, ins: Mapping[str, str]
) -> dict[str, Any]:
    """Return what all assets of a release are declared with."""
    private = stage != "published"
    return {
        "key": stage_key(policy, stage),
        "ins": {argument: dg.AssetIn(stage_key(policy, before)) for argument, before in ins.items()},
        "description": _DESCRIPTIONS[stage],
        "group_name": policy.name,
        "partitions_def": partitions,
        "kinds": {"python", "parquet" if private else policy.publish.format},
        "tags": {"anon_pipeline/private": "true" if private else "false"},
    }


def _published_metadata(written: Published) -> dict[str, Any]:
    return {
        **report_metadata(written.report),
        "file": dg.MetadataValue.path(str(written.path)),
        "manifest": dg.MetadataValue.path(str(written.manifest_path)),
        "report": dg.MetadataValue.path(str(written.report_path)),
        "records": written.manifest["files"][0]["records"],
        "guarantee": dg.MetadataValue.md("\n".join(f"* {line}" for line in written.manifest["guarantee"])),
    }
