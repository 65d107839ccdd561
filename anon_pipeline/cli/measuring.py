"""The command that measures what an analyst would lose: `utility`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import (
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.partition_keys import check_partition
from anon_pipeline.cli.shared import PRIVATE, Progress, echo_json, print_table

if TYPE_CHECKING:
    from anon_pipeline.utility.results import Utility


@click.command()
@policy_argument
@partition_option
@click.option("--target", help="Sensitive or insensitive column to predict. Default: see docs/utility.md.")
@click.option(
    "--sql",
    "sql_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of your own SQL queries on the table records, ended by semicolons: how far their results on "
    "the release are from those on the input. Needs the extra duckdb.",
)
@json_option
@source_options
def utility(policy_file: Path, sql_file: Path | None, as_json: bool, **options: Any) -> None:
    """Measure what an analyst loses by the release of POLICY.

    The release is made in memory, as if it were the first, and thrown away: nothing is published and no ε is
    spent. The gate does not judge it.
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.utility.sql_workload import read_workload  # noqa: PLC0415
    from anon_pipeline.utility.trial import measure_trial  # noqa: PLC0415

    policy = load_policy(policy_file)
    partition: str | None = options["partition"]
    check_partition(policy, partition)
    workload = None if sql_file is None else read_workload(sql_file)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    with Progress() as progress:
        found = measure_trial(
            policy,
            locations,
            partition=partition,
            target=options["target"],
            workload=workload,
            observe=progress,
        )
    if as_json:
        echo_json(found.to_json())
    else:
        _print(found, f"Utility of {policy.name}")
    click.echo(PRIVATE, err=True)


def _print(found: Utility, title: str) -> None:
    """Print a table per group of measures, each with its unit and whether more or less of it is better."""
    from anon_pipeline.utility.results import rows  # noqa: PLC0415

    click.echo(title)
    for group, members in groupby(rows(found), key=lambda row: row.group):
        lines = [
            (f"{row.column}: {row.words}" if row.column else row.words, row.value, row.unit, row.better)
            for row in members
        ]
        print_table(("measure", "value", "unit", "better is"), lines, title=group, numbers=("value",))
    asked = found.get("workload")
    if asked is not None:
        names = ("rows", "missing", "invented", "mean", "median", "worst")
        shown = [(one.name, *(f"{getattr(one, name):.3g}" for name in names)) for one in asked.values()]
        headings = (
            "query, by its place in the file",
            "rows",
            "share missing",
            "rows invented",
            "mean error",
            "median",
            "worst",
        )
        print_table(headings, shown, title="What your queries lose", numbers=headings)
