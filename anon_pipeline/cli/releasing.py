"""The command that makes a release: `run`."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import (
    NEW_FILE,
    check_partition,
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.reporting import new_page
from anon_pipeline.cli.run_output import Asked, print_cost, print_release, refusal_document, release_document
from anon_pipeline.cli.shared import Progress, echo_json, print_report, shows_values, write_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from anon_pipeline.gate import GateReport
    from anon_pipeline.publish import Published
    from anon_pipeline.publish.archive import VaultArchive


@click.command()
@policy_argument
@partition_option
@click.option(
    "--internal-report",
    type=NEW_FILE,
    help="File for a report that shows each column before and after: private, not for publication.",
)
@click.option(
    "--report-to-dagster",
    "to_dagster",
    is_flag=True,
    help="Tell the Dagster instance of DAGSTER_HOME of the release, or of the limits that refused it.",
)
@json_option
@source_options
@click.pass_context
def run(ctx: click.Context, policy_file: Path, as_json: bool, **options: Any) -> None:
    """Make the release of POLICY and publish it if the gate passes."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policy = load_policy(policy_file)
    check_partition(policy, options["partition"])
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    asked = Asked(policy, locations, options["partition"])
    if options["to_dagster"]:
        from anon_pipeline.orchestration.runless import refuse_without_instance  # noqa: PLC0415

        refuse_without_instance()
    reported = _report_to(asked, options["internal_report"])
    with Progress() as progress:
        try:
            written = _make(asked, progress, reported)
        except GateRefused as refused:
            if isinstance(refused.report, GateReport):
                if options["to_dagster"]:
                    _tell_dagster(asked, refused.report)
                _tell_refusal(ctx, asked, refused.report)
                refused.advice = _advice(asked, refused.report, progress)
                if as_json:
                    echo_json(refusal_document(asked, refused))
                    ctx.exit(refused.exit_code)
            raise
    if options["to_dagster"]:
        _tell_dagster(asked, written)
    if as_json:
        echo_json(release_document(asked, written))
    else:
        print_release(asked, written, exact=shows_values(ctx))


def _make(asked: Asked, progress: Progress, reported: Callable[[bytes], None] | None) -> Published:
    from anon_pipeline.release import make_release  # noqa: PLC0415

    return make_release(
        asked.policy,
        asked.locations,
        partition=asked.partition,
        observe=progress,
        archive=_archive(asked),
        reported=reported,
    )


def _report_to(asked: Asked, path: Path | None) -> Callable[[bytes], None] | None:
    """Return what writes the internal report, if it was asked for; its place is checked before all else."""
    if path is None:
        return None
    page = new_page(path, asked.locations.release(asked.policy, asked.partition))
    return partial(write_file, page, what="page")


def _tell_refusal(ctx: click.Context, asked: Asked, report: GateReport) -> None:
    """Print what was measured, to who may see it, and what the refused release has cost."""
    if shows_values(ctx, err=True):
        print_report(report, f"Refused: {asked.policy.name}", exact=True, err=True)
    print_cost(asked, refused=True)


def _tell_dagster(asked: Asked, made: Published | GateReport) -> None:
    """Tell the instance what was published or refused; that it does not answer changes neither."""
    from anon_pipeline.base.errors import AnonPipelineError, private_stage  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.orchestration.runless import report_refusal, report_release  # noqa: PLC0415

    try:
        with private_stage("report to Dagster"):
            if isinstance(made, GateReport):
                report_refusal(asked.policy, asked.partition, made)
            else:
                report_release(asked.policy, asked.locations, asked.partition, made)
    except AnonPipelineError as error:
        click.echo(f"warning: Dagster was not told of it. {error}", err=True)


def _advice(asked: Asked, report: GateReport, progress: Progress) -> tuple[str, ...]:
    """Return what to change in a policy that the gate refused; a source that has gone is no other failure."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.tuning.advise import NO_ADVICE, advise  # noqa: PLC0415
    from anon_pipeline.tuning.tune import source_of  # noqa: PLC0415

    policy, hierarchies = asked.policy, asked.locations.hierarchies
    refused = [verdict.limit for verdict in report.with_status(Status.REFUSED)]
    with suppress(AnonPipelineError):
        frame = source_of(policy, asked.locations, partition=asked.partition)
        return tuple(advise(policy, frame, refused, hierarchies=hierarchies, observe=progress))
    return (NO_ADVICE,)


def _archive(asked: Asked) -> VaultArchive | None:
    """Return what keeps the memory of what was published, and warn if it is not encrypted."""
    if asked.policy.record_key is None:
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
    return VaultArchive(asked.policy, asked.locations)
