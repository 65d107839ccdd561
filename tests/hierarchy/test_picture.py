"""A hierarchy in a notebook: its levels in numbers, its tree as boxes, none of its values."""

from __future__ import annotations

import base64
import re

import pandas as pd

from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.policy.hierarchies import Intervals, Tree


def _drawn(html: str) -> str:
    (data,) = re.findall(r"base64,([^\"]+)", html)
    return base64.b64decode(data).decode()


def test_levels_and_boxes() -> None:
    tree = Tree(tree={"CANARY-north": ["CANARY-a", "CANARY-b"], "CANARY-south": ["CANARY-c"]})
    _, hierarchy = code_column(pd.Series(["CANARY-a", "CANARY-b", "CANARY-c"], name="town"), tree)
    html = hierarchy._repr_html_()
    drawn = _drawn(html)
    assert "Hierarchy of town: 3 leaves, 3 levels" in html
    assert "<td>1</td><td>2</td><td>1</td><td>2</td>" in html  # level 1: two values, of one and two leaves
    assert drawn.count("<rect") == 3 + 2 + 1
    assert "level 2" in drawn
    assert "CANARY" not in html + drawn


def test_a_level_of_many_values_is_one_box() -> None:
    numbers = pd.Series(range(1_000), name="n")
    _, hierarchy = code_column(numbers, Intervals(intervals=[100]))
    assert _drawn(hierarchy._repr_html_()).count("<rect") == 1 + 10 + 1
