"""Every path of the command line is local: a URL is refused before anything is looked for or made."""

from __future__ import annotations

import os
from typing import Any

import click

from anon_pipeline.base.places import LOCAL, is_local

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


def with_local_paths(command: click.Command) -> click.Command:
    """Let every path of a command, and of those below it, be local; change and return the command."""
    for param in command.params:
        if isinstance(param.type, click.Path) and not isinstance(param.type, LocalPath):
            param.type = LocalPath.like(param.type)
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        with_local_paths(below)
    return command
