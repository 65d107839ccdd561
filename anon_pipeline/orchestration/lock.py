"""The second lock on `published`: every gate check must have passed on exactly this data."""

import dagster as dg
from dagster import AssetCheckKey, DagsterInstance

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.names import gate_check_keys, gate_job
from anon_pipeline.policy.model import Policy

_HISTORY = 1000


def checked_on_this_data(
    instance: DagsterInstance, policy: Policy, report: GateReport, *, partition: str | None
) -> None:
    """Refuse unless the latest evaluation of every gate check on this data and policy has passed.

    Args:
        report: the gate's own report on the data to be published.
        partition: evaluations of other partitions do not count.
    Raises:
        GateRefused: naming the checks that did not run on this data, or did not pass.
    """
    states = {key.name: _latest_result(instance, key, report, partition) for key in gate_check_keys(policy)}
    never = sorted(name for name, passed in states.items() if passed is None)
    failed = sorted(name for name, passed in states.items() if passed is False)
    if not never and not failed:
        return
    lines = ["The gate accepts this data, but some of its checks in Dagster have not passed on it:"]
    if never:
        run = f"Run {gate_job(policy)}, or published with its checks."
        lines.append(f"not evaluated on this data and policy: {', '.join(never)}. {run}")
    if failed:
        lines.append(f"failed: {', '.join(failed)}")
    raise GateRefused("\n".join(lines), report)


def _latest_result(
    instance: DagsterInstance, key: AssetCheckKey, report: GateReport, partition: str | None
) -> bool | None:
    """Return the latest evaluation on this data and policy; None if there is none.

    "Latest" in Dagster takes no partition, so the history is read until digest and partition match.
    """
    for record in instance.event_log_storage.get_asset_check_execution_history(key, limit=_HISTORY):
        event = record.event.dagster_event if record.event is not None else None
        if event is None or event.event_type is not dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            continue  # planned, or broken off
        evaluation = event.asset_check_evaluation_data
        recorded = {name: value.value for name, value in evaluation.metadata.items()}
        wanted = (report.data_digest, report.policy_digest, partition)
        if (recorded.get("data_digest"), recorded.get("policy_digest"), recorded.get("partition")) == wanted:
            return evaluation.passed or evaluation.severity is dg.AssetCheckSeverity.WARN
    return None
