"""A messy file, cleaned by its policy, makes the release of the tidy one; and Dagster is told no record."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.policy import Policy
from anon_pipeline.publish.verify.verify import Against, verify_release

CLEAN: dict[str, Any] = {
    "strip": True,
    "type": "auto",
    "columns": {
        "income": {"thousands": "'", "currency": "CHF"},
        "city": {"values_file": "cities.csv"},
        "note": {"type": "integer", "thousands": "'"},
    },
}


def _write(folder: Path, people: pd.DataFrame) -> None:
    (folder / "cities.csv").write_text("from,to\nCo,Cork\nDu,Dublin\nGa,Galway\n")
    people.assign(
        income=[f"CHF {income:,}".replace(",", "'") for income in people["income"]],
        city=people["city"].str[:2] + "\u00a0",
        note=["1'000" if note == "a" else "20" for note in people["note"]],
    ).to_csv(folder / "people.csv", index=False)


def test_a_messy_file_is_released_with_types(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    _write(tmp_path, small_people())
    policy = small_policy(clean=CLEAN)
    published = make_release(policy, Locations.of(tmp_path, {}))
    frame = pd.read_parquet(published.path)
    assert set(frame["city"]) <= {"Cork", "Dublin", "Galway", "*"}
    assert frame["note"].dtype == "int64"
    assert set(frame["note"]) == {1000, 20}
    assert frame["income"].between(20_000, 40_000).all()
    manifest = json.loads(published.manifest_path.read_text())
    assert "value_maps" not in json.dumps(manifest)
    assert "cities.csv" not in json.dumps(manifest)
    found = verify_release(published.manifest_path, Against(policy, hierarchies=tmp_path, sources=tmp_path))
    assert not [verdict for verdict in found.verdicts if str(verdict.status) == "refused"]


def test_dagster_is_told_no_record(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    people = pd.concat([small_people()] * 33, ignore_index=True)
    people["height"] = people["height"].astype(object)
    people.loc[7776, "height"] = "CANARY"
    _write(tmp_path, people)
    with (
        pytest.raises(Exception, match="height: must be a number, got 1 record without a digit") as caught,
        as_failure(),
    ):
        make_release(small_policy(clean=CLEAN), Locations.of(tmp_path, {}))
    error = caught.value
    shown = f"{error!r}{error}{vars(error)}{error.__cause__}{error.__context__}"
    assert not isinstance(caught.value, InputError)
    assert "7777" not in shown
    assert "CANARY" not in shown
