"""A warning before a table is read that probably needs more memory than there is."""

from __future__ import annotations

import click

from anon_pipeline.cli.run_output import Asked


def warn_of_memory(asked: Asked) -> None:
    """Warn if a release probably needs more memory than is free; the number of records is not said."""
    from anon_pipeline.base.available_memory import available_memory  # noqa: PLC0415
    from anon_pipeline.sources.needed_memory import needed_memory  # noqa: PLC0415

    needed = needed_memory(asked.policy, asked.locations.sources, asked.partition)
    free = available_memory()
    if needed is not None and free is not None and needed > free:
        click.echo(f"warning: {LITTLE_MEMORY}", err=True)


LITTLE_MEMORY = (
    "the table probably needs more memory than is free. If memory runs out, the system ends this run without "
    "a message. A table that is too large can be divided: anon-pipeline divide (docs/dividing.md)"
)
