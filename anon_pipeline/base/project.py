"""Which project a policy file belongs to."""

from __future__ import annotations

from pathlib import Path


def project_root(policy_file: Path) -> Path:
    """Return the project that a policy file belongs to.

    It is the nearest folder above with a ``pyproject.toml`` or ``dg.toml``, else the file's own folder.
    """
    folder = policy_file.absolute().parent
    for candidate in (folder, *folder.parents):
        if any((candidate / name).is_file() for name in ("pyproject.toml", "dg.toml")):
            return candidate
    return folder
