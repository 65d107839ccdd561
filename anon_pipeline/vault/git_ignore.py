"""``.gitignore``: private tables and files with values are not committed, also before they are there."""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from anon_pipeline.vault.names import IGNORED

_LINE = "/vault/"
_ALIKE = ("vault", "vault/", "/vault", "/vault/*", "vault/*")
_ALL, _ALL_ALIKE = "*", ("/*", "**", "/**")
_SPECIAL = re.compile(r"([\\*?\[\]])")
_BLANK = re.compile(r"[\r\n]|[ \t](?=[ \t]*$)")  # ends a line of the file, or is cut off at its end


def ignore_vault(project: Path) -> None:
    """Let git ignore the vault's folder of a project; what stands in its ``.gitignore`` stays.

    Args:
        project: folder of the project. Where its file cannot be written the vault's own does it alone.
    """
    with suppress(OSError, UnicodeDecodeError):
        _add(project / IGNORED, _LINE, alike=_ALIKE)


def ignore_all(folder: Path) -> None:
    """Let git ignore everything in a folder that is there.

    Raises:
        OSError: its ``.gitignore`` cannot be read or written.
        UnicodeDecodeError: it is no text.
    """
    _add(folder / IGNORED, _ALL, alike=_ALL_ALIKE)


def ignore_file(path: Path) -> None:
    """Let git ignore one file, by the ``.gitignore`` of its folder, which is there.

    Raises:
        OSError, UnicodeDecodeError: as for `ignore_all`.
    """
    name = _BLANK.sub("?", _SPECIAL.sub(r"\\\1", path.name))
    _add(path.parent / IGNORED, f"/{name}", alike=(name, _ALL, *_ALL_ALIKE))


def _add(file: Path, line: str, *, alike: Collection[str]) -> None:
    """Add a line to a ``.gitignore`` that has neither it nor one of those that do the same."""
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if {line, *alike}.isdisjoint(one.strip(" \t") for one in before.splitlines()):
        gap = "" if not before or before.endswith("\n") else "\n"
        with file.open("a", encoding="utf-8") as opened:
            opened.write(f"{gap}{line}\n")
