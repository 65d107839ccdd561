"""The command that looks at an installation: `doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.options import json_option, this_project_option
from anon_pipeline.cli.shared import echo_json, print_table

_UNUSABLE = 2


@click.command()
@this_project_option("Project whose vault, ledger and folders are looked at.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, project: Path, as_json: bool) -> None:
    """Check the installation: keys, permissions, versions, DAGSTER_HOME, telemetry, numba's cache.

    It opens no private table and no ledger. Exit code 2: a check fails. Warnings are advice.

    \b
    Example:
      anon-pipeline doctor --json
    """
    from dataclasses import asdict  # noqa: PLC0415

    from anon_pipeline.cli.installation import examine  # noqa: PLC0415
    from anon_pipeline.policy.locations import Locations  # noqa: PLC0415

    findings = examine(Locations.of(project))
    if as_json:
        echo_json({"checks": [asdict(one) for one in findings]})
    else:
        rows = [(one.name, one.verdict, one.found, one.advice) for one in findings]
        print_table(("check", "verdict", "found", "what to do"), rows, title="Installation", width=140)
    if any(one.verdict == "fail" for one in findings):
        ctx.exit(_UNUSABLE)
