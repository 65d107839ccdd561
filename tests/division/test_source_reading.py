"""The source of a division: a copy is encrypted and removed, and what changes or is unknown is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.division import divide
from anon_pipeline.division import source_reading as module
from tests.division.test_divide import CANARY, divided, in_file, people, project


def test_copies_are_encrypted_and_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", bytes(range(32)).hex())
    path, policy = project(tmp_path, people(), source=in_file("csv", people(), tmp_path))
    seen = list[bytes]()

    def looking(*given: Any, **more: Any) -> None:
        seen.extend(one.read_bytes() for one in (tmp_path / "partitions").rglob("copies/*"))
        raise InputError("enough")

    monkeypatch.setattr(divide, "write_parts", looking)
    with pytest.raises(InputError, match="enough"):
        divided(path, policy)
    assert len(seen) == 1 and CANARY.encode() not in seen[0]
    assert not list(tmp_path.rglob("copies"))


def test_columns_of_a_csv_file_are_refused_before_it_is_copied(tmp_path: Path) -> None:
    frame, steps = people().rename(columns={"note": CANARY}), list[Any]()
    path, policy = project(tmp_path, people(), source=in_file("csv", frame, tmp_path))
    with pytest.raises(InputError, match="note") as raised:
        divided(path, policy, observe=steps.append)
    assert CANARY not in str(raised.value)
    assert not list(tmp_path.rglob("*/copies"))


def test_a_csv_file_that_changes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, policy = project(tmp_path, people(), source=in_file("csv", people(), tmp_path))
    read = module.read_portions

    def changing(*given: Any, **more: Any) -> Any:
        for table in read(*given, **more):
            yield table
            (tmp_path / "people.csv").touch()

    monkeypatch.setattr(module, "read_portions", changing)
    with pytest.raises(InputError, match="must not change while it is read"):
        divided(path, policy)
    assert not list(tmp_path.rglob("partitions/*/*.parquet")) and not list(tmp_path.rglob("copies"))
