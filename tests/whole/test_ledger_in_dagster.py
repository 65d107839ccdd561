"""Releases of Dagster in the ledger: opened before the noise, closed by `published` in any process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from dagster import ExecuteInProcessResult

from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.chain import Event
from anon_pipeline.publish.manifest.signatures import write_keys
from anon_pipeline.stages.private import STAGES

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def entered(folder: Path) -> list[Event]:
    return ledger_at(f"sqlite:///{folder}/ledger.sqlite").events()


def kinds(folder: Path) -> list[str]:
    return [event.event for event in entered(folder)]


def messages(result: ExecuteInProcessResult) -> str:
    return "".join(e.step_failure_data.error.message for e in result.all_events if e.is_step_failure)


def test_perturbed_opens_and_published_closes_in_another_run(project: Make) -> None:
    made = project()
    assert made.materialize(*STAGES).success
    assert kinds(made.folder) == ["drawn", "opened"]
    assert made.materialize("published").success
    events = entered(made.folder)
    assert kinds(made.folder) == ["drawn", "opened", "opened", "published"]
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    assert {event.release_id for event in events} == {manifest["facts"]["perturbed"]["release_id"]}
    assert events[-1].data_digest == manifest["data_digest"]
    assert events[0].owner.split("/")[2]  # the run's id


def test_publishing_again_spends_nothing_and_new_noise_does(project: Make) -> None:
    made = project(budget={"epsilon": 3})
    assert made.run("small_release").success
    assert made.materialize("published").success
    before = (made.folder / "vault" / "small" / "perturbed.parquet").read_bytes()
    result = made.materialize("perturbed")
    assert not result.success
    assert "spent 2, requested 2, remaining 1" in messages(result)
    assert (made.folder / "vault" / "small" / "perturbed.parquet").read_bytes() == before
    assert kinds(made.folder).count("published") == 1


@pytest.mark.parametrize("limit", [{"linking_risk": 0.0}, {"attacks": {"prosecutor_risk": 0.001}}])
def test_a_gate_check_that_fails_leaves_the_draw_spent_and_live(
    project: Make, limit: dict[str, float]
) -> None:
    made = project(gate=limit, budget={"epsilon": 2})
    for _ in range(2):
        assert not made.run("small_release").success
    assert kinds(made.folder) == ["drawn", *["opened", "failed"] * 2]


def test_a_gate_that_is_lowered_after_looking_needs_another_draw(project: Make) -> None:
    """In 0.1.0 `published` alone put out what had been refused, for nothing."""
    assert not project(gate={"linking_risk": 0.0}, budget={"epsilon": 4}).run("small_release").success
    made = project(budget={"epsilon": 4})
    assert made.run("small_gate").success
    refused = made.materialize("published")
    assert not refused.success
    assert "a changed policy is another draw" in messages(refused)
    assert "draws anew and costs ε = 2" in messages(refused)
    assert not list(made.folder.rglob("manifest.json"))
    assert kinds(made.folder) == ["drawn", "opened", "failed"]
    assert made.materialize("perturbed", "shuffled", "suppressed").success
    assert made.run("small_gate").success
    assert made.materialize("published").success
    assert kinds(made.folder) == ["drawn", "opened", "failed", "drawn", "opened", "opened", "published"]
    assert not made.materialize("perturbed").success  # the refused draw is spent, too


def test_a_release_that_failed_for_now_is_published_alone_by_the_same_policy(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(budget={"epsilon": 2})
    with monkeypatch.context() as patch:
        patch.setattr("anon_pipeline.publish.writer.make_folder", full)
        assert not made.run("small_release").success
    assert made.materialize("published").success
    tries = ["opened", "failed"] * 3  # Dagster tries again, with the same draw
    assert kinds(made.folder) == ["drawn", "opened", *tries, "opened", "published"]


def full(*_: object, **__: object) -> None:
    raise OSError(28, "full")


def test_a_failing_stage_leaves_the_draw_spent(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.stages.pipeline.suppress_unconfident", crash)
    made = project()
    assert not made.run("small_release").success
    assert kinds(made.folder) == ["drawn", "opened", "failed"]


def test_the_budget_per_record_is_for_each_partition(project: Make, small_people: Make) -> None:
    schedule = {"cron": "0 3 * * 1", "partitions": "weekly"}
    source = {"path": "people-{partition}.csv"}
    made = project(schedule=schedule, budget={"epsilon": 2, "per": "record"}, source=source)
    for week in ("2026-01-05", "2026-01-12"):
        small_people(seed=int(week[-2:])).to_csv(made.folder / f"people-{week}.csv", index=False)
    for week in ("2026-01-05", "2026-01-12"):
        assert made.run("small_release", week).success
    again = made.run("small_release", "2026-01-05")
    assert "per record: spent 2" in messages(again)
    assert [event.partition for event in entered(made.folder)] == ["2026-01-05"] * 4 + ["2026-01-12"] * 4


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "out").write_text("a file"), "must be a folder that can be written"),
        (lambda folder: (folder / "population.csv").write_text("34,Cork\n"), "must have the columns with"),
        (lambda folder: (folder / "key.pem").unlink(), "publish.sign.key_file must be a readable file"),
    ],
)
def test_what_could_never_be_published_is_refused_before_a_draw(
    project: Make, small_people: Make, spoil: Callable[[Path], object], message: str
) -> None:
    population = {"path": "population.csv", "journalist_risk": 1, "marketer_risk": 1}
    made = project(
        budget={"epsilon": 2},
        gate={"attacks": {"population": population}},
        publish={"to": "out", "sign": {"key_file": "key.pem"}},
    )
    small_people().to_csv(made.folder / "population.csv", index=False)
    write_keys(made.folder / "key.pem")
    assert made.materialize("raw", "deidentified", "k_anonymized").success
    spoil(made.folder)
    result = made.materialize("perturbed")
    assert not result.success
    assert message in messages(result)
    assert kinds(made.folder) == []
    assert not list((made.folder / "vault").rglob("*.draw"))
