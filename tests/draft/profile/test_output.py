"""A profile as rows, JSON and a page: all of it says the same, and no value."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest

from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.output import HEADINGS, as_html, as_json, holds, lines, rows
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.draft.profile.separation import Separation


@pytest.fixture
def found() -> Profile:
    frame = pd.DataFrame({"town": ["CANARY-a", "CANARY-b"] * 20, "<b>": [f"CANARY {i}" for i in range(40)]})
    return profile_table(frame, layout=Layout("csv", ";", "cp1252", 1.0, True))


def test_rows_json_and_page_say_the_same_of_each_column(found: Profile) -> None:
    table, document, page = rows(found), json.loads(as_json(found)), as_html(found, "x.csv")
    assert all(len(row) == len(HEADINGS) for row in table)
    assert [row[0] for row in table] == [column["name"] for column in document["columns"]] == ["town", "<b>"]
    assert [row[5] for row in table] == [column["role"] for column in document["columns"]]
    assert all(column["reason"] in page for column in document["columns"])
    assert "<b>" not in page.partition("<tbody>")[2]
    assert "cp1252 (a guess)" in lines(found)[1]


def test_one_column_distinguishes_and_two_distinguish(found: Profile) -> None:
    together = Separation((0, 1), 0.5, 0.9, 0.1)
    verbs = [
        lines(replace(found, together=replace(together, columns=columns)))[-1].partition(" records;")[0]
        for columns in ((0,), (0, 1))
    ]
    assert [said.split(" 90.00%")[0] for said in verbs] == [
        "unchanged, town distinguishes",
        "unchanged, town, <b> distinguish",
    ]


def test_no_value_is_in_any_of_them(found: Profile) -> None:
    assert "CANARY" not in str(rows(found)) + as_json(found) + as_html(found, "x.csv") + str(lines(found))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["1", "2"], "whole numbers"),
        (["1'000.5", "2"], "numbers (decimal ., thousands ')"),
        (["1%", "2%"], "numbers (decimal ., %)"),
        (["31.12.1999", "01.01.2000"], "dates (%d.%m.%Y)"),
        (["a", "b"], "categories"),
        (["a@example.org", "b@example.org"], "e-mail addresses"),
        ([None, None], "nothing"),
    ],
)
def test_what_a_column_holds(values: list[str], said: str) -> None:
    assert holds(look_at(pd.Series(values, name="x", dtype="str")).seen) == said
