"""The command `plugins`: which packages add kinds, and which of them the deployment allows."""

from __future__ import annotations

import click

from anon_pipeline.cli.options import json_option
from anon_pipeline.cli.shared import echo_json, print_table


@click.command()
@json_option
def plugins(as_json: bool) -> None:
    """List the installed plugins: package, version, kinds, and whether they are allowed.

    ANON_PIPELINE_PLUGINS names the allowed packages, separated by commas. Default: none. No other plugin is
    imported. An allowed plugin that cannot be used is an error.
    """
    from anon_pipeline.catalog.plugins import VARIABLE, allowed_names, installed_plugins  # noqa: PLC0415

    listed, found = allowed_names(), installed_plugins()
    if as_json:
        rows = [
            {"name": one.name, "version": one.version, "kinds": [*one.kinds], "allowed": one.name in listed}
            for one in found
        ]
        from anon_pipeline.limits import table as _  # noqa: PLC0415 - makes all tables, or fails

        echo_json({"allowed": [*listed], "plugins": rows})
        return
    if found:
        lines = [
            (one.name, one.version, ", ".join(one.kinds), "yes" if one.name in listed else "no")
            for one in found
        ]
        print_table(("package", "version", "kinds", "allowed"), lines, title="Plugins")
    else:
        click.echo("No plugin is installed.")
    click.echo(f"{VARIABLE} allows: {', '.join(listed) or 'none'}")
    from anon_pipeline.limits import table as _  # noqa: F401, PLC0415 - makes all tables, or fails
