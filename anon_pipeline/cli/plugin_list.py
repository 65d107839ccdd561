"""The command `plugins`: which packages add kinds, and which of them the deployment allows."""

from __future__ import annotations

import sys

import click

from anon_pipeline.cli.shared import echo_json, json_option


@click.command()
@json_option
def plugins(as_json: bool) -> None:
    """List the installed plugins: package, version, kinds, and whether they are allowed.

    ANON_PIPELINE_PLUGINS names the allowed packages, separated by commas. Default: none. No other plugin is
    imported. An allowed plugin that cannot be used is an error.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from anon_pipeline.catalog.plugins import VARIABLE, allowed, installed  # noqa: PLC0415

    listed, found = allowed(), installed()
    if as_json:
        rows = [
            {"name": one.name, "version": one.version, "kinds": [*one.kinds], "allowed": one.name in listed}
            for one in found
        ]
        from anon_pipeline.limits import table as _  # noqa: PLC0415 - makes all tables, or fails

        echo_json({"allowed": [*listed], "plugins": rows})
        return
    if found:
        table = Table(title="Plugins", title_justify="left")
        for heading in ("package", "version", "kinds", "allowed"):
            table.add_column(heading, overflow="fold")
        for one in found:
            table.add_row(one.name, one.version, ", ".join(one.kinds), "yes" if one.name in listed else "no")
        Console(width=None if sys.stdout.isatty() else 110, markup=False).print(table)
    else:
        click.echo("No plugin is installed.")
    click.echo(f"{VARIABLE} allows: {', '.join(listed) or 'none'}")
    from anon_pipeline.limits import table as _  # noqa: F401, PLC0415 - makes all tables, or fails
