"""What Dagster is told of a published release: numbers with a history, and links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.orchestration.release_facts import LINKS
from anon_pipeline.report.columns import discernibility

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_numbers_of_a_release_have_a_history(project: Make) -> None:
    made = project()
    result = made.run("small_release")
    metadata = result.asset_materializations_for_node("small__published")[0].metadata
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    table = pd.read_parquet(made.folder / "out" / manifest["files"][0]["name"])
    sizes = table.groupby(list(made.policy.generalized)).size()
    levels = manifest["facts"]["k_anonymized"]["levels"]
    expected = {
        "records": len(table),
        "data_files": 1,
        "dagster/row_count": len(table),
        "records_released_share": len(table) / 240,
        "class_count": len(sizes),
        "class_size_least": sizes.min(),
        "class_size_mean": sizes.mean(),
        "loss/discernibility": discernibility(made.policy, table),
        **{f"level/{name}": level for name, level in levels.items()},
        "epsilon/height": 2.0,
    }
    numeric = (dg.IntMetadataValue, dg.FloatMetadataValue)
    found = {name: value.value for name, value in metadata.items() if isinstance(value, numeric)}
    assert found == pytest.approx(expected)
    assert "height: with noise (" in metadata["noise"].value
    assert "records (" in metadata["left"].value


@pytest.mark.parametrize("ends", ["", "/"])
def test_files_are_links_where_the_releases_are_served(
    project: Make, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setenv(LINKS, f"https://files.example.org/some where{ends}".replace(" ", "%20"))
    made = project()
    metadata = made.run("small_release").asset_materializations_for_node("small__published")[0].metadata
    names = {path.name for path in made.released()}
    for key in ("file", "manifest", "report"):
        found = re.fullmatch(r"\[(.+)\]\((.+)/(.+)\)", metadata[key].value)
        assert found is not None
        assert found[1] == found[3]
        assert found[1] in names
        assert found[2] == "https://files.example.org/some%20where/out"


@pytest.mark.parametrize(
    "url", ["files.example.org", "https://me:CANARY@files.example.org", "https://a/?sig=CANARY"]
)
def test_a_link_with_credentials_is_refused_before_anything_is_published(
    project: Make, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(LINKS, url)
    made = project()
    result = made.run("small_release")
    assert not result.success
    (event,) = (event for event in result.all_events if event.is_step_failure)
    said = str(event.step_failure_data.error)
    assert f"{LINKS} must be a URL without login, query and token" in said
    assert "CANARY" not in said
    assert made.released() == []
