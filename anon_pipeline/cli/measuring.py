"""The command that measures what an analyst would lose: `utility`."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.releasing import check_partition
from anon_pipeline.cli.shared import (
    Progress,
    allow_outside_option,
    locations_of,
    mistakes_option,
    project_option,
    show_values_option,
)

if TYPE_CHECKING:
    from anon_pipeline.utility.results import Utility

_PRIVATE = "Computed from the originals and not protected: for the curator, not for publication."


@click.command()
@click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))
@click.option("--partition", help="Key of a partition, for a policy whose schedule has partitions.")
@click.option("--target", help="Sensitive or insensitive column to predict. Default: see docs/utility.md.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@project_option
@allow_outside_option
@mistakes_option
@show_values_option
def utility(
    policy_file: Path,
    partition: str | None,
    target: str | None,
    as_json: bool,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Measure what an analyst loses by the release of POLICY.

    The release is made in memory, as if it were the first, and thrown away: nothing is published and no ε is
    spent. The gate does not judge it.
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.utility.trial import measure_trial  # noqa: PLC0415

    policy = load_policy(policy_file)
    check_partition(policy, partition)
    locations = locations_of(policy_file, project, outside=allow_outside)
    with Progress() as progress:
        found = measure_trial(policy, locations, partition=partition, target=target, observe=progress)
    if as_json:
        click.echo(json.dumps(found.to_json(), indent=2, ensure_ascii=False))
    else:
        _print(found, f"Utility of {policy.name}")
    click.echo(_PRIVATE, err=True)


def _print(found: Utility, title: str) -> None:
    """Print a table per group of measures, each with its unit and whether more or less of it is better."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from anon_pipeline.utility.results import rows  # noqa: PLC0415

    console = Console(width=None if sys.stdout.isatty() else 110, markup=False)
    console.print(title)
    for group, members in groupby(rows(found), key=lambda row: row.group):
        table = Table(title=group, title_justify="left")
        for heading in ("measure", "value", "unit", "better is"):
            table.add_column(heading, justify="right" if heading == "value" else "left", overflow="fold")
        for row in members:
            words = f"{row.column}: {row.words}" if row.column else row.words
            table.add_row(words, row.value, row.unit, row.better)
        console.print(table)
