"""Entries of sources: plugins import them from the module of all entries, and they are the same."""

from __future__ import annotations

from anon_pipeline.catalog import entries, source_entries
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.source import SOURCES


def test_they_are_among_all_entries() -> None:
    for name in ("Format", "Generator", "SourceKind"):
        assert getattr(entries, name) is getattr(source_entries, name)


def test_what_can_be_read_in_portions() -> None:
    whole = {name for name, kind in SOURCES.items() if not kind.portions}
    assert {"asset", "generate"} <= whole and not whole & {"path", "sql", "spark", "delta"}
    assert {name for name, form in FORMATS.items() if form.portions} >= {"csv", "parquet", "jsonl"}
