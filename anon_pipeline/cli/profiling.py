"""The command that shows what a table looks like and what would be proposed for it: `profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import NEW_FILE, data_argument, json_option
from anon_pipeline.cli.shared import PRIVATE, print_table, write_file

if TYPE_CHECKING:
    from anon_pipeline.base.places import TableUrl


@click.command()
@data_argument
@json_option
@click.option("--json-to", "json_file", type=NEW_FILE, help="Write it as JSON.")
@click.option("--html", "html_file", type=NEW_FILE, help="Write it as a page.")
def profile(data: Path | TableUrl, *, as_json: bool, json_file: Path | None, html_file: Path | None) -> None:
    """Show what the columns of DATA hold, and which role would be proposed for each.

    No value of the data is shown. What is written is for its owner alone (0600).

    DATA is a table's file, its URL (s3://, gs://, az://, https://), or a YAML file with the section
    source of a policy.
    """
    from anon_pipeline.draft.profile import output  # noqa: PLC0415
    from anon_pipeline.draft.profile.profile_table import profile_file  # noqa: PLC0415

    found, _ = profile_file(data)
    if as_json:
        click.echo(output.as_json(found), nl=False)
    else:
        print_table(output.HEADINGS, output.rows(found), title=f"Profile of {data.name}", width=160)
        click.echo("".join(f"{line}\n" for line in output.lines(found)), nl=False)
    for path, text in ((json_file, output.as_json), (html_file, lambda one: output.as_html(one, data.name))):
        if path is not None:
            write_file(path, text(found).encode(), what="profile")
            click.echo(f"wrote {path}", err=as_json)
    click.echo(PRIVATE, err=True)
