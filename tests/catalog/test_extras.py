"""A library that is missing is named with what installs it, and each extra is one of the package's."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.extras import EXTRAS, import_extra, install_words

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(
        InputError, match=r'^duckdb must be installed.*pip install "anon-pipeline\[duckdb\]"$'
    ):
        import_extra("duckdb")


APART = {"spark"}
"""Extras that are not part of ``dev``: great-expectations loads pyspark in every process."""


def test_each_extra_is_declared_and_brings_its_library() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for module, extra in EXTRAS.items():
        assert any(one.startswith(module) for one in extras[extra]), module
        inside = any(extra in one.partition("[")[2].split("]")[0].split(",") for one in extras["dev"])
        assert inside == (extra not in APART), extra


def test_a_library_without_an_extra_is_named_alone() -> None:
    assert install_words("webdav4") == "pip install webdav4"
