"""The command that compares policies of all kinds on one table: `compare-kinds`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.comparison_page import OF_KINDS, Comparison, comparison_page
from anon_pipeline.cli.options import (
    NEW_FILE,
    PATH,
    json_option,
    locations_of,
    partition_option,
    project_options,
)
from anon_pipeline.cli.shared import PRIVATE, Progress, echo_json, print_table, write_file
from anon_pipeline.cli.targets import refuse_targets

if TYPE_CHECKING:
    from anon_pipeline.kinds.compare_kinds import Compared
    from anon_pipeline.kinds.plain_releases import AnyPolicy

_NO_RELEASE = 3
_TEXTS = {"policy", "kind", "gate"}


@click.command("compare-kinds")
@click.argument("policy_files", metavar="POLICY POLICY...", nargs=-1, required=True, type=PATH)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="COLUMN",
    help="Column that an attacker who knows all others wants to learn. Default: those that the policies call "
    "sensitive. Repeatable.",
)
@click.option(
    "--sql",
    "sql_file",
    type=PATH,
    help="File of your own SQL queries on the table records, ended by semicolons: how far their results on "
    "each release are from those on the input. Needs the extra duckdb.",
)
@click.option("--csv", "csv_file", type=NEW_FILE, help="Write the table as CSV.")
@click.option("--map", "map_file", type=NEW_FILE, help="Write the map of risk and loss as SVG.")
@click.option("--html", "html_file", type=NEW_FILE, help="Write map and table as one page.")
@partition_option
@project_options
@json_option
@click.pass_context
def compare_kinds(  # noqa: PLR0913 - the options of a command
    ctx: click.Context,
    /,
    *,
    policy_files: Sequence[Path],
    secrets: Sequence[str],
    sql_file: Path | None,
    csv_file: Path | None,
    map_file: Path | None,
    html_file: Path | None,
    partition: str | None,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Compare policies of all kinds on the table of the first POLICY.

    A release is made by each policy in memory, judged by its own gate, and measured with the same measures as
    the others. A second one, of half of the records, is attacked by the same attackers. Nothing is published,
    and no ε is spent. Exit code 3: no policy has a release.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.kinds.compare_kinds import compare_kinds as compare  # noqa: PLC0415
    from anon_pipeline.utility.sql_workload import read_workload  # noqa: PLC0415

    if len(policy_files) < 2:
        raise InputError("two policies or more must be given, to be compared with each other")
    files = dict(zip(_names(policy_files), policy_files, strict=True))
    policies = {name: _load(file) for name, file in files.items()}
    locations = {name: locations_of(file, project, outside=allow_outside) for name, file in files.items()}
    workload = None if sql_file is None else read_workload(sql_file)
    targets = (csv_file, map_file, html_file)
    for name, file in files.items():
        refuse_targets(policies[name], file, locations[name], *targets, partition=partition)
    with Progress() as progress:
        asked: dict[str, Any] = {"secrets": secrets, "workload": workload, "partition": partition}
        found = list(compare(policies, locations, **asked, observe=progress))
    if not as_json:
        _print(found)
    written = _write(found, targets)
    if as_json:
        echo_json({"policies": [one.to_json() for one in found], "written": written})
    else:
        for path in written:
            click.echo(f"wrote {path}")
    click.echo(PRIVATE, err=True)
    if all(one.found is None for one in found):
        ctx.exit(_NO_RELEASE)


def _names(files: Sequence[Path]) -> list[str]:
    """Return a name for each file: its own, or its path where several have the same."""
    short = [file.stem for file in files]
    return [file.stem if short.count(file.stem) == 1 else file.as_posix() for file in files]


def _load(file: Path) -> AnyPolicy:
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import kind_of_policy, load_declared  # noqa: PLC0415

    kind = kind_of_policy(file)
    return load_policy(file) if kind is None else load_declared(file, kind)


def _print(found: Sequence[Compared]) -> None:
    """Print the policies with a release as a table, and why the others have none."""
    from anon_pipeline.kinds.kind_rows import kind_rows, query_rows, shown_columns  # noqa: PLC0415

    made = [one for one in found if one.found is not None]
    if made:
        names = shown_columns(made)
        lines = [tuple(row[name] for name in names) for row in kind_rows(made)]
        print_table(names, lines, title="Kinds of releases", numbers={*names} - _TEXTS, width=150)
    if queries := query_rows(made):
        headings = ("query, by its place in the file", *(one.name for one in made))
        print_table(headings, queries, title="Mean error of each query", numbers=headings, width=150)
    for one in found:
        if one.found is None:
            click.echo(f"{one.name}: no release. {one.problem}")


def _write(found: Sequence[Compared], targets: tuple[Path | None, ...]) -> list[str]:
    """Write what was asked for, each file whole or not at all, readable by its owner alone; return where.

    Args:
        targets: of table, map and page.
    """
    from anon_pipeline.kinds.kind_rows import kind_rows, kinds_csv, kinds_map  # noqa: PLC0415

    def page(shown: Sequence[Compared]) -> str:
        return comparison_page(
            Comparison("Kinds of releases", kinds_map(shown), _NO_PROMISE, kind_rows(shown), OF_KINDS)
        )

    written: list[Any] = []
    for path, made in zip(targets, (kinds_csv, kinds_map, page), strict=True):
        if path is not None:
            write_file(path, made(found).encode(), what="comparison")
            written.append(str(path))
    return written


_NO_PROMISE = (
    "The attackers are simple, and the same for all. A small risk is no guarantee: ε-DP has one, synthetic "
    "records have none, and the gate of classes simulates attackers who know more.",
)
