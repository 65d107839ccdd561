"""From a policy's source section to a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.sources import read_source


def policy(**source: Any) -> Policy:
    return policy_from(
        {
            "name": "clinic",
            "source": source,
            "columns": {
                "q": {"role": "generalize", "hierarchy": {"intervals": [2]}},
                "x": {"role": "perturb", "resolution": 0.5},
                "s": {"role": "sensitive", "distance": "ordered"},
                "t": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1},
            "schedule": {"cron": "0 3 * * 1", "partitions": "daily"},
        }
    )


def test_csv_with_its_options(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "data.csv").write_bytes("q;x;s;t\n1,5;2,5;3,5;ß,ß\n-;;;\n".encode("latin-1"))
    options = {"sep": ";", "decimal": ",", "encoding": "latin-1", "missing": ["-"]}
    frame = read_source(policy(path="in/data.csv", options=options), folder=tmp_path)
    assert frame.iloc[0].tolist() == ["1.5", "2.5", "3.5", "ß,ß"]
    assert frame.iloc[1].isna().all()


def test_parquet(tmp_path: Path) -> None:
    table = pd.DataFrame({"q": [1, 2], "x": [0.5, None]})
    table.to_parquet(tmp_path / "data.parquet")
    frame = read_source(policy(path="data.parquet", format="parquet"), folder=tmp_path)
    pd.testing.assert_frame_equal(frame, table)


def test_an_absolute_path_needs_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("q\n1\n")
    assert read_source(policy(path=str(tmp_path / "data.csv")), folder=Path("/nowhere"))["q"].tolist() == [
        "1"
    ]


def test_partitions_fill_the_path(tmp_path: Path) -> None:
    for day in ("2026-01-05", "2026-01-06"):
        (tmp_path / day).mkdir()
        (tmp_path / day / f"data-{day}.csv").write_text(f"q\n{day}\n")
    parts = policy(path="{partition}/data-{partition}.csv")
    for day in ("2026-01-05", "2026-01-06"):
        assert read_source(parts, folder=tmp_path, partition=day)["q"].tolist() == [day]
    with pytest.raises(InputError, match=r"^source\.path: \{partition\} must be filled in"):
        read_source(parts, folder=tmp_path)
    with pytest.raises(InputError, match=r"there must be a file .*data-2026-01-07\.csv, got none"):
        read_source(parts, folder=tmp_path, partition="2026-01-07")


def test_a_partition_without_a_place_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("q\n1\n")
    assert read_source(policy(path="data.csv"), folder=tmp_path, partition="2026-01-05")["q"].tolist() == [
        "1"
    ]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_message_names_the_file_and_no_folder(tmp_path: Path, form: str) -> None:
    with pytest.raises(
        InputError, match=r"^source\.path: there must be a file gone\.dat, got none"
    ) as caught:
        read_source(policy(path="in/gone.dat", format=form), folder=tmp_path)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    "source", [{"path": "a"}, {"url": "s3://b/a"}, {"asset": "a"}, {"generate": "patients"}]
)
def test_the_kind_is_the_key_that_is_given(source: dict[str, str]) -> None:
    assert policy(**source).source.kind.name == next(iter(source))


def test_an_asset_is_read_by_dagster_alone() -> None:
    with pytest.raises(InputError, match=r"^source\.asset: is read by Dagster alone"):
        read_source(policy(asset=["warehouse", "customers"]))
