"""Memory that a release needs, before its source is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.policy.source import Source
from anon_pipeline.sources.needed_memory import LIBRARIES, needed_memory

TABLE = pd.DataFrame({"age": range(1_000), "city": "x", "name": "y"})


def of(small_policy: Callable[..., Policy], folder: Path, **source: object) -> int:
    found = needed_memory(small_policy(source=source), folder, None)
    return -1 if found is None else found - LIBRARIES


def test_of_a_file_and_of_a_folder(small_policy: Callable[..., Policy], tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for path in ("one.parquet", "many/a.parquet", "many/b.parquet"):
        TABLE.to_parquet(tmp_path / path)
    TABLE.to_csv(tmp_path / "one.csv")
    assert of(small_policy, tmp_path, path="one.parquet", format="parquet") == 1_000 * 3 * 20
    assert of(small_policy, tmp_path, path="many", format="parquet") == 2_000 * 3 * 20
    size = (tmp_path / "one.csv").stat().st_size
    assert of(small_policy, tmp_path, path="one.csv") == int(2.3 * size)


@pytest.mark.parametrize(
    "source",
    [
        {"path": "nothing.parquet", "format": "parquet"},
        {"path": "broken.parquet", "format": "parquet"},
        {"path": "one.parquet", "format": "parquet", "encrypted": True},
        {"path": "one.parquet", "format": "excel"},
    ],
)
def test_what_nobody_knows(
    small_policy: Callable[..., Policy], tmp_path: Path, source: dict[str, object]
) -> None:
    TABLE.to_parquet(tmp_path / "one.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    assert of(small_policy, tmp_path, **source) == -1


def test_a_generator_has_no_file(small_policy: Callable[..., Policy], tmp_path: Path) -> None:
    policy = small_policy().model_copy(update={"source": Source(generate="patients")})
    assert needed_memory(policy, tmp_path, None) is None
