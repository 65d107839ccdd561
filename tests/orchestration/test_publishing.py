"""`published`: the gate first, then the file, then what Dagster is told of it."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import pytest

from anon_pipeline.stages.private import STAGES

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_what_the_gate_says_is_stored_before_anything_is_written(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project()
    assert made.materialize(*STAGES).success

    def look(*_: object, **__: object) -> None:
        key = dg.AssetCheckKey(dg.AssetKey(["small", "published"]), "k")
        record = made.instance.get_latest_asset_check_evaluation_record(key)
        assert record is not None
        stored.append(record.event.dagster_event.asset_check_evaluation_data.passed)
        raise OSError(28, "full")

    stored: list[bool] = []
    monkeypatch.setattr("anon_pipeline.orchestration.publishing.publish", look)
    assert not made.materialize("published").success
    assert stored and all(stored)  # at each try
