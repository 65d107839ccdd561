"""The usual k: smaller in small tables."""

from __future__ import annotations

from anon_pipeline.draft.profile.usual_k import SMALL_K, SMALL_TABLE, USUAL_K, usual_k


def test_a_small_table_begins_with_a_smaller_k() -> None:
    assert (usual_k(SMALL_TABLE - 1), usual_k(SMALL_TABLE)) == (SMALL_K, USUAL_K) == (5, 10)
