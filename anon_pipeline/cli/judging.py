"""Commands that judge without making anything: `check`, `schema`."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import click

from anon_pipeline.cli.shared import (
    allow_outside_option,
    locations_of,
    print_report,
    project_option,
    show_names,
    show_values_option,
    shows_values,
)


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--policy", "policy_file", required=True, type=click.Path(path_type=Path), help="The policy file."
)
@click.option(
    "--allow-unmeasured",
    is_flag=True,
    help="Exit with 0 even if some limits cannot be measured on the file alone.",
)
@project_option
@allow_outside_option
@show_values_option
@click.pass_context
def check(
    ctx: click.Context,
    data: Path,
    policy_file: Path,
    allow_unmeasured: bool,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Judge a released file by the limits of a policy.

    DATA is a Parquet or CSV file.

    Some limits need the originals. Without them they are shown as unmeasured, and count as refused unless
    --allow-unmeasured is given.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.base.headers import withheld_names  # noqa: PLC0415
    from anon_pipeline.gate import Status, evaluate  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.file_formats import read_release  # noqa: PLC0415
    from anon_pipeline.sources.population import read_population  # noqa: PLC0415

    policy = load_policy(policy_file)
    with private_stage("check"):
        locations = locations_of(policy_file, project, outside=allow_outside)
        locations.confine(policy)
        frame = read_release(data, policy)
        population = None
        with suppress(InputError):  # who has only the file need not have it: unmeasured then
            population = read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies)
        report = evaluate(frame, policy, hierarchies=locations.hierarchies, population=population)
    print_report(report, f"{data.name} by {policy.name}", at_hand=True, exact=shows_values(ctx))
    show_names(ctx, withheld_names(list(map(str, frame.columns)), policy.released))
    unmeasured = report.with_status(Status.UNMEASURED)
    if unmeasured and not report.with_status(Status.REFUSED):
        click.echo(
            "Not measured on the file alone: "
            + ", ".join(verdict.limit for verdict in unmeasured)
            + (
                ". Allowed."
                if allow_unmeasured
                else ". Counted as refused (--allow-unmeasured lets them pass)."
            )
        )
    refused = report.with_status(Status.REFUSED) or (unmeasured and not allow_unmeasured)
    sys.exit(1 if refused else 0)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a policy file, for editors."""
    from anon_pipeline.policy import json_schema  # noqa: PLC0415

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
