"""Commands that judge without making anything: `check`, `schema`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.cli.documents import DOCUMENTS, schema_of
from anon_pipeline.cli.formats import FORMATS, Checked
from anon_pipeline.cli.options import (
    PATH,
    always_json_option,
    json_option,
    open_policy,
    policy_option,
    project_options,
    show_values_option,
)
from anon_pipeline.cli.result_schemas import RESULTS
from anon_pipeline.cli.shared import echo_json, print_report, show_names, shows_values

if TYPE_CHECKING:
    from anon_pipeline.base.packed_tables import Table
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations

_CHECK_EXAMPLE = """
\b
Example:
  anon-pipeline check releases/small --policy policy.yaml --allow-unmeasured
  anon-pipeline check releases/small --policy policy.yaml --allow-unmeasured --format junit > check.xml
"""
_SCHEMA_EXAMPLE = """
\b
Example:
  anon-pipeline schema > policy.schema.json
  anon-pipeline schema --kind epsilon-dp > epsilon-dp.schema.json
  anon-pipeline schema diff
"""


@click.command(epilog=_CHECK_EXAMPLE)
@click.argument("data", metavar="PATH", type=PATH)
@policy_option("The policy file.", required=True)
@click.option(
    "--allow-unmeasured",
    is_flag=True,
    help="Exit with 0 even if some limits cannot be measured on the file alone.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *FORMATS]),
    default="text",
    show_default=True,
    help="How to print the verdicts: for people, or for a program.",
)
@json_option
@project_options
@show_values_option
@click.pass_context
def check(  # noqa: PLR0913, PLR0917 - one for each option
    ctx: click.Context,
    data: Path,
    policy_file: Path,
    allow_unmeasured: bool,
    form: str,
    as_json: bool,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Judge a released file by the limits of a policy.

    PATH is a Parquet or CSV file, a manifest, or a folder of one or more releases with their manifests. The
    file that a manifest names must be the one that it describes.

    Some limits need the originals. Without them they are shown as unmeasured, and count as refused unless
    --allow-unmeasured is given.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.base.headers import withheld_names  # noqa: PLC0415

    form = "json" if as_json else form
    policy, locations = open_policy(policy_file, project, outside=allow_outside)
    found: list[Checked] = []
    for name, read in _tables(data, policy):
        with private_stage("check"):
            frame = read()
            report = _judge(frame, policy, locations)
        found.append(Checked(name, policy.name, policy_file, report, allow_unmeasured))
        if form == "text":
            title = f"{name} by {policy.name}"
            print_report(report, title, at_hand=True, exact=shows_values(ctx), policy=policy)
        show_names(ctx, withheld_names(list(map(str, frame.columns)), policy.released))
        if form == "text":
            _say_unmeasured(report, allowed=allow_unmeasured)
    if form != "text":
        click.echo(FORMATS[form](found))
    sys.exit(0 if all(one.passed for one in found) else 1)


def _judge(frame: Table, policy: Policy, locations: Locations) -> GateReport:
    """Judge a table with the available files; for a file alone the population's table is optional."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.gate import evaluate  # noqa: PLC0415
    from anon_pipeline.sources.population import read_population  # noqa: PLC0415

    population = None
    with suppress(InputError):
        population = read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies)
    return evaluate(frame, policy, hierarchies=locations.hierarchies, population=population)


def _say_unmeasured(report: GateReport, *, allowed: bool) -> None:
    """Say which limits need more than the file, unless others are refused."""
    from anon_pipeline.gate import Status  # noqa: PLC0415

    unmeasured = report.with_status(Status.UNMEASURED)
    if unmeasured and not report.with_status(Status.REFUSED):
        click.echo(
            "Not measured on the file alone: "
            + ", ".join(verdict.limit for verdict in unmeasured)
            + (". Allowed." if allowed else ". Counted as refused (--allow-unmeasured lets them pass).")
        )


def _tables(path: Path, policy: Policy) -> Iterator[tuple[str, Callable[[], Table]]]:
    """Yield the name of each released table at a path, and what reads it.

    Raises:
        InputError: a folder without a manifest.
    """
    from anon_pipeline.publish.file_formats import read_release  # noqa: PLC0415
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415
    from anon_pipeline.publish.release_files import manifests_in, named_table  # noqa: PLC0415

    if path.is_dir():
        for manifest in manifests_in(path):
            yield (
                "/".join((path.name, *manifest.parent.relative_to(path).parts)),
                partial(named_table, manifest, policy),
            )
    elif path.suffix == Path(MANIFEST).suffix:
        yield path.absolute().parent.name, partial(named_table, path, policy)
    else:
        yield path.name, partial(read_release, path, policy)


@click.command(epilog=_SCHEMA_EXAMPLE)
@click.argument("command", required=False, type=click.Choice(sorted({*DOCUMENTS, *RESULTS})))
@click.option(
    "--kind",
    type=click.Choice([name.replace("_", "-") for name in RELEASE_KINDS]),
    help="Of the policy of this kind of release.",
)
@always_json_option
def schema(command: str | None, kind: str | None) -> None:
    """Print the JSON Schema of a policy file, for editors.

    With COMMAND: of what the command prints with --json.
    """
    if kind is not None:
        if command is not None:
            raise click.UsageError("--kind must not be given with COMMAND")
        from anon_pipeline.policy.declared_release import declared_json_schema  # noqa: PLC0415
        from anon_pipeline.policy.load_declared import policy_model  # noqa: PLC0415

        echo_json(declared_json_schema(policy_model(RELEASE_KINDS[kind.replace("-", "_")])))
        return
    if command is not None:
        echo_json(schema_of(command))
        return
    from anon_pipeline.policy import json_schema  # noqa: PLC0415

    echo_json(json_schema())
