"""The command that shows what a table looks like and what would be proposed for it: `profile`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.shared import json_option

if TYPE_CHECKING:
    from anon_pipeline.profile.profiling import Profile

_PRIVATE = "Computed from the originals and not protected: for the curator, not for publication."


@click.command()
@click.argument("data", metavar="DATA", type=click.Path(path_type=Path))
@json_option
@click.option(
    "--json-to", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write it as JSON."
)
@click.option(
    "--html", "html_file", type=click.Path(path_type=Path, dir_okay=False), help="Write it as a page."
)
def profile(data: Path, *, as_json: bool, json_file: Path | None, html_file: Path | None) -> None:
    """Show what the columns of DATA hold, and which role would be proposed for each.

    No value of the data is shown. What is written is for its owner alone (0600).

    DATA is a table's file, or a YAML file with the section source of a policy.
    """
    from anon_pipeline.profile import shown  # noqa: PLC0415
    from anon_pipeline.profile.profiling import profile_file  # noqa: PLC0415

    found, _ = profile_file(data)
    if as_json:
        click.echo(shown.as_json(found), nl=False)
    else:
        print_profile(found, f"Profile of {data.name}")
    for path, text in ((json_file, shown.as_json), (html_file, lambda one: shown.as_html(one, data.name))):
        if path is not None:
            write_private_file(path, text(found))
            click.echo(f"wrote {path}", err=as_json)
    click.echo(_PRIVATE, err=True)


def print_profile(found: Profile, title: str) -> None:
    """Print a profile as one table, and what is known of the table as a whole."""
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from anon_pipeline.profile.shown import HEADINGS, lines, rows  # noqa: PLC0415

    table = Table(title=title, title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for row in rows(found):
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160, markup=False).print(table)
    for line in lines(found):
        click.echo(line)


def write_private_file(path: Path, text: str) -> None:
    """Write a file for its owner alone, whole or not at all.

    Raises:
        InputError: it cannot be written.
    """
    from anon_pipeline.base.disk import replace_file  # noqa: PLC0415
    from anon_pipeline.base.errors import InputError, error_words  # noqa: PLC0415

    try:
        replace_file(path, text.encode("utf-8"), mode=0o600, what="profile")
    except OSError as error:
        raise InputError(f"{path.name} must be writable: {error_words(error)}") from None
