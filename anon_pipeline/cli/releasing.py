"""Commands that make a release: `run`, `demo`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from anon_pipeline.cli.earlier import count_earlier, print_earlier
from anon_pipeline.cli.reporting import new_page, write_page
from anon_pipeline.cli.shared import (
    Progress,
    allow_outside_option,
    echo_json,
    json_option,
    locations_of,
    mistakes_option,
    print_paths,
    print_report,
    print_warnings,
    project_option,
    show_values_option,
    shows_values,
)

if TYPE_CHECKING:
    from anon_pipeline.base.errors import GateRefused
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish import Published
    from anon_pipeline.publish.archive import VaultArchive


@click.command()
@click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))
@click.option("--partition", help="Key of a partition, for a policy whose schedule has partitions.")
@click.option(
    "--internal-report",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a report that shows each column before and after: private, not for publication.",
)
@click.option(
    "--report-to-dagster",
    "to_dagster",
    is_flag=True,
    help="Tell the Dagster instance of DAGSTER_HOME of the release, or of the limits that refused it.",
)
@json_option
@project_option
@allow_outside_option
@mistakes_option
@show_values_option
@click.pass_context
def run(  # noqa: PLR0913, PLR0917 - one for each option
    ctx: click.Context,
    policy_file: Path,
    partition: str | None,
    internal_report: Path | None,
    to_dagster: bool,
    as_json: bool,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Make the release of POLICY and publish it if the gate passes."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.release import make_release  # noqa: PLC0415
    from anon_pipeline.vault.names import measured_name  # noqa: PLC0415

    policy = load_policy(policy_file)
    check_partition(policy, partition)
    locations = locations_of(policy_file, project, outside=allow_outside)
    if to_dagster:
        from anon_pipeline.orchestration.runless import refuse_without_instance  # noqa: PLC0415

        refuse_without_instance()
    reported = None
    if internal_report is not None:
        page = new_page(internal_report, locations.release(policy, partition))
        reported = partial(write_page, page, private=True)
    with Progress() as progress:
        try:
            written = make_release(
                policy,
                locations,
                partition=partition,
                observe=progress,
                archive=_archive(policy, locations),
                reported=reported,
            )
        except GateRefused as refused:
            if isinstance(refused.report, GateReport):
                if to_dagster:
                    _tell_dagster(policy, locations, partition, refused.report)
                _tell_refusal(ctx, policy, locations, partition, refused.report)
                refused.advice = _advice(policy, locations, partition, refused.report, progress)
                if as_json:
                    echo_json(_refusal(policy, partition, refused))
                    ctx.exit(refused.exit_code)
            raise
    if to_dagster:
        _tell_dagster(policy, locations, partition, written)
    if as_json:
        echo_json(_account(policy, partition, written, locations))
        return
    print_report(written.report, f"Release {policy.name}", exact=shows_values(ctx))
    print_warnings(written.report, policy)
    measured = measured_name(policy.name, partition)
    print_paths(written.path, written.manifest_path, written.report_path, measured)
    print_earlier(policy, written)
    rest = _rest(policy, written.path, written.manifest, locations.hierarchies)
    if rest:
        click.echo("\n".join(["What is left:", *(f"  {line}" for line in rest)]))
    _print_cost(policy, locations, partition)


@click.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Project folder, for releases/ (the release), vault/ (private tables) and the ledger.",
)
@click.option(
    "--messy",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Make no release: write a messy table of 10,000 generated customers to FILE, to practice on.",
)
@json_option
def demo(folder: Path, messy: Path | None, as_json: bool) -> None:
    """Make the example release `patients` through Dagster.

    The data is generated; everything runs in this process.
    """
    if messy is not None:
        _write_messy(messy)
        if as_json:
            echo_json({"file": str(messy)})
        else:
            click.echo(f"wrote {messy}: 10,000 generated customers of a bank; nobody is meant")
        return
    click.echo("Starting Dagster …", err=True)
    from anon_pipeline.orchestration.demo import materialize_demo  # noqa: PLC0415

    with Progress() as progress:
        made = materialize_demo(folder.absolute(), observe=progress)
    if as_json:
        echo_json(
            {
                "data": str(made.path),
                "manifest": str(made.manifest_path),
                "report": str(made.report_path),
                "measured": made.measured,
                "verdicts": made.report.to_json()["verdicts"],
            }
        )
        return
    print_report(made.report, "Release patients")
    print_warnings(made.report)
    print_paths(made.path, made.manifest_path, made.report_path, made.measured)


def _tell_refusal(
    ctx: click.Context, policy: Policy, locations: Locations, partition: str | None, report: GateReport
) -> None:
    """Print what was measured, to who may see it, and what the refused release has cost."""
    if shows_values(ctx, err=True):
        print_report(report, f"Refused: {policy.name}", exact=True, err=True)
    _print_cost(policy, locations, partition, refused=True)


def _tell_dagster(
    policy: Policy, locations: Locations, partition: str | None, made: Published | GateReport
) -> None:
    """Tell the instance what was published or refused; that it does not answer changes neither."""
    from anon_pipeline.base.errors import AnonPipelineError, private_stage  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.orchestration.runless import report_refusal, report_release  # noqa: PLC0415

    try:
        with private_stage("report to Dagster"):
            if isinstance(made, GateReport):
                report_refusal(policy, partition, made)
            else:
                report_release(policy, locations, partition, made)
    except AnonPipelineError as error:
        click.echo(f"warning: Dagster was not told of it. {error}", err=True)


def _write_messy(file: Path) -> None:
    """Write the table of the tutorial, for its owner alone, as a table of people should be."""
    from anon_pipeline.base.disk import replace_file  # noqa: PLC0415
    from anon_pipeline.base.errors import InputError, error_words  # noqa: PLC0415
    from anon_pipeline.sources.messy import customers  # noqa: PLC0415

    if file.exists():
        raise InputError(f"{file.name}: must not be there yet. Remove it, or name another file.")
    try:
        replace_file(file, customers(), mode=0o600, what="file")
    except OSError as error:
        raise InputError(f"{file.name} must be writable: {error_words(error)}") from None


def _account(
    policy: Policy, partition: str | None, written: Published, locations: Locations
) -> dict[str, Any]:
    """Return what `run` says of a release that is published, as JSON types."""
    return {
        "published": True,
        "release": policy.name,
        "partition": partition,
        "data": str(written.path),
        "manifest": str(written.manifest_path),
        "report": str(written.report_path),
        "verdicts": written.report.to_json()["verdicts"],
        "earlier": count_earlier(policy, written),
        "left": _rest(policy, written.path, written.manifest, locations.hierarchies),
        "ledger": _cost(policy, locations, partition),
        "advice": [],
    }


def _refusal(policy: Policy, partition: str | None, refused: GateRefused) -> dict[str, Any]:
    """Return what `run` says of a release that the gate refused: no value, since nobody else has the file."""
    report = cast("GateReport", refused.report)
    return {
        "published": False,
        "release": policy.name,
        "partition": partition,
        "verdicts": [verdict | {"value": None} for verdict in report.to_json()["verdicts"]],
        "advice": list(refused.advice),
    }


def _rest(policy: Policy, data: Path, document: Mapping[str, Any], hierarchies: Path) -> list[str]:
    """Say what is left of the data, in words, from the released file, its manifest and the policy alone."""
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.publish.file_formats import read_release  # noqa: PLC0415
    from anon_pipeline.report.words import describe_rest  # noqa: PLC0415

    with suppress(InputError), private_stage("report"):  # who removes the file at once need not be told
        frame = read_release(data, policy)
        return list(describe_rest(policy, document["facts"], frame, hierarchies=hierarchies))
    return []


def _print_cost(
    policy: Policy, locations: Locations, partition: str | None, *, refused: bool = False
) -> None:
    """Print what the release has cost."""
    said = _cost(policy, locations, partition, refused=refused)
    if said is not None:
        click.echo(f"ledger    {said}", err=refused)


def _cost(
    policy: Policy, locations: Locations, partition: str | None, *, refused: bool = False
) -> str | None:
    """Say what the release has cost; a ledger that cannot be read now is no reason to fail."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.publish.accounts import describe_cost  # noqa: PLC0415

    with suppress(AnonPipelineError):
        return describe_cost(policy, locations, partition=partition, refused=refused)
    return None


def _advice(
    policy: Policy, locations: Locations, partition: str | None, report: GateReport, progress: Progress
) -> tuple[str, ...]:
    """Return what to change in a policy that the gate refused; a source that has gone is no other failure."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.tuning.advise import NO_ADVICE, advise  # noqa: PLC0415
    from anon_pipeline.tuning.tune import source_of  # noqa: PLC0415

    refused = [verdict.limit for verdict in report.with_status(Status.REFUSED)]
    with suppress(AnonPipelineError):
        frame = source_of(policy, locations, partition=partition)
        found = advise(policy, frame, refused, hierarchies=locations.hierarchies, observe=progress)
        return tuple(found)
    return (NO_ADVICE,)


def _archive(policy: Policy, locations: Locations) -> VaultArchive | None:
    """Return what keeps the memory of what was published, and warn if it is not encrypted."""
    if policy.record_key is None:
        return None
    from anon_pipeline.publish.archive import VaultArchive  # noqa: PLC0415
    from anon_pipeline.vault.keys import keys_from  # noqa: PLC0415

    if keys_from().current is None:
        click.echo(
            "warning: the vault is not encrypted: there is no key. The memory (record_key) holds original "
            "values; only file permissions protect it. Set ANON_PIPELINE_VAULT_KEY, _KEY_FILE or "
            "_KEY_COMMAND.",
            err=True,
        )
    return VaultArchive(policy, locations)


def check_partition(policy: Policy, partition: str | None) -> None:
    """Refuse a partition key that the policy's schedule does not have, and none where it has partitions."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    partitioned = policy.schedule is not None and policy.schedule.partitions is not None
    if not partitioned and partition is None:
        return
    if not partitioned:
        raise InputError("--partition must be left out: the policy's schedule has no partitions")
    from anon_pipeline.orchestration.partitions import partitions_of  # noqa: PLC0415

    keys = partitions_of(policy)
    if partition is None or keys is None or not keys.has_partition_key(partition):
        latest = None if keys is None else keys.get_last_partition_key()
        raise InputError(f"--partition must be one of the schedule's partitions, such as {latest}")
