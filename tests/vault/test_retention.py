"""What is not retained is deleted, and nothing else."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.retention import Tables, purge, retain, table_name

Put = Callable[[Vault, str, bytes], None]
NOW = datetime.datetime(2026, 11, 21, tzinfo=datetime.UTC)
STAGES = ("raw", "suppressed")
KEPT = ["clinic/memory/x.parquet", "clinic/notes.parquet", "ward/raw.parquet", "ward/raw/p1.parquet"]
OURS = [
    "clinic/raw.parquet",
    "clinic/raw/p1.parquet",
    "clinic/raw/p2.parquet",
    "clinic/suppressed/p1.parquet",
]
PARTS = ["clinic/raw/.p1.parquet.a1.part", "clinic/raw/.p2.parquet.b2.part"]


@pytest.fixture
def store(tmp_path: Path, put: Put) -> LocalStore:
    """Tables of two releases, p2 written 10 days ago, the others 40."""
    made = LocalStore(tmp_path)
    for name in [*KEPT, *OURS, *PARTS]:
        if name in PARTS:
            (tmp_path / name).write_bytes(b"x")  # of a run that died
        else:
            put(Vault(made), name, b"x")
        days = 10 if "p2" in name else 40
        time = (NOW - datetime.timedelta(days=days)).timestamp()
        os.utime(tmp_path / name, (time, time))
    return made


def left(store: LocalStore) -> set[str]:
    return set(store.names()) - set(KEPT)


def test_last_keeps_everything(store: LocalStore) -> None:
    assert retain(store, "last", Tables("clinic", STAGES, "p1"), now=NOW) == 0
    assert left(store) == {*OURS, *PARTS}


def test_none_deletes_the_published_partition(store: LocalStore) -> None:
    assert retain(store, "none", Tables("clinic", STAGES, "p1"), now=NOW) == 3
    assert left(store) == {OURS[0], OURS[2], PARTS[1]}
    assert set(KEPT) <= set(store.names())


def test_none_of_a_release_of_one_piece(store: LocalStore) -> None:
    assert retain(store, "none", Tables("clinic", STAGES), now=NOW) == 1
    assert left(store) == {*OURS[1:], *PARTS}


@pytest.mark.parametrize(
    ("days", "expected"),
    [(50, {*OURS, *PARTS}), (40, {*OURS, *PARTS}), (30, {OURS[2], PARTS[1]}), (5, set())],
)
def test_days_are_of_all_partitions(store: LocalStore, days: int, expected: set[str]) -> None:
    retain(store, days, Tables("clinic", STAGES, "p2"), now=NOW)
    assert left(store) == expected
    assert set(KEPT) <= set(store.names())


def test_purge_is_of_all_releases_and_of_tables_only(store: LocalStore) -> None:
    assert purge(store, STAGES, before=NOW - datetime.timedelta(days=30)) == 6
    assert set(store.names()) == {OURS[2], PARTS[1], *KEPT[:2]}


def test_a_table_gone_meanwhile_is_none(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    names = store.names()
    (store.root / OURS[0]).unlink()
    monkeypatch.setattr(LocalStore, "names", lambda self: names)
    assert retain(store, 30, Tables("clinic", STAGES), now=NOW) == 3


def test_names_keep_the_points_of_a_partition() -> None:
    assert table_name("r", "raw", partition="2026.01") != table_name("r", "raw", partition="2026.02")
    assert table_name("r", "raw") == "r/raw.parquet"


def test_what_was_measured_goes_with_the_tables(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for name in ("a/gate.json", "a/gate/p1.json", "b/gate.json", "a/notes.json", "gate.json"):
        with store.writing(name) as file:
            file.write(b"{}")
    now = datetime.datetime.now(datetime.UTC)
    assert retain(store, "none", Tables("a", ("raw",), "p1"), now=now) == 1
    assert not store.exists("a/gate/p1.json")
    assert retain(store, "none", Tables("a", ("raw",)), now=now) == 1
    later = now + datetime.timedelta(days=9)
    assert purge(store, ("raw",), before=later) == 1
    assert sorted(store.names()) == ["a/notes.json", "gate.json"]
