"""What the command line reports to a Dagster instance about a release that it made, or that was refused.

The events are those of `published` without a run, so that the UI shows one history, whoever made a release.
"""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.gate_checks import Told, agreement, check_result
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.release_facts import links_base, published_metadata
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published
from anon_pipeline.publish.release_files import named_table
from anon_pipeline.vault.names import measured_name

if TYPE_CHECKING:
    from anon_pipeline.gate.great_expectations import SuiteResult


def refuse_without_instance() -> None:
    """Refuse to report to an instance that nobody keeps; asked before a release is made.

    Raises:
        InputError: ``DAGSTER_HOME`` names no folder with an instance.
    """
    home = os.environ.get("DAGSTER_HOME")
    if not home or not os.path.isabs(home) or not os.path.isdir(home):  # noqa: PTH117, PTH112 - as Dagster asks
        raise InputError("DAGSTER_HOME must be the folder of a Dagster instance, to report the release to it")
    links_base()


def report_release(
    policy: Policy,
    folders: Locations,
    partition: str | None,
    written: Published,
    *,
    suite: "SuiteResult | None" = None,
) -> None:
    """Report a release that was published, with the gate's checks.

    Args:
        suite: what Great Expectations found; None: its check has no result.
    Raises:
        InputError: the released file cannot be read again.
    """
    found = published_metadata(policy, folders, written, named_table(written.manifest_path, policy))
    with dg.DagsterInstance.get() as instance:
        told = Told(written.report, measured_name(policy.name, partition))
        for evaluation in _evaluations(policy, partition, told, suite):
            instance.report_runless_asset_event(evaluation)
        made = dg.AssetMaterialization(stage_key(policy, "published"), metadata=found, partition=partition)
        instance.report_runless_asset_event(made)


def report_refusal(
    policy: Policy,
    partition: str | None,
    report: GateReport,
    advice: Sequence[str] = (),
    *,
    suite: "SuiteResult | None" = None,
) -> None:
    """Report what the gate found in a release that it refused, and what to change; see `report_release`."""
    told = Told(report, measured_name(policy.name, partition), tuple(advice))
    with dg.DagsterInstance.get() as instance:
        for evaluation in _evaluations(policy, partition, told, suite):
            instance.report_runless_asset_event(evaluation)


def _evaluations(
    policy: Policy, partition: str | None, told: Told, suite: "SuiteResult | None"
) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the check of each limit, and that of Great Expectations if it was run."""
    names = check_names(policy)
    for verdict in told.report.verdicts:
        name = names[verdict.limit]
        yield _evaluation(policy, name, check_result(policy, partition, name, verdict, told))
    if suite is not None:
        yield _evaluation(policy, GX_CHECK, agreement(policy, partition, told.report, suite))


def _evaluation(policy: Policy, name: str, result: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    return dg.AssetCheckEvaluation(
        asset_key=stage_key(policy, "published"),
        check_name=name,
        passed=result.passed,
        severity=result.severity,
        description=result.description,
        metadata=result.metadata,
    )
