"""Entries of mechanisms that change whole columns: what they say fits what they take."""

from __future__ import annotations

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.mechanisms import MECHANISMS


def test_an_amount_is_said_if_and_only_if_it_is_taken() -> None:
    changed = [one.whole_column for one in MECHANISMS.values() if one.whole_column is not None]
    assert changed
    for one in changed:
        assert ("{}" in one.says) == (one.amount != "none")
        assert callable(import_entry(one.runs))
        assert not one.together or one.amount != "none"
        assert not one.keeps or one.keeps.endswith(".")
