"""The command that makes a release, or those of several partitions: `run`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.partition_keys import check_partition, partitions_between
from anon_pipeline.cli.release_account import account_of, print_cost, print_release, refusal_account
from anon_pipeline.cli.reporting import new_page, write_page
from anon_pipeline.cli.shared import (
    Progress,
    allow_outside_option,
    echo_json,
    json_option,
    locations_of,
    mistakes_option,
    print_refused,
    print_report,
    project_option,
    show_values_option,
    shows_values,
)

if TYPE_CHECKING:
    from anon_pipeline.base.errors import GateRefused, InfeasibleError
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish import Published
    from anon_pipeline.publish.archive import VaultArchive


@click.command()
@click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))
@click.option("--partition", help="Key of a partition, for a policy whose schedule has partitions.")
@click.option(
    "--partitions",
    "span",
    metavar="FIRST...LAST",
    help="Make the release of each of these partitions, in order; a refused one does not stop the rest.",
)
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
def run(  # noqa: PLR0913 - one for each option
    ctx: click.Context,
    *,
    policy_file: Path,
    partition: str | None,
    span: str | None,
    internal_report: Path | None,
    to_dagster: bool,
    as_json: bool,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Make the release of POLICY and publish it if the gate passes."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policy = load_policy(policy_file)
    if span is None:
        check_partition(policy, partition)
    elif partition is not None or internal_report is not None:
        raise InputError("--partitions must not be given with --partition or --internal-report")
    keys = None if span is None else partitions_between(policy, span)
    locations = locations_of(policy_file, project, outside=allow_outside)
    if to_dagster:
        from anon_pipeline.orchestration.runless import refuse_without_instance  # noqa: PLC0415

        refuse_without_instance()
    order = _Order(policy, locations, to_dagster, as_json, page=internal_report)
    if keys is None:
        _make_one(ctx, order, partition)
    else:
        _make_each(ctx, order, keys)


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """What is to be released, where, and who is told.

    to_dagster: whether the instance is. as_json: whether a program reads what is printed.
    page: where the internal report goes; None: there is none.
    """

    policy: Policy
    locations: Locations
    to_dagster: bool
    as_json: bool
    page: Path | None


def _make_one(ctx: click.Context, order: _Order, partition: str | None) -> None:
    """Make a release, and print it."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    try:
        account = _make(ctx, order, partition)
    except GateRefused as refused:
        if order.as_json and isinstance(refused.report, GateReport):
            echo_json(refusal_account(order.policy, partition, refused))
            ctx.exit(refused.exit_code)
        raise
    if order.as_json:
        echo_json(account)


def _make_each(ctx: click.Context, order: _Order, partitions: Sequence[str]) -> None:
    """Make the release of each partition; a refusal of its data stops no other, anything else does."""
    from anon_pipeline.base.errors import GateRefused, InfeasibleError  # noqa: PLC0415

    accounts: list[dict[str, Any]] = []
    codes = []
    try:
        for partition in partitions:
            click.echo(f"partition {partition}", err=order.as_json)
            try:
                accounts.append(_make(ctx, order, partition))
            except (GateRefused, InfeasibleError) as refused:
                codes.append(refused.exit_code)
                accounts.append(refusal_account(order.policy, partition, refused))
                if not order.as_json:
                    _tell(ctx, refused)
    finally:
        if order.as_json:
            echo_json({"partitions": accounts})
    if not order.as_json:
        left = [str(one["partition"]) for one in accounts if not one["published"]]
        said = f"; refused: {', '.join(left)}" if left else ""
        click.echo(f"{len(accounts) - len(left)} of {len(partitions)} partitions published{said}")
    if codes:
        ctx.exit(min(codes))


def _tell(ctx: click.Context, refused: GateRefused | InfeasibleError) -> None:
    """Say why a partition was refused, as `main` does where it is the only one."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415

    if isinstance(refused, GateRefused):
        print_refused(refused)
        return
    if shows_values(ctx, err=True):
        click.echo(refused.exact, err=True)
    click.echo(f"error: {refused}", err=True)


def _make(ctx: click.Context, order: _Order, partition: str | None) -> dict[str, Any]:
    """Make and publish a release; print it for people, and return the same for programs.

    Raises:
        GateRefused: with advice, after all but the refusal itself was told.
    """
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.release import make_release  # noqa: PLC0415

    policy, locations = order.policy, order.locations
    reported = None
    if order.page is not None:
        page = new_page(order.page, locations.release(policy, partition))
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
                if order.to_dagster:
                    _tell_dagster(policy, locations, partition, refused.report)
                _tell_refusal(ctx, policy, locations, partition, refused.report)
                refused.advice = _advice(policy, locations, partition, refused.report, progress)
            raise
    if order.to_dagster:
        _tell_dagster(policy, locations, partition, written)
    if order.as_json:
        return account_of(policy, partition, written, locations)
    print_release(policy, partition, written, locations, exact=shows_values(ctx))
    return {"published": True, "partition": partition}


def _tell_refusal(
    ctx: click.Context, policy: Policy, locations: Locations, partition: str | None, report: GateReport
) -> None:
    """Print what was measured, to who may see it, and what the refused release has cost."""
    if shows_values(ctx, err=True):
        print_report(report, f"Refused: {policy.name}", exact=True, err=True)
    print_cost(policy, locations, partition, refused=True)


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
