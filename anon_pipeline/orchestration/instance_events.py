"""What the command line tells a Dagster instance of a release that it has made or that was refused.

The events are those of `published` without a run, so that the UI shows one history, whoever made a release.
"""

import os
from collections.abc import Iterator, Sequence

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.gate_checks import Told, check_result
from anon_pipeline.orchestration.names import check_names
from anon_pipeline.orchestration.release_facts import links_base, published_metadata
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.vault.names import measured_name


def refuse_without_instance() -> None:
    """Refuse to report to an instance that nobody keeps; asked before a release is made.

    Raises:
        InputError: ``DAGSTER_HOME`` names no folder with an instance.
    """
    home = os.environ.get("DAGSTER_HOME")
    if not home or not os.path.isabs(home) or not os.path.isdir(home):  # noqa: PTH117, PTH112 - as Dagster asks
        raise InputError("DAGSTER_HOME must be the folder of a Dagster instance, to report the release to it")
    links_base()


def report_release(policy: Policy, folders: Locations, partition: str | None, written: Published) -> None:
    """Report a release that was published, with the gate's checks.

    Raises:
        InputError: the released file cannot be read again.
    """
    found = published_metadata(policy, folders, written, read_release(written.path, policy))
    with dg.DagsterInstance.get() as instance:
        for evaluation in _evaluations(policy, partition, written.report):
            instance.report_runless_asset_event(evaluation)
        made = dg.AssetMaterialization(stage_key(policy, "published"), metadata=found, partition=partition)
        instance.report_runless_asset_event(made)


def report_refusal(
    policy: Policy, partition: str | None, report: GateReport, advice: Sequence[str] = ()
) -> None:
    """Report what the gate said of a release that it refused, and what to change: nothing was made."""
    with dg.DagsterInstance.get() as instance:
        for evaluation in _evaluations(policy, partition, report, advice):
            instance.report_runless_asset_event(evaluation)


def _evaluations(
    policy: Policy, partition: str | None, report: GateReport, advice: Sequence[str] = ()
) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the check of each limit; that of Great Expectations was not asked."""
    names, told = check_names(policy), Told(report, measured_name(policy.name, partition), tuple(advice))
    for verdict in report.verdicts:
        result = check_result(policy, partition, names[verdict.limit], verdict, told)
        yield dg.AssetCheckEvaluation(
            asset_key=stage_key(policy, "published"),
            check_name=names[verdict.limit],
            passed=result.passed,
            severity=result.severity,
            description=result.description,
            metadata=result.metadata,
        )
