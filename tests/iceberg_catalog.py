"""A catalog of Apache Iceberg, in SQLite or PostgreSQL; its warehouse in a folder or in S3: for tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

NAME = "ware_house"
"""As a policy names it."""


def catalog_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a catalog in a folder, with the namespace ``shop``, and let the environment name it."""
    return catalog_at(f"sqlite:///{folder / 'catalog.db'}", f"file://{folder / 'warehouse'}", monkeypatch)


def catalog_at(uri: str, warehouse: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a catalog in a database, with the namespace ``shop``, and let the environment name it.

    Args:
        warehouse: URL of a folder, or of a place in the S3 server that AWS_ENDPOINT_URL names.
    """
    library = pytest.importorskip("pyiceberg.catalog", reason="needs the extra iceberg")
    known = {"uri": uri, "warehouse": warehouse}
    if warehouse.startswith("s3://"):
        known |= {"s3.endpoint": os.environ["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"}
    for name, value in known.items():
        variable = f"PYICEBERG_CATALOG__WARE_HOUSE__{name.upper().replace('.', '__')}"
        monkeypatch.setenv(variable, value)
    url = sa.make_url(uri)
    if url.drivername == "postgresql":
        known["uri"] = url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    catalog = library.load_catalog(NAME, type="sql", **known)
    catalog.create_namespace("shop")
    return catalog


def files_in(folder: Path) -> dict[str, bytes]:
    """Return all that lies in a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
