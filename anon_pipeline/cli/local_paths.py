"""Every path of the command line is local: a URL is refused before anything is looked for or made.

A table that is only looked at may be at a URL that a policy may name, see `TablePath`.
"""

from __future__ import annotations

import os
from typing import Any

import click

from anon_pipeline.base.places import LOCAL, TableUrl, is_local, remote_problem

_KEPT = (
    "exists",
    "file_okay",
    "dir_okay",
    "writable",
    "readable",
    "resolve_path",
    "allow_dash",
    "executable",
)


class LocalPath(click.Path):
    """A path that is no URL; what else is wanted of it is as before."""

    @classmethod
    def like(cls, kind: click.Path) -> LocalPath:
        """Return the same type, for local paths alone."""
        return cls(**{name: getattr(kind, name) for name in _KEPT}, path_type=kind.type)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Refuse a URL without repeating it, then convert."""
        if not is_local(os.fsdecode(value)):
            self.fail(LOCAL, param, ctx)
        return super().convert(value, param, ctx)


_OTHER_URL = (
    "must be a path, or a URL that a policy may name, got another URL (not shown, it may hold "
    "credentials): it {problem}. For a database, or a URL with credentials, give a YAML file with the "
    "section source of a policy, which names an environment variable with the URL: "
    "docs/init.md#tables-elsewhere."
)


class TablePath(LocalPath):
    """A path, or the URL of a table that a policy may name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a path or a `TableUrl`; refuse any other URL without repeating it."""
        text = os.fsdecode(value)
        if is_local(text):
            return super().convert(value, param, ctx)
        problem = remote_problem(text)
        if problem:
            self.fail(_OTHER_URL.format(problem=problem), param, ctx)
        return TableUrl(text)


def with_local_paths(command: click.Command) -> click.Command:
    """Let every path of a command, and of those below it, be local; change and return the command."""
    for param in command.params:
        if isinstance(param.type, click.Path) and not isinstance(param.type, LocalPath):
            param.type = LocalPath.like(param.type)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        with_local_paths(below)
    return command
