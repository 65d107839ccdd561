"""The assets of one release: a stage each, from `raw` to `published`.

Belongs here: loading, calling a stage, storing, showing its facts. Does not belong here: what a stage does
(`pipeline`), what publishing demands (`publish`).
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from anon_pipeline import pipeline
from anon_pipeline.deidentify import hashing_key
from anon_pipeline.errors import private_stage
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.lock import checked_on_this_data
from anon_pipeline.orchestration.metadata import facts_metadata, report_metadata
from anon_pipeline.orchestration.partitions import partition_of_run
from anon_pipeline.orchestration.resources import VAULT, Folders
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.pipeline import Staged
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published, publish
from anon_pipeline.sources import read_source

__all__ = ["build_assets", "stage_key"]

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

    def stage(name: str, **ins: str) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
        return dg.asset(
            key=stage_key(policy, name),
            ins={argument: dg.AssetIn(stage_key(policy, before)) for argument, before in ins.items()},
            description=_DESCRIPTIONS[name],
            group_name=policy.name,
            partitions_def=partitions,
            io_manager_key=VAULT,
            kinds={"python", "parquet"} if name != "published" else {"python", policy.publish.format},
            tags={"anon_pipeline/private": "true" if name != "published" else "false"},
        )

    def made(context: dg.AssetExecutionContext, name: str, work: Callable[[str | None], Staged]) -> Staged:
        """Do a stage's work for the run's partition, and show its facts."""
        with as_failure(), private_stage(name):
            staged = work(partition_of_run(context, partitions))
            context.add_output_metadata(facts_metadata(staged.facts[name]))
            return staged

    @stage("raw")
    def raw(context: dg.AssetExecutionContext, anon_folders: Folders) -> Staged:
        def work(partition: str | None) -> Staged:
            frame = read_source(policy, folder=anon_folders.locations().sources, partition=partition)
            return pipeline.raw(policy, frame, entropy=system_entropy())

        return made(context, "raw", work)

    @stage("deidentified", before="raw")
    def deidentified(context: dg.AssetExecutionContext, anon_folders: Folders, before: Staged) -> Staged:
        def work(_: str | None) -> Staged:
            key = hashing_key(policy, folder=anon_folders.locations().sources)
            return pipeline.deidentified(policy, before, key=key)

        return made(context, "deidentified", work)

    @stage("k_anonymized", before="deidentified")
    def k_anonymized(context: dg.AssetExecutionContext, anon_folders: Folders, before: Staged) -> Staged:
        folder = anon_folders.locations().hierarchies
        return made(
            context, "k_anonymized", lambda _: pipeline.k_anonymized(policy, before, hierarchies=folder)
        )

    @stage("perturbed", before="k_anonymized")
    def perturbed(context: dg.AssetExecutionContext, before: Staged) -> Staged:
        return made(
            context, "perturbed", lambda _: pipeline.perturbed(policy, before, entropy=system_entropy())
        )

    @stage("shuffled", before="perturbed")
    def shuffled(context: dg.AssetExecutionContext, before: Staged) -> Staged:
        return made(
            context, "shuffled", lambda _: pipeline.shuffled(policy, before, entropy=system_entropy())
        )

    @stage("suppressed", before="shuffled", originals="k_anonymized")
    def suppressed(
        context: dg.AssetExecutionContext, anon_folders: Folders, before: Staged, originals: Staged
    ) -> Staged:
        folder = anon_folders.locations().hierarchies
        return made(
            context,
            "suppressed",
            lambda _: pipeline.suppressed(policy, before, originals, hierarchies=folder),
        )

    @stage("published", released="suppressed", originals="k_anonymized")
    def published(
        context: dg.AssetExecutionContext, anon_folders: Folders, released: Staged, originals: Staged
    ) -> dg.MaterializeResult:
        with as_failure(), private_stage("published"):
            partition = partition_of_run(context, partitions)
            written = publish(
                released,
                originals.frame,
                policy,
                locations=anon_folders.locations(),
                partition=partition,
                second_lock=lambda report: checked_on_this_data(
                    context.instance, policy, report, partition=partition
                ),
            )
            return dg.MaterializeResult(metadata=_published_metadata(written))

    return [raw, deidentified, k_anonymized, perturbed, shuffled, suppressed, published]


def _published_metadata(written: Published) -> dict[str, Any]:
    return {
        **report_metadata(written.report),
        "file": dg.MetadataValue.path(str(written.path)),
        "manifest": dg.MetadataValue.path(str(written.manifest_path)),
        "records": written.manifest["files"][0]["records"],
        "guarantee": dg.MetadataValue.md("\n".join(f"* {line}" for line in written.manifest["guarantee"])),
    }
