"""Libraries that an extra of the package brings; a missing one is an error that names what to install."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from anon_pipeline.base.errors import InputError

EXTRAS: Mapping[str, str] = MappingProxyType(
    {
        "adlfs": "az",
        "aiohttp": "http",
        "deltalake": "delta",
        "duckdb": "duckdb",
        "gcsfs": "gs",
        "openpyxl": "excel",
        "psycopg": "postgres",
        "pyiceberg": "iceberg",
        "pyspark": "spark",
        "s3fs": "s3",
    }
)
"""Module → extra of this package that installs it."""

REPORTING_LEAKS = frozenset({"duckdb"})
"""Modules of extras that report, at the end of a process, objects that were not garbage collected."""


def import_extra(module: str) -> Any:
    """Import a library of an extra.

    Args:
        module: one of `EXTRAS`.
    Raises:
        InputError: it is not installed; with what to install.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError:
        missing = f"{module} must be installed to read this source: {install_words(module)}"
    raise InputError(missing)


def install_words(module: str) -> str:
    """Say how a library is installed."""
    return f'pip install "anon-pipeline[{EXTRAS[module]}]"' if module in EXTRAS else f"pip install {module}"
