"""The command line: run, check, schema, demo.

Belongs here: arguments, progress, one table at the end, exit codes. Does not belong here: any work; what is
heavy is imported when a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from anon_pipeline.gate import GateReport
    from anon_pipeline.locations import Locations
    from anon_pipeline.policy import Policy

__all__ = ["cli", "main"]

_EXIT_CODES = """
Exit codes: 0 done; 1 the gate refused; 2 the input or the policy is wrong; 3 infeasible (no recoding within
the limits).
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
@click.version_option(package_name="anon-pipeline")
def cli() -> None:
    """Turn personal data into a release that is safe to publish, and refuse to publish it otherwise."""


_project = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that the policy's paths are relative to. Default: the project that the policy file is in.",
)


@cli.command()
@click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))
@click.option("--partition", help="Key of a partition, for a policy whose schedule has partitions.")
@_project
def run(policy_file: Path, partition: str | None, project: Path | None) -> None:
    """Make the release that POLICY describes, and publish it if the gate passes it."""
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.release import make_release  # noqa: PLC0415

    policy = load_policy(policy_file)
    _check_partition(policy, partition)
    with _Progress() as progress:
        written = make_release(
            policy, _locations(policy_file, project), partition=partition, told=progress.told
        )
    _print_report(written.report, f"Release {policy.name}")
    _print_paths(written.path, written.manifest_path)


@cli.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--policy", "policy_file", required=True, type=click.Path(path_type=Path), help="The policy file."
)
@click.option(
    "--allow-unmeasured",
    is_flag=True,
    help="Exit with 0 although limits could not be measured on the file alone.",
)
@_project
def check(data: Path, policy_file: Path, allow_unmeasured: bool, project: Path | None) -> None:
    """Judge the released file DATA (Parquet or CSV) by the limits of a policy.

    Some limits need the originals, which a file alone does not have: they are shown as unmeasured, and count
    as refused unless --allow-unmeasured is given.
    """
    from anon_pipeline.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.gate import Status, evaluate  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.tables import read_release  # noqa: PLC0415

    policy = load_policy(policy_file)
    with private_stage("check"):
        frame = read_release(data, policy)
        report = evaluate(frame, policy, hierarchies=_locations(policy_file, project).hierarchies)
    _print_report(report, f"{data.name} by {policy.name}")
    unmeasured = report.having(Status.UNMEASURED)
    if unmeasured and not report.having(Status.REFUSED):
        click.echo(
            "Not measured on the file alone: "
            + ", ".join(verdict.limit for verdict in unmeasured)
            + (
                ". Allowed."
                if allow_unmeasured
                else ". Counted as refused (--allow-unmeasured lets them pass)."
            )
        )
    refused = report.having(Status.REFUSED) or (unmeasured and not allow_unmeasured)
    sys.exit(1 if refused else 0)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of a policy file, for editors."""
    from anon_pipeline.policy import json_schema  # noqa: PLC0415

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


@cli.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Project folder: the release goes below releases/, private tables below vault/.",
)
def demo(folder: Path) -> None:
    """Make the release `patients` through Dagster, in this process, on generated data."""
    click.echo("Starting Dagster …", err=True)
    from anon_pipeline.orchestration.demo import materialize_demo  # noqa: PLC0415

    with _Progress() as progress:
        made = materialize_demo(folder.absolute(), told=progress.told)
    _print_report(made.report, "Release patients")
    _print_paths(made.path, made.manifest_path)


def _locations(policy_file: Path, project: Path | None) -> Locations:
    from anon_pipeline.locations import Locations, project_root  # noqa: PLC0415

    return Locations.of(project or project_root(policy_file))


def _check_partition(policy: Policy, partition: str | None) -> None:
    """Refuse a partition key that the policy's schedule does not have, and none where it has partitions."""
    from anon_pipeline.errors import InputError  # noqa: PLC0415

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


class _Progress:
    """A line on standard error that says which stage is at work; plain lines where there is no terminal."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415

        self._console = Console(stderr=True)
        self._status = self._console.status("starting")

    def __enter__(self) -> _Progress:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._status.stop()

    def told(self, stage: str) -> None:
        """Say that a stage begins."""
        if self._console.is_terminal:
            self._status.update(stage)
        else:
            click.echo(f"… {stage}", err=True)


def _print_report(report: GateReport, title: str) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=title, title_justify="left")
    for heading in ("limit", "measured", "demanded", "verdict"):
        table.add_column(heading, overflow="fold")
    for v in report.verdicts:
        measured = "" if v.value is None else f"{v.value:.6g}"
        demanded = v.sense if v.bound is None else f"{v.sense} {v.bound:.6g}"
        table.add_row(v.limit, measured, demanded, str(v.status) + (f": {v.reason}" if v.reason else ""))
    Console(width=None if sys.stdout.isatty() else 110, markup=False).print(table)


def _print_paths(data: Path, manifest: Path) -> None:
    click.echo(f"release   {data}\nmanifest  {manifest}")


def main() -> None:
    """Run the command line; named errors become one message and their exit code."""
    from anon_pipeline.errors import AnonPipelineError, GateRefused  # noqa: PLC0415

    try:
        cli()
    except GateRefused as error:
        from anon_pipeline.gate import GateReport, Status  # noqa: PLC0415

        if isinstance(error.report, GateReport) and not error.report.passed:
            _print_report(error.report, "Refused: nothing was published")
            limits = [v.limit for v in error.report.verdicts if v.status is not Status.PASSED]
            click.echo(f"refused by {', '.join(limits)}", err=True)
        else:
            click.echo(f"refused: {error}", err=True)
        sys.exit(error.exit_code)
    except AnonPipelineError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
