"""The report of a release with declared columns: of file, manifest and public policy, everything escaped."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pandas as pd
import pytest

from anon_pipeline.declared.declared_report import declared_report, domain_words
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.epsilon_dp import METHODS, EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations

Project = tuple[EpsilonDpPolicy, Locations]
Changed = Callable[..., EpsilonDpPolicy]
KEYS = {"histograms": {}, "group_means": {"k": 300}, "column_means": {"k": 60}}


class Tags(HTMLParser):
    """Counts the tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta"}:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.opened.pop() == tag


@pytest.mark.parametrize("method", METHODS)
def test_it_says_guarantee_errors_limits_and_columns(
    dp_project: Project, changed: Changed, method: str
) -> None:
    policy, locations = changed(**{method: KEYS[method]}, gate={"expected_error": 1}), dp_project[1]
    written = make_declared_release(policy, locations)
    page = written.report_path.read_text("utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.opened == []
    for said in ("ε = 1", "End-to-end differential privacy", "Expected errors", "declared_values", "Cork"):
        assert said in page
    frame = pd.read_parquet(written.paths[0])
    assert f">{int((frame['city'] == 'Cork').sum()):,}<" in page
    assert "<script" not in page and "http" not in page.replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )


def test_names_and_values_are_escaped(dp_project: Project, changed: Changed) -> None:
    city = {"values": ["<b>Cork</b>", "&"], "otherwise": "&"}
    policy = changed(
        columns={"<i>": city}, responsible={"owner": "<u>Office</u>"}, gate={"expected_error": 1}
    )
    frame = pd.DataFrame({"<i>": ["&", "&"]})
    document = {
        "files": [{"name": "a.parquet", "records": 2}],
        "made_at": "now",
        "records": 2,
        "guarantee": ["<em>"],
        "gate": {"verdicts": []},
        "data_digest": "d",
        "policy_digest": "p",
    }
    page = declared_report(policy, document, [frame]).decode()
    for raw in ("<b>", "<i>", "<u>", "<em>"):
        assert raw not in page
    assert "&lt;b&gt;Cork&lt;/b&gt;" in page


def test_domains_in_words() -> None:
    assert domain_words(DeclaredColumn(values=("a", "b"), otherwise="a")) == (
        "2 declared categories; a cell of the source that holds none of them counts as a"
    )
    number = DeclaredColumn(bounds=(0, 10), resolution=0.5, bins=4, otherwise="0")
    assert domain_words(number) == (
        "numbers from 0 to 10 in steps of 0.5, counted in 4 intervals; a cell of the source that holds no "
        f"number counts as {number.otherwise}"
    )


def test_many_categories_are_cut_and_add_up(changed: Changed) -> None:
    values = [f"v{at}" for at in range(30)]
    policy = changed(columns={"x": {"values": values, "otherwise": "v0"}}, gate={"expected_error": 1})
    document = {
        "files": [{"name": "a", "records": 30}],
        "made_at": "",
        "records": 30,
        "guarantee": [],
        "gate": {"verdicts": []},
        "data_digest": "",
        "policy_digest": "",
    }
    page = declared_report(policy, document, [pd.DataFrame({"x": values})]).decode()
    assert "18 other values" in page
