"""The pages of the site that are made from the code: they are not committed, and cannot be out of date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from docsite.command_pages import commands_page
from docsite.notebook_page import notebook_page
from docsite.python_pages import python_page
from docsite.schema_pages import policy_page
from docsite.screens_page import screens_page, stage_screens

__all__ = ["GENERATED", "write_generated"]

GENERATED: Final[Mapping[str, Callable[[], str]]] = {
    "reference-policy.md": policy_page,
    "reference-commands.md": commands_page,
    "reference-python.md": python_page,
    "notebook.md": notebook_page,
    "screens.md": screens_page,
}


def write_generated(docs: Path) -> None:
    """Write every generated page into the folder of staged pages."""
    for name, page in GENERATED.items():
        (docs / name).write_text(page(), encoding="utf-8")
    stage_screens(docs)
