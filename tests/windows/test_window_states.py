"""Tables of what waits: read as they were written, sealed, and refused when changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.windows.window_states import (
    AGE,
    PLACE,
    Decided,
    State,
    WindowStates,
    waiting_counts,
)
from tests.windows.conftest import Stream, people

DECIDED = Decided(4, "2026-01-01", "0" * 64, 10, 3)


def state(rows: int = 5) -> State:
    table = people(rows, seed=0).assign(**{AGE: 1, PLACE: np.arange(rows) * 2})
    return State(DECIDED, table)


def test_a_table_is_read_as_it_was_written(stream: Callable[..., Stream], tmp_path: Path) -> None:
    states = stream().states
    with states.alone():
        states.write("2026-01-02", state())
    assert states.partitions() == ["2026-01-02"]
    found = states.read("2026-01-02")
    pd.testing.assert_frame_equal(found.rows, state().rows)
    assert found.decided == DECIDED and found.id == state().id != state(4).id
    assert list(found.places) == [0, 2, 4, 6, 8] and set(found.ages) == {1}
    assert list(found.data.columns) == ["id", "age", "sex", "ward"]
    (file,) = (tmp_path / "vault").rglob("2026-01-02.parquet")
    assert b"ward" not in file.read_bytes()  # sealed: not even the schema
    assert file.stat().st_mode & 0o077 == 0
    states.remove("2026-01-02")
    assert states.partitions() == []


def test_what_waits_is_counted(stream: Callable[..., Stream]) -> None:
    states = stream().states
    states.write("2026-01-02", state())
    states.write("2026-01-03", state(0))
    assert waiting_counts(states).to_numpy().tolist() == [
        ["2026-01-02", 10, 3, 5, 1],
        ["2026-01-03", 10, 3, 0, 0],
    ]


def test_a_table_of_another_partition_or_without_its_words_is_refused(
    stream: Callable[..., Stream], tmp_path: Path
) -> None:
    states = stream().states
    states.write("2026-01-02", state())
    folder = tmp_path / "vault" / "visits" / "waiting"
    (folder / "2026-01-03.parquet").write_bytes((folder / "2026-01-02.parquet").read_bytes())
    with pytest.raises(InputError, match="2026-01-03"):
        states.read("2026-01-03")
    plain = WindowStates("other", lambda: Vault(LocalStore(tmp_path / "plain")), tmp_path / "plain")
    plain.write("a", state())
    people(3, seed=0).to_parquet(tmp_path / "plain" / "other" / "waiting" / "a.parquet")
    with pytest.raises(InputError, match="it has been changed"):
        plain.read("a")
    (tmp_path / "plain" / "other" / "waiting" / "a.parquet").write_bytes(b"CANARY")
    with pytest.raises(InputError, match="must be readable") as refused:
        plain.read("a")
    assert "CANARY" not in str(refused.value)


@pytest.mark.parametrize(
    "changes",
    [
        {PLACE: [0, 2, 2, 6, 8]},
        {PLACE: [2, 0, 4, 6, 8]},
        {PLACE: [0, 2, 4, 6, 13]},
        {PLACE: [-1, 2, 4, 6, 8]},
        {PLACE: [0, 2, 4, 6, 8.5]},
        {AGE: [1, 1, 1, 1, 0]},
        {AGE: ["1"] * 5},
    ],
)
def test_private_columns_that_were_not_written_so_are_refused(
    stream: Callable[..., Stream], changes: dict[str, list[object]]
) -> None:
    states = stream().states
    states.write("a", State(DECIDED, state().rows.assign(**changes)))
    with pytest.raises(InputError, match="it has been changed"):
        states.read("a")


def test_columns_of_several_types_are_refused_without_a_cell(stream: Callable[..., Stream]) -> None:
    mixed = state(2).rows.assign(ward=pd.Series(["CANARY", 3], dtype=object))
    with pytest.raises(InputError, match="values of one type") as refused:
        stream().states.write("a", State(DECIDED, mixed))
    assert "CANARY" not in str(refused.value)
    assert refused.value.__context__ is None


def test_whole_numbers_that_no_type_holds_are_refused(stream: Callable[..., Stream]) -> None:
    large = state(2).rows.assign(ward=pd.Series([2**63 + 5, None], dtype=object))
    with pytest.raises(InputError, match="values of one type"):
        stream().states.write("a", State(DECIDED, large))


def test_a_partition_that_is_a_path_is_refused(stream: Callable[..., Stream]) -> None:
    with pytest.raises(InputError):
        stream().states.write("../up", state())
