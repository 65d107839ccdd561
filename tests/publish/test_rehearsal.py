"""A rehearsal is judged as the release, publishes nothing and costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import GateRefused, InputError, Locations, make_release
from anon_pipeline.base.errors import PublishError
from anon_pipeline.gate import Status
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.rehearsal import rehearse

Small = Callable[..., Policy]
STICKY: dict[str, Any] = {
    "columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}},
    "record_key": "person",
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "perturb": {"republish": "sticky"},
    "suppress": None,
    "gate": {"suppression": None, "cross_release_k": 3},
}


@pytest.fixture
def folders(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people(240).to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def limits(report: Any) -> list[str]:
    return [verdict.limit for verdict in report.verdicts]


def test_it_publishes_nothing_and_books_nothing(small_policy: Small, folders: Locations) -> None:
    policy = small_policy(budget={"epsilon": 4})
    made = rehearse(policy, folders)
    assert made.report.passed
    assert len(made.frame) > 0
    assert not (folders.release(policy)).exists()
    assert not [path for path in folders.sources.rglob("*") if path.suffix in {".parquet", ".draw"}]
    assert ledger_at(folders.ledger).events() == []


def test_it_is_judged_by_the_limits_of_the_release(small_policy: Small, folders: Locations) -> None:
    policy = small_policy(perturb={"epsilon": 6})
    rehearsed = rehearse(policy, folders).report
    published = make_release(policy, folders).report
    assert limits(rehearsed) == limits(published)
    again = {one.limit: one.status for one in rehearse(policy, folders).report.verdicts}
    assert again["repeated_noise"] is Status.WARNED  # with what the ledger has, ε would be 12


def test_a_refusal_says_what_to_change(small_policy: Small, folders: Locations) -> None:
    policy = small_policy(gate={"linking_risk": 0.0})
    with pytest.raises(GateRefused, match="linking_risk") as refused:
        rehearse(policy, folders)
    assert refused.value.advice
    assert not folders.release(policy).exists()


def test_the_memory_is_read_and_stays_as_it_was(
    small_policy: Small, folders: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    policy = small_policy(**STICKY)
    archive = VaultArchive(policy, folders)
    published = make_release(policy, folders, archive=archive)
    memory = folders.sources / "vault" / "small" / "memory.parquet"
    before = memory.read_bytes()
    made = rehearse(policy, folders, archive=archive)
    assert limits(made.report) == limits(published.report)
    assert memory.read_bytes() == before
    with pytest.raises(InputError, match="record_key"):
        rehearse(policy, folders)


def test_what_the_ledger_would_refuse_is_refused(small_policy: Small, folders: Locations) -> None:
    policy = small_policy(budget={"epsilon": 3})
    make_release(policy, folders)
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 1"):
        rehearse(policy, folders)
    Path(folders.ledger.removeprefix("sqlite:///")).unlink()
    with pytest.raises(InputError, match="ledger"):
        rehearse(policy, folders)


def test_what_could_not_be_published_is_refused(small_policy: Small, folders: Locations) -> None:
    folders.release(small_policy()).mkdir()
    (folders.release(small_policy()) / "manifest.json").write_text("{}")
    with pytest.raises(PublishError):
        rehearse(small_policy(), folders)


def test_columns_that_cannot_be_delivered_are_refused(
    small_policy: Small, folders: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folders.sources / "shop.db").touch()
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{folders.sources}/shop.db")
    policy = small_policy(publish={"deliver": {"database_env": "SHOP_URL", "table": "visits"}})
    assert rehearse(policy, folders).report.passed
    monkeypatch.setattr(
        "anon_pipeline.publish.deliver.deliver_database.sql_problem", lambda values, database: "two wheels"
    )
    with pytest.raises(PublishError, match=r"column note has two wheels"):
        rehearse(policy, folders)
