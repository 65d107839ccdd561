"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from anon_pipeline.cli import cli

__all__ = ["commands_page"]

_HEAD = """# Commands
What `--help` says of each command. What they are for: [all ways to use it](usage.md). Their exit codes:
[operations](operations.md#exit-codes).

"""


def commands_page() -> str:
    """Return the page: a section for each command, those of a group under it."""
    return _HEAD + "\n".join(_sections(cli, ["anon-pipeline"]))


def _sections(group: click.Group, path: list[str]) -> Iterator[str]:
    for name, command in group.commands.items():
        own = [*path, name]
        yield f"{'#' * len(own)} {' '.join(own[1:])}"
        yield from _text(command.help or "")
        if isinstance(command, click.Group):
            yield from _sections(command, own)
        else:
            yield from _usage(command, own)


def _text(help_: str) -> Iterator[str]:
    yield from (line.strip("\b").strip() for line in help_.splitlines())
    yield ""


def _usage(command: click.Command, path: list[str]) -> Iterator[str]:
    context = click.Context(command, info_name=" ".join(path))
    yield from ("```text", " ".join([" ".join(path), *command.collect_usage_pieces(context)]), "```", "")
    records = [record for one in command.get_params(context) if (record := one.get_help_record(context))]
    if records:
        yield from ("| option | what |", "|---|---|")
        for option, what in records:
            cells = [text.replace("|", "\\|").replace("<", "&lt;") for text in (option, what)]
            yield f"| `{cells[0]}` | {cells[1]} |"
        yield ""
    if command.epilog:
        yield from (
            "```text",
            *(line.strip() for line in command.epilog.strip("\b\n").splitlines()),
            "```",
            "",
        )
