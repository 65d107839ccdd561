"""When a release is made: its job, the job of its checks, its schedule."""

from collections.abc import Sequence
from typing import Protocol

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from anon_pipeline.orchestration.names import gate_check_keys, gate_job, release_job
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Schedule


def build_jobs(policy: Policy, assets: Sequence[dg.AssetsDefinition]) -> list[UnresolvedAssetJobDefinition]:
    """Return the job that makes the release with all its checks, and the job of the gate checks alone.

    Both run in one process: handling the tables takes little time compared with starting eight processes.
    """
    gate = dg.define_asset_job(
        gate_job(policy),
        selection=dg.AssetSelection.checks(*gate_check_keys(policy)),
        description=f"Judge the suppressed table of {policy.name} again; nothing is published.",
        executor_def=dg.in_process_executor,
    )
    return [build_release_job(policy, assets), gate]


class Scheduled(Protocol):
    """The policy of a release of any kind, as far as it decides when the release is made."""

    @property
    def name(self) -> str:
        """Name of the release."""

    @property
    def schedule(self) -> Schedule | None:
        """Section with the time; None: nothing is made by itself."""


def build_release_job(
    policy: Scheduled, assets: Sequence[dg.AssetsDefinition]
) -> UnresolvedAssetJobDefinition:
    """Return the job that makes the release with all its checks."""
    return dg.define_asset_job(
        release_job(policy),
        selection=dg.AssetSelection.assets(*assets),
        description=f"Make and publish the release {policy.name}.",
        executor_def=dg.in_process_executor,
    )


def build_schedule(
    policy: Scheduled, job: UnresolvedAssetJobDefinition, partitions: dg.PartitionsDefinition | None
) -> dg.ScheduleDefinition | None:
    """Return the schedule of the release; None if it has none.

    A tick makes the latest period that is complete; or all partitions, where the policy lists them.
    """
    if policy.schedule is None or policy.schedule.cron is None:
        return None
    every = isinstance(partitions, dg.StaticPartitionsDefinition)
    name = f"{policy.name}_schedule"

    @dg.schedule(
        name=name,
        job=job,
        cron_schedule=policy.schedule.cron,
        execution_timezone=policy.schedule.timezone,
        description=f"Make the release {policy.name}.",
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | list[dg.RunRequest] | dg.SkipReason:
        """Ask for a run, of the last complete period or of every listed partition where there are any."""
        if partitions is None:
            return dg.RunRequest()
        if every:
            at = context.scheduled_execution_time.isoformat()
            keys = partitions.get_partition_keys()
            return [dg.RunRequest(run_key=f"{key}@{at}", partition_key=key) for key in keys]
        with dg.partition_loading_context(effective_dt=context.scheduled_execution_time):
            key = partitions.get_last_partition_key()
        if key is None:
            return dg.SkipReason("no partition is complete yet")
        return dg.RunRequest(run_key=key, partition_key=key)

    return tick
