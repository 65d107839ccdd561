"""`published`: the gate first, then the file, then what Dagster is told of it."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import fsspec
import pytest

from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver.deliver_urls import TRIED
from anon_pipeline.publish.deliver.delivery import deliver_release
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
    monkeypatch.setattr("anon_pipeline.orchestration.publish_asset.publish", look)
    assert not made.materialize("published").success
    assert stored and all(stored)  # at each try


def test_a_failed_delivery_fails_the_asset_and_costs_nothing_to_repeat(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dagster's events have the key of the policy, and neither the place nor what its package said."""
    monkeypatch.setenv("PLACE", "memory://CANARY-place/inner")
    made = project(publish={"deliver": {"url_env": "PLACE"}}, budget={"epsilon": 2})
    store = fsspec.filesystem("memory")

    put = store.pipe_file

    def full(self: object, path: str, data: bytes) -> None:
        if not path.endswith(TRIED):  # what is tried before noise is drawn
            raise OSError(28, "CANARY")
        put(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(type(store), "pipe_file", full)
        result = made.run("small_release")
    assert not result.success
    told = "".join(str(event) for event in result.all_events)
    assert "publish.deliver.url_env: a file must be written and read back" in told
    assert "anon-pipeline deliver brings it there at no cost" in told
    assert "CANARY" not in told
    locations = Locations.of(made.folder, {})
    document = deliver_release(made.policy, locations)
    assert store.exists(f"/CANARY-place/inner/{document['files'][0]['name']}")
    assert made.materialize("published").success, "the draw is paid for"


def test_columns_that_cannot_be_delivered_are_refused_before_noise_is_drawn(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(publish={"deliver": {"delta": {"path": "lake/visits"}}})
    monkeypatch.setattr(
        "anon_pipeline.publish.deliver.deliver_delta.delta_problem", lambda values: "two wheels"
    )
    result = made.run("small_release")
    assert not result.success
    told = "".join(str(event) for event in result.all_events)
    assert "column note has two wheels" in told
    assert not ledger_at(Locations.of(made.folder, {}).ledger).events()
