"""The command that makes a release, or those of several partitions: `run`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.dagster_reports import refuse_unreportable, reports_of
from anon_pipeline.cli.declared_releases import run_declared
from anon_pipeline.cli.memory_warning import warn_of_memory
from anon_pipeline.cli.missing_partitions import missing_partitions
from anon_pipeline.cli.options import (
    MISTAKES_TO,
    NEW_FILE,
    archive_of,
    jobs_option,
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.parallel_runs import run_command, run_partitions, say_published
from anon_pipeline.cli.partition_keys import check_partition, partitions_between
from anon_pipeline.cli.reporting import new_page, write_page
from anon_pipeline.cli.run_output import (
    Asked,
    print_cost,
    print_release,
    records_before,
    refusal_document,
    release_document,
)
from anon_pipeline.cli.shared import (
    Progress,
    echo_json,
    print_refused,
    print_report,
    shows_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from anon_pipeline.base.errors import AllWaitError, GateRefused, InfeasibleError
    from anon_pipeline.base.observer import Progress as Far
    from anon_pipeline.base.observer import Step
    from anon_pipeline.cli.dagster_reports import Reports
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.publish import Published


@click.command()
@policy_argument
@partition_option
@click.option(
    "--partitions",
    "span",
    metavar="FIRST...LAST",
    help="Make the release of each of these partitions; a refused one does not stop the rest.",
)
@click.option("--missing", is_flag=True, help="With --partitions: only those that have no release yet.")
@jobs_option("With --partitions: how many releases are made at a time, by as many processes.")
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
def run(ctx: click.Context, /, policy_file: Path, **options: Any) -> None:
    """Make the release of POLICY and publish it if the gate passes.

    POLICY may be of any kind: see its type. What does not apply to its kind (partitions, to ε-DP releases) is
    refused.
    """
    from anon_pipeline.orchestration.pipes_process import pipes_of_process  # noqa: PLC0415

    with pipes_of_process() as pipes:
        _run(ctx, policy_file, {**options, "pipes": pipes})


def _run(ctx: click.Context, policy_file: Path, options: Mapping[str, Any]) -> None:
    """Make the releases that the options ask for."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import kind_of_policy  # noqa: PLC0415
    from anon_pipeline.policy.open_questions import refuse_open_questions  # noqa: PLC0415

    kind = kind_of_policy(policy_file)
    if kind is not None:
        run_declared(policy_file, kind, options)
        return
    policy, span = load_policy(policy_file), options["span"]
    refuse_open_questions(policy.open_questions)
    if span is None:
        check_partition(policy, options["partition"])
    elif options["partition"] is not None or options["internal_report"] is not None:
        raise InputError("--partitions must not be given with --partition or --internal-report")
    _refuse_unfit_jobs(ctx, policy, options)
    keys = [options["partition"]] if span is None else partitions_between(policy, span)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    if options["missing"]:
        keys = missing_partitions(policy, locations, keys)
    refuse_unreportable(policy, options)
    if options["jobs"] > 1:
        command = run_command(str(ctx.command.name), policy_file, options)
        ctx.exit(run_partitions(command, list(map(str, keys)), jobs=options["jobs"]))
    releases = [Asked(policy, locations, key, records_before(policy, locations, key)) for key in keys]
    if span is None:
        _run_one(ctx, releases[0], options)
    else:
        _run_each(ctx, releases, options)


def _refuse_unfit_jobs(ctx: click.Context, policy: Policy, options: Mapping[str, Any]) -> None:
    """Refuse several jobs where there is one release, or where what they say cannot be put together."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if options["jobs"] == 1:
        return
    if options["span"] is None:
        raise InputError("--jobs must be given with --partitions only")
    if options["as_json"] or ctx.meta.get(MISTAKES_TO) is not None:
        raise InputError("--jobs must not be given with --json or --mistakes-to")
    if policy.stream is not None:
        raise InputError("--jobs must be left out for a stream: its partitions are made one after the other")


def _run_one(ctx: click.Context, asked: Asked, options: Mapping[str, Any]) -> None:
    """Make a release, and print it or its refusal."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    try:
        written = _publish(ctx, asked, options)
    except GateRefused as refused:
        if options["as_json"]:
            echo_json(refusal_document(asked, refused))
            if isinstance(refused.report, GateReport):  # the document has its verdicts
                ctx.exit(refused.exit_code)
        raise
    if options["as_json"]:
        echo_json(release_document(asked, written))
    else:
        print_release(asked, written, exact=shows_values(ctx))


def _run_each(ctx: click.Context, releases: Sequence[Asked], options: Mapping[str, Any]) -> None:
    """Make a release for each partition; a refusal of its data stops no other, anything else does."""
    from anon_pipeline.base.errors import AllWaitError, GateRefused, InfeasibleError, TooFewWaitedError  # noqa: PLC0415

    as_json, documents, left, waiting = options["as_json"], [], {}, dict[str, str]()
    try:
        for asked in releases:
            click.echo(f"partition {asked.partition}", err=as_json)
            try:
                written = _publish(ctx, asked, options)
            except AllWaitError as waits:
                too_few = isinstance(waits, TooFewWaitedError)
                waiting[str(asked.partition)] = "too few for a class" if too_few else "all records wait"
                documents.append(refusal_document(asked, waits))
                _print_waiting(ctx, waits, exact=too_few and not as_json)
            except (GateRefused, InfeasibleError) as refused:
                left[str(asked.partition)] = refused.exit_code
                documents.append(refusal_document(asked, refused))
                if not as_json:
                    _print_refusal(ctx, refused)
            else:
                if as_json:
                    documents.append(release_document(asked, written))
                else:
                    print_release(asked, written, exact=shows_values(ctx))
                del written  # its table would be held while the next release is made
    finally:
        if as_json:
            echo_json({"partitions": documents})
    if not as_json:
        said = f"; refused: {', '.join(left)}" if left else ""
        for why in dict.fromkeys(waiting.values()):
            said += f"; {why}: {', '.join(key for key, reason in waiting.items() if reason == why)}"
        made = len(releases) - len(left) - len(waiting)
        click.echo(f"{say_published(made, len(releases))}{said}")
    if left:
        ctx.exit(min(left.values()))


def _print_waiting(ctx: click.Context, waits: AllWaitError, *, exact: bool) -> None:
    """Say why a partition of a stream has no release; how many records it has lost, if that may be shown."""
    if exact and shows_values(ctx, err=True):
        click.echo(waits.exact, err=True)
    click.echo(str(waits), err=True)


def _print_refusal(ctx: click.Context, refused: GateRefused | InfeasibleError) -> None:
    """Say why a partition was refused, as `main` does where it is the only one."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415

    if isinstance(refused, GateRefused):
        print_refused(refused)
        return
    if shows_values(ctx, err=True):
        click.echo(refused.exact, err=True)
    click.echo(f"error: {refused}", err=True)


def _publish(ctx: click.Context, asked: Asked, options: Mapping[str, Any]) -> Published:
    """Make and publish a release, and report it to Dagster if asked to.

    Raises:
        GateRefused: with advice, after its cost was reported.
    """
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    warn_of_memory(asked)
    page, reports = _report_to(asked, options["internal_report"]), reports_of(asked, options)
    with Progress(asked.policy) as progress:
        try:
            written = _make(asked, progress, page, reports)
        except GateRefused as refused:
            if isinstance(refused.report, GateReport):
                _tell_refusal(ctx, asked, refused.report)
                advice = refused.advice  # computed here, where progress is shown
                reports.refused(refused.report, advice)
            raise
    reports.published(written)
    return written


def _make(
    asked: Asked, progress: Progress, page: Callable[[bytes], None] | None, reports: Reports
) -> Published:
    from anon_pipeline.publish.whole_chain import make_release  # noqa: PLC0415

    def observe(event: Step | Far) -> None:
        """Show an event here, and to who else observes."""
        progress(event)
        if reports.observe is not None:
            reports.observe(event)

    return make_release(
        asked.policy,
        asked.locations,
        partition=asked.partition,
        observe=observe,
        archive=archive_of(asked.policy, asked.locations),
        reported=page,
        witness=reports.witness,
        second_lock=reports.second_lock,
    )


def _report_to(asked: Asked, path: Path | None) -> Callable[[bytes], None] | None:
    """Return what writes the internal report, if it was asked for; its place is checked before all else."""
    if path is None:
        return None
    page = new_page(path, asked.locations.release(asked.policy, asked.partition))
    return partial(write_page, page, private=True)


def _tell_refusal(ctx: click.Context, asked: Asked, report: GateReport) -> None:
    """Print what was measured, to who may see it, and what the refused release has cost."""
    if shows_values(ctx, err=True):
        print_report(report, f"Refused: {asked.policy.name}", exact=True, err=True, policy=asked.policy)
    print_cost(asked, refused=True)
