"""The `.env` of the project that a command is run in, but for what decides which code runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

_NOT_TAKEN = re.compile(
    r"PATH|PYTHON.*|(LD|DYLD|NUMBA|PANDERA|DAGSTER)_.*|.*_COMMAND"
    r"|ANON_PIPELINE_(PLUGINS|ALLOW_OUTSIDE|POLICY_DEFAULTS)"
    r"|PYSPARK_.*|SPARK_(HOME|CONF_DIR|.*OPTS|.*CLASSPATH)|(?i:GRPC_.*)"
    r"|(?i:PYICEBERG_(HOME|.*IMPL.*))"
)
"""Variables that only a deployment may set, not a file next to a policy: commands, plugins, floors."""


def read_project_env(folder: Path) -> None:
    """Set the variables of a project's `.env` that are not set yet.

    Args:
        folder: in a project; the file is next to its ``pyproject.toml`` or ``dg.toml``, else in the folder.
    """
    from anon_pipeline.base.project import project_root  # noqa: PLC0415

    path = project_root(folder / "policy.yaml") / ".env"
    if not path.is_file():
        return
    from dotenv import dotenv_values  # noqa: PLC0415

    left = []
    for name, value in dotenv_values(path, interpolate=False).items():
        if _NOT_TAKEN.fullmatch(name):
            left.append(name)
        elif value is not None:
            os.environ.setdefault(name, value)
    if left:
        names = ", ".join(sorted(left))
        click.echo(f"warning: .env may not set {names}: set it in the environment", err=True)
