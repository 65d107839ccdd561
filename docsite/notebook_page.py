"""The notebook of the docs, run and written as a page: its output is made anew with each site."""

from __future__ import annotations

import json
import os
from typing import Any, Final

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter
from traitlets.config import Config

from docsite.staging import ROOT

__all__ = ["NOTEBOOK", "executed", "notebook_page"]

NOTEBOOK: Final = ROOT / "docs" / "notebook.ipynb"
_WITHOUT_PORTS: Final = Config({"AsyncKernelManager": {"transport": "ipc"}})  # others could read those


def executed() -> Any:
    """Return the notebook with the output of all its cells.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.
    """
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}  # this package, whatever else is installed
    client = NotebookClient(notebook, kernel_name="python3", timeout=300, config=_WITHOUT_PORTS)
    client.execute(cwd=str(ROOT), env=environ)
    return notebook


def notebook_page() -> str:
    """Return the page: texts as they are, code as blocks, output as HTML where there is some."""
    text, _ = MarkdownExporter().from_notebook_node(executed())
    return str(text)


def is_clean(text: str) -> bool:
    """Tell whether a notebook's file has no output."""
    return all(not cell.get("outputs") for cell in json.loads(text)["cells"])
