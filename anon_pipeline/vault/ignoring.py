"""The project's ``.gitignore``: private tables are not committed, also before the vault is there."""

from contextlib import suppress
from pathlib import Path

_LINE = "/vault/"
_ALIKE = {"vault", "vault/", "/vault", _LINE, "/vault/*", "vault/*"}


def ignore_vault(project: Path) -> None:
    """Let git ignore the vault's folder of a project; what stands in its ``.gitignore`` stays.

    Args:
        project: folder of the project. Where its file cannot be written the vault's own does it alone.
    """
    path = project / ".gitignore"
    with suppress(OSError, UnicodeDecodeError):
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if _ALIKE.isdisjoint(line.strip() for line in before.splitlines()):
            gap = "" if not before or before.endswith("\n") else "\n"
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{gap}{_LINE}\n")
