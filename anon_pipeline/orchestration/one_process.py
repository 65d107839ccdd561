"""One process for all steps of a run, in a project that somebody scaffolds a release into.

Belongs here: the file that says so, and when it is written. Does not belong here: the executor of the
release's own job, see `jobs`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

NAME = "one_process.py"
"""Name of the file, in the folder of definitions."""

_TEXT = '''"""All steps of a run in one process: one for each step takes longer to start than to work.

It holds for all assets of this code location. Remove the file, or name another executor, if others need one.
"""

import dagster as dg

defs = dg.Definitions(executor=dg.in_process_executor)
'''
_SAYS = re.compile(rb"\bexecutor\s*=")
_NOT_OURS = {"node_modules", "site-packages", "__pycache__", "venv", "build", "dist"}


def write_one_process(folder: Path, project: Path) -> Path | None:
    """Write the file, unless some module of the project sets an executor already.

    Args:
        folder: of definitions, which Dagster loads.
        project: its root; hidden folders and installed packages are not looked into.
    Returns:
        The file, or None if there is an executor.
    Raises:
        OSError: it cannot be written.
    """
    if any(_SAYS.search(path.read_bytes()) for path in _modules(project)):
        return None
    path = folder / NAME
    path.write_text(_TEXT, encoding="utf-8")
    return path


def _modules(project: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(project):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_OURS]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))
