"""`run --missing`: only what is missing is made, and what a killed run has published is finished."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pandas as pd
import pytest

from tests.cli.projects import Folder
from tests.cli.test_dividing import project


def test_only_missing_partitions_are_made(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = project(folder, small_people)
    words = made.call("divide", "policy.yaml", "--into", "3").out.splitlines()[-2].split()[2:-2]
    first = words[-1].split("...")[0]
    assert made.call(*words[:2], "--partition", first).code == 0
    run = made.call(*words, "--missing")
    assert "1 of 3 partitions have a release" in run.err
    assert run.out.splitlines()[-1] == "2 of 2 partitions published"
    run = made.call(*words, "--missing")
    assert (run.code, run.out.splitlines()[-1]) == (0, "0 partitions published: each has a release already")
    one, two, _ = sorted(made.path.glob("out_divided/*/*/manifest.json"))
    next(two.parent.glob("*.parquet")).unlink()
    run = made.call(*words, "--missing")
    assert "2 of 3 partitions have a release" in run.err
    one.write_text("{")  # it is no release, and nobody writes over it
    assert "Move it away to publish here" in made.call(*words, "--missing").err
    assert made.call("run", "policy.yaml", "--missing").code == 2


def test_a_partition_that_was_not_delivered_is_delivered_and_said(
    folder: Callable[..., Folder],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deliver = {"deliver": {"database_env": "SHOP_URL", "table": "visits"}}
    made = project(folder, small_people, publish=deliver)
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{made.path}/shop.db")
    (made.path / "shop.db").touch()
    words = made.call("divide", "policy.yaml", "--into", "2").out.splitlines()[-2].split()[2:-2]
    assert made.call(*words).code == 0
    with closing(sqlite3.connect(made.path / "shop.db")) as opened:
        query = "SELECT name FROM sqlite_master WHERE name LIKE 'visits%' ORDER BY name"
        first, _ = (name for (name,) in opened.execute(query))
        opened.execute(f"DROP TABLE {first}")
        opened.commit()
    run = made.call(*words, "--missing")
    assert run.code == 0
    assert f"delivered now, at no cost: {words[-1].partition('...')[0]}" in run.err
    assert "delivered now" not in made.call(*words, "--missing").err
