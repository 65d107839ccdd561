"""What docs/destinations.md shows is true: its asset reads the released table, its YAML is of policies."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from anon_pipeline.policy import Policy
from anon_pipeline.publish.file_formats import read_release
from tests.cli.projects import write_policy
from tests.projects import project  # noqa: F401 - a fixture

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "destinations.md").read_text(encoding="utf-8")
Make = Callable[..., Any]


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(text)


def test_its_policies_are_policies(small_policy: Callable[..., Policy]) -> None:
    lines = [line for line in block("yaml").splitlines() if line]
    kinds = [small_policy(**yaml.safe_load(line)).publish.deliver for line in lines]
    assert [one and one.kind for one in kinds] == [
        *("url", "url_env", "database_env", "database_env", "iceberg", "delta", "delta"),
    ]


def test_its_asset_reads_what_is_released_after_published(
    project: Make,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = project(name="visitors", publish={"to": "releases/visitors"})
    policy_file = made.folder / "assets/releases/visitors/defs.yaml"
    policy_file.parent.mkdir(parents=True)
    write_policy(policy_file, made.policy)
    monkeypatch.chdir(made.folder)
    names: dict[str, Any] = {"__name__": "downstream"}
    exec(compile(block("python"), "docs/destinations.md", "exec"), names)
    both = dg.Definitions.merge(
        made.definitions,
        names["defs"],
        dg.Definitions(jobs=[dg.define_asset_job("whole", dg.AssetSelection.all())]),
    )
    done = both.resolve_job_def("whole").execute_in_process(instance=made.instance)
    (data,) = (made.folder / "releases/visitors").glob("*.parquet")
    table = read_release(data, made.policy)
    counted: pd.DataFrame = done.output_for_node("visitors_by_city")
    assert dict(zip(counted["city"], counted["visitors"], strict=True)) == dict(table["city"].value_counts())
    published = done.asset_materializations_for_node("visitors__published")[0].metadata
    schema: Any = published["dagster/column_schema"].value
    assert [column.name for column in schema.columns] == list(table.columns)
