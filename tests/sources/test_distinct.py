"""A partition whose file is another one's, where each must have records of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources import read_source

DAYS = {"cron": "0 3 * * *", "partitions": "daily"}
ONE, TWO = "2026-01-05", "2026-01-06"
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def per_record(small_policy: Small, path: str) -> Policy:
    budget = {"epsilon": 2, "per": "record"}
    return small_policy(source={"path": path}, schedule=DAYS, budget=budget)


def linked(one: Path, two: Path) -> None:
    two.symlink_to(one)


def copied(one: Path, two: Path) -> None:
    shutil.copyfile(one, two)


def hard_linked(one: Path, two: Path) -> None:
    two.hardlink_to(one)


@pytest.mark.parametrize(
    "path", ["people-{partition}.csv", "{partition}/{partition}.csv", "[a]-{partition}.csv"]
)
@pytest.mark.parametrize("put", [linked, copied, hard_linked])
def test_one_file_under_two_partitions_is_refused(
    tmp_path: Path, small_policy: Small, small_people: People, path: str, put: Callable[[Path, Path], None]
) -> None:
    policy = per_record(small_policy, path)
    files = {day: tmp_path / path.replace("{partition}", day) for day in (ONE, TWO)}
    for file in files.values():
        file.parent.mkdir(exist_ok=True)
    small_people().to_csv(files[ONE], index=False)
    assert len(read_source(policy, folder=tmp_path, partition=ONE)) == 240
    put(files[ONE], files[TWO])
    for day, other in ((ONE, TWO), (TWO, ONE)):
        with pytest.raises(InputError, match=f"got one for {day} and {other}"):
            read_source(policy, folder=tmp_path, partition=day)
    together = policy.model_copy(update={"budget": None})
    assert len(read_source(together, folder=tmp_path, partition=TWO)) == 240


@pytest.mark.parametrize("put", [linked, shutil.copytree])
def test_one_folder_under_two_partitions_is_refused(
    tmp_path: Path, small_policy: Small, small_people: People, put: Callable[[Path, Path], object]
) -> None:
    policy = per_record(small_policy, "{partition}").model_dump()
    whole = Policy.model_validate(policy | {"source": {"path": "{partition}", "format": "parquet"}})
    (tmp_path / ONE / "month=01").mkdir(parents=True)
    small_people().to_parquet(tmp_path / ONE / "month=01" / "part.parquet", index=False)
    put(tmp_path / ONE, tmp_path / TWO)
    with pytest.raises(InputError, match=f"got one for {TWO} and {ONE}"):
        read_source(whole, folder=tmp_path, partition=TWO)
    if put is shutil.copytree:
        small_people(seed=1).to_parquet(tmp_path / TWO / "month=01" / "part.parquet", index=False)
        assert len(read_source(whole, folder=tmp_path, partition=TWO)) == 240


def test_files_of_their_own_are_read_whatever_else_is_there(
    tmp_path: Path, small_policy: Small, small_people: People
) -> None:
    policy = per_record(small_policy, "{partition}/people-{partition}.csv")
    for day, seed in ((ONE, 1), (TWO, 2)):
        (tmp_path / day).mkdir()
        small_people(seed=seed).to_csv(tmp_path / day / f"people-{day}.csv", index=False)
    shutil.copyfile(
        tmp_path / ONE / f"people-{ONE}.csv", tmp_path / TWO / f"people-{ONE}.csv"
    )  # of no partition
    (tmp_path / "2026-01-07").mkdir()
    (tmp_path / "2026-01-07" / "people-2026-01-07.csv").symlink_to("nowhere")
    for day in (ONE, TWO):
        assert len(read_source(policy, folder=tmp_path, partition=day)) == 240


@pytest.mark.parametrize("budget", [{"epsilon": 9, "per": "record"}, {"epsilon": 9}, None])
def test_of_listed_partitions_those_of_one_group_have_files_of_their_own(
    tmp_path: Path, small_policy: Small, small_people: People, budget: dict[str, object] | None
) -> None:
    """Of other groups the ledger counts what they have spent; a file that is no partition stays."""
    policy = small_policy(
        source={"path": "{partition}.csv"},
        schedule={"partitions": "listed", "keys": ["a.north", "a.south", "b.north"]},
        budget=budget,
    )
    for name in ("a.north", "b.north", "old.north"):
        small_people().to_csv(tmp_path / f"{name}.csv", index=False)
    assert len(read_source(policy, folder=tmp_path, partition="a.north")) == 240
    copied(tmp_path / "a.north.csv", tmp_path / "a.south.csv")
    with pytest.raises(InputError, match=r"got one for a\.north and a\.south"):
        read_source(policy, folder=tmp_path, partition="a.north")


@pytest.mark.parametrize(
    ("keys", "refused"), [(["a.1", "a.2"], True), (["a.1", "b.1"], False), (["a.1"], False)]
)
def test_listed_partitions_of_a_group_without_a_place_in_the_path_are_one_table(
    tmp_path: Path, small_policy: Small, small_people: People, keys: list[str], refused: bool
) -> None:
    policy = small_policy(source={"path": "people.csv"}, schedule={"partitions": "listed", "keys": keys})
    small_people().to_csv(tmp_path / "people.csv", index=False)
    if not refused:
        assert len(read_source(policy, folder=tmp_path, partition="a.1")) == 240
        return
    with pytest.raises(InputError, match=r"schedule.partitions: listed needs a file .* a\.1 and a\.2"):
        read_source(policy, folder=tmp_path, partition="a.1")
