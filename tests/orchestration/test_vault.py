"""The vault keeps tables as they are, for their owner alone, and says nothing of them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged

FACTS = {"raw": {"records": 3, "ü": [1, 2.5, None, True]}}

texts = st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"))), min_size=1, max_size=8)


@given(
    words=texts,
    integers=st.integers(-(2**63), 2**63 - 1),
    number=st.floats(allow_nan=False),
    day=st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01")),
)
def test_types_values_and_facts_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    words: list[str | None],
    integers: int,
    number: float,
    day: pd.Timestamp,
) -> None:
    frame = pd.DataFrame(
        {
            "text": pd.array(words, dtype="str"),
            "integer": np.int64(integers),
            "number": number,
            "maybe": [np.nan, *([number] * (len(words) - 1))],
            "day": pd.Timestamp(day),
            "flag": True,
        }
    )
    path = tmp_path_factory.mktemp("vault") / "a.parquet"
    write_staged(path, Staged(frame, FACTS))
    back = read_staged(path)
    pd.testing.assert_frame_equal(back.frame, frame)
    assert digest_frame(back.frame) == digest_frame(frame)
    assert back.facts == FACTS


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777 & ~0o700])
def test_files_and_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "vault" / "release" / "stage" / "2026-01-05.parquet"
    before = os.umask(umask)
    try:
        write_staged(path, Staged(pd.DataFrame({"a": [1]}), {}))
        write_staged(path, Staged(pd.DataFrame({"a": [2]}), {}))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {item.name for item in path.parent.iterdir()} == {".gitignore", path.name}
    assert read_staged(path).frame["a"].tolist() == [2]


def test_a_table_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    write_staged(path, Staged(pd.DataFrame({"a": [1]}), {}))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space"):
        write_staged(path, Staged(pd.DataFrame({"a": [2]}), {}))
    assert read_staged(path).frame["a"].tolist() == [1]
    assert {item.name for item in tmp_path.iterdir()} == {".gitignore", "a.parquet"}


def test_what_is_not_there_or_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not have"):
        read_staged(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match=r"b\.parquet must be readable"):
        read_staged(tmp_path / "b.parquet")


def test_the_manager_shows_counts_and_nothing_else(tmp_path: Path) -> None:
    manager = VaultIOManager(folder=str(tmp_path))

    @dg.asset(io_manager_key="io_manager")
    def private() -> Staged:
        return Staged(pd.DataFrame({"secret": ["CANARY-7f3a"]}), {})

    result = dg.materialize([private], resources={"io_manager": manager})
    metadata = result.asset_materializations_for_node("private")[0].metadata
    assert {name: value.value for name, value in metadata.items()} == {
        "stored_columns": 1,
    }
    assert "CANARY" not in "".join(str(event) for event in result.all_events)
    assert pq.read_table(tmp_path / "private.parquet").column_names == ["secret"]


def test_a_table_that_parquet_cannot_hold_does_not_tell_its_cells(tmp_path: Path) -> None:
    mixed = pd.DataFrame({"secret": ["CANARY-7f3a", 3]})
    context = dg.build_output_context(asset_key=dg.AssetKey("private"))
    with pytest.raises(dg.Failure, match="crashed with") as raised:
        VaultIOManager(folder=str(tmp_path)).handle_output(context, Staged(mixed, {}))
    assert "CANARY" not in f"{raised.value}{raised.value.__cause__}{raised.value.__context__}"


def test_long_integers_beside_missing_ones_come_back(tmp_path: Path) -> None:
    numbers = [2**60 + 1, None, 2**60 + 3]
    write_staged(tmp_path / "a.parquet", Staged(pd.DataFrame({"id": pd.Series(numbers, dtype=object)}), {}))
    assert read_staged(tmp_path / "a.parquet").frame["id"].tolist() == numbers


def test_a_crash_while_loading_does_not_tell_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.orchestration.vault.read_staged", crash)
    context = dg.build_input_context(asset_key=dg.AssetKey("private"))
    with pytest.raises(dg.Failure, match="crashed with") as raised:
        VaultIOManager(folder=str(tmp_path)).load_input(context)
    assert "CANARY" not in f"{raised.value}{raised.value.__cause__}{raised.value.__context__}"
