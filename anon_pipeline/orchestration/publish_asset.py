"""The last stage: the gate's checks on `published`, then publishing what passed them."""

import datetime
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import private_stage
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.gate_checks import GateResult, gate_specs, judge_tables
from anon_pipeline.orchestration.lock import checked_on_this_data
from anon_pipeline.orchestration.partitions import partition_of_run, partitions_of
from anon_pipeline.orchestration.release_facts import links_base, published_metadata
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.orchestration.stage import Stage, StageRun, asset_declaration, run_options, stage_key
from anon_pipeline.orchestration.vault import (
    archive_in,
    check_retainable,
    draws_in,
    measured_in,
    retain_by_policy,
)
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published, publish
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import trusted_table

_Context = dg.AssetExecutionContext


def published(policy: Policy) -> Stage:
    """Publish: the gate judges the tables, then the bytes, then the event log is asked for its checks.

    It takes the tables of `suppressed` and `k_anonymized`, whatever else is in the chain. The gate's checks
    are its own: no chain can leave them out, and a selection without them publishes nothing.
    """
    needs = {"released": "suppressed", "originals": "k_anonymized"}
    return Stage("published", partial(_publish_asset, policy), takes=None, needs=needs)


def _publish_asset(policy: Policy, ins: Mapping[str, str]) -> dg.AssetsDefinition:
    """Return the asset that publishes, with the gate's checks."""
    partitions, key = partitions_of(policy), stage_key(policy, "published")
    said = "The release: judged by the gate, and written only if the gate passes the bytes to be written."
    named = asset_declaration(policy, "published", said, ins)
    ins_of, _ = named.pop("ins"), named.pop("deps")

    @dg.multi_asset(
        name="__".join(key.path),
        specs=[dg.AssetSpec(deps=[each.key for each in ins_of.values()], **named)],
        ins=ins_of,
        check_specs=gate_specs(policy),
        can_subset=True,
        **run_options(policy),
    )
    def published_asset(
        context: dg.AssetExecutionContext,
        anon_folders: Folders,
        anon_vault: dg.ResourceParam[Any],
        released: Staged,
        originals: Staged,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
        """Judge the table, report every verdict, and publish what passes."""
        with as_failure(), private_stage("gate"):
            links_base()
            partition = partition_of_run(context, partitions)
            run = StageRun(policy, anon_folders.locations(), partition, context.run.run_id, anon_vault)
            wanted = {check.name for check in context.selected_asset_check_keys}
            judged = judge_tables(run, released, originals, wanted) if wanted else None
        yield from () if judged is None else judged.checks
        if key in context.selected_asset_keys:
            with as_failure(policy), private_stage("published"):
                written = _publish(context, run, judged, released, originals)
                found = published_metadata(policy, run.folders, written, released.frame)
            yield dg.MaterializeResult(asset_key=key, metadata=found)

    return published_asset


def _publish(
    context: _Context, run: StageRun, judged: GateResult | None, released: Staged, originals: Staged
) -> Published:
    """Publish what was judged; last, delete private tables that the policy does not retain."""
    policy, folders, vault, partition = run.policy, run.folders, run.vault, run.partition
    if judged is not None:
        judged.refuse_unless_passed()
    check_retainable(vault, policy)
    trusted_table(policy, originals)
    written = publish(
        released,
        originals.frame,
        policy,
        locations=folders,
        partition=partition,
        second_lock=partial(checked_on_this_data, context.instance, policy, partition=partition),
        archive=None if policy.record_key is None else archive_in(vault, policy, folders),
        draws=draws_in(vault, policy, folders, partition),
        project=run.where().project,
        measured=measured_in(vault, policy, folders, partition),
    )
    retain_by_policy(vault, policy, partition, now=datetime.datetime.now(datetime.UTC))
    return written
