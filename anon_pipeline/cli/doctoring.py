"""The command that looks at an installation: `doctor`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.shared import echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anon_pipeline.doctor import Finding

_UNUSABLE = 2


@click.command()
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Project whose vault, ledger and folders are looked at.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.pass_context
def doctor(ctx: click.Context, project: Path, as_json: bool) -> None:
    """Check the installation: keys, permissions, versions, DAGSTER_HOME, telemetry, numba's cache.

    It opens no private table and no ledger. Exit code 2: a check fails. Warnings are advice.

    \b
    Example:
      anon-pipeline doctor --json
    """
    from dataclasses import asdict  # noqa: PLC0415

    from anon_pipeline.doctor import examine  # noqa: PLC0415
    from anon_pipeline.policy.locations import Locations  # noqa: PLC0415

    findings = examine(Locations.of(project))
    if as_json:
        echo_json({"checks": [asdict(one) for one in findings]})
    else:
        _print(findings)
    if any(one.verdict == "fail" for one in findings):
        ctx.exit(_UNUSABLE)


def _print(findings: Sequence[Finding]) -> None:
    """Print the findings as one table."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(title="Installation", title_justify="left")
    for heading in ("check", "verdict", "found", "what to do"):
        table.add_column(heading, overflow="fold")
    for one in findings:
        table.add_row(one.name, one.verdict, one.found, one.advice)
    Console(width=None if sys.stdout.isatty() else 140, markup=False).print(table)
