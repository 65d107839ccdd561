"""The command that makes an example: `demo`."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.options import NEW_FILE, json_option
from anon_pipeline.cli.shared import (
    Progress,
    echo_json,
    print_paths,
    print_report,
    print_warnings,
    write_file,
)


@click.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="this folder",
    help="Project folder, for releases/ (the release), vault/ (private tables) and the ledger.",
)
@click.option(
    "--messy",
    metavar="FILE",
    type=NEW_FILE,
    help="Make no release: write a messy table of 10,000 generated customers to FILE, to practice on.",
)
@json_option
def demo(folder: Path, messy: Path | None, as_json: bool) -> None:
    """Make the example release `patients` through Dagster.

    The data is generated; everything runs in this process.
    """
    if messy is not None:
        _write_messy(messy)
        if as_json:
            echo_json({"file": str(messy)})
        else:
            click.echo(f"wrote {messy}: 10,000 generated customers of a bank; nobody is meant")
        return
    click.echo("Starting Dagster …", err=True)
    from anon_pipeline.orchestration.demo import materialize_demo  # noqa: PLC0415

    with Progress() as progress:
        made = materialize_demo(folder.absolute(), observe=progress)
    if as_json:
        echo_json(
            {
                "data": str(made.path),
                "manifest": str(made.manifest_path),
                "report": str(made.report_path),
                "measured": made.measured,
                "verdicts": made.report.to_json()["verdicts"],
            }
        )
        return
    print_report(made.report, "Release patients")
    print_warnings(made.report)
    print_paths((made.path,), made.manifest_path, made.report_path, made.measured)


def _write_messy(file: Path) -> None:
    """Write the table of the tutorial, for its owner alone, as a table of people should be."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.sources.messy import customers  # noqa: PLC0415

    if file.exists():
        raise InputError(f"{file.name}: must not be there yet. Remove it, or name another file.")
    write_file(file, customers(), what="file")
