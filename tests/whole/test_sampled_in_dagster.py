"""A sample in Dagster: `raw` has the same records each time, and the release is published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

Make = Callable[..., Any]


def test_raw_keeps_the_sample_each_time(
    project: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_KEY", "0123456789abcdef0123456789abcdef")
    people = small_people(n=1_000)
    made = project(people, sample={"share": 0.5}, deidentify={"key_env": "SAMPLE_KEY"})
    stored = made.folder / "vault" / "small" / "raw.parquet"
    found = []
    for _ in range(2):
        assert made.materialize("raw").success
        found.append(sorted(pd.read_parquet(stored)["person"]))
    assert found[0] == found[1] and 400 < len(found[0]) < 600
    assert made.run("small_release").success
