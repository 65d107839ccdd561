"""A real catalog of Apache Iceberg in SQLite, with its warehouse in a folder, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NAME = "ware_house"
"""As a policy names it."""


def catalog_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a catalog in a folder, with the namespace ``shop``, and let the environment name it."""
    library = pytest.importorskip("pyiceberg.catalog", reason="needs the extra iceberg")
    variables = {"URI": f"sqlite:///{folder / 'catalog.db'}", "WAREHOUSE": f"file://{folder / 'warehouse'}"}
    for name, value in variables.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__WARE_HOUSE__{name}", value)
    catalog = library.load_catalog(
        NAME, type="sql", **{name.lower(): value for name, value in variables.items()}
    )
    catalog.create_namespace("shop")
    return catalog


def files_in(folder: Path) -> dict[str, bytes]:
    """Return all that lies in a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
