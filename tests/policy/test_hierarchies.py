"""Hierarchies in the policy: their kinds, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from anon_pipeline.policy.hierarchies import Dates, HierarchySpec, Intervals, Mask, Table, Tree

HIERARCHY: TypeAdapter[Any] = TypeAdapter(HierarchySpec)


def refused(adapter: TypeAdapter[Any], value: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(value)
    return "\n".join(error["msg"] for error in caught.value.errors())


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"table": "a.csv"}, Table),
        ({"intervals": [0.1, 0.3]}, Intervals),
        ({"intervals": [1, 5], "anchor": 2, "bottom": -3, "top": 90}, Intervals),
        ({"mask": [1, 3]}, Mask),
        ({"dates": ["month", "quarter", "year", "decade"]}, Dates),
        ({"tree": {"a": ["b"]}}, Tree),
    ],
)
def test_kinds_of_hierarchies(given: dict[str, Any], kind: type) -> None:
    assert type(HIERARCHY.validate_python(given)) is kind


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"intervals": []}, "at least 1 item"),
        ({"intervals": [0]}, "greater than 0"),
        ({"intervals": [-2]}, "greater than 0"),
        ({"intervals": [float("nan")]}, "finite number"),
        ({"intervals": [float("inf")]}, "finite number"),
        ({"intervals": [True]}, "must be a number, got true"),
        ({"intervals": [2, 2]}, "multiple of the one before, got 2.0 then 2.0"),
        ({"intervals": [4, 2]}, "multiple of the one before, got 4.0 then 2.0"),
        ({"intervals": [2, 5]}, "multiple of the one before, got 2.0 then 5.0"),
        ({"intervals": [1e-308, 1e308]}, "multiple of the one before"),
        ({"intervals": [1], "bottom": 5, "top": 5}, "bottom must be below top, got 5 and 5"),
        ({"intervals": [1], "anchor": float("inf")}, "finite number"),
        ({"mask": []}, "at least 1 item"),
        ({"mask": [0]}, "greater than or equal to 1"),
        ({"mask": [2, 2]}, "must increase, got [2, 2]"),
        ({"mask": [True]}, "must be a number, got true"),
        ({"dates": []}, "at least 1 item"),
        ({"dates": ["day"]}, "'month', 'quarter', 'year' or 'decade'"),
        ({"dates": ["year", "month"]}, "coarser than the one before, got ['year', 'month']"),
        ({"table": ""}, "at least 1 character"),
        ({"table": "a.csv", "separator": ""}, "at least 1 character"),
        ({"table": "a.csv", "separator": ";;"}, "should match pattern"),
        ({"table": "a.csv", "separator": '"'}, "should match pattern"),
        ({"table": "a.csv", "separator": "\n"}, "should match pattern"),
        ({"suppress": False}, "Input should be True"),
        ({"numbers": False}, "Input should be True"),
        ({"order": []}, "at least 1 item"),
        ({"order": ["low", "high", "low"]}, "order must name each value once"),
        ({"order": ["1", 1.0]}, "order must name each value once"),
        ({"order": ["low", "*"]}, "order must not list *, which is how a suppressed value is released"),
        ({"order": ["low", True]}, "put yes, no, null and dates in quotes"),
        ({"order": ["low", "a\tb"]}, "control characters"),
        ({"order": "low"}, "valid tuple"),
        ({}, "exactly one of table, intervals, mask, dates, tree, numbers, order, suppress"),
        ({"suppress": True, "mask": [1]}, "exactly one of"),
        ("suppress", "exactly one of"),
    ],
)
def test_hierarchies_that_are_refused(given: Any, message: str) -> None:
    assert message in refused(HIERARCHY, given)


def test_an_order_keeps_its_values_as_texts() -> None:
    assert HIERARCHY.validate_python({"order": [1, 2.0, 2.5, "x"]}).order == ("1", "2", "2.5", "x")


def test_a_tree_keeps_its_names_as_texts() -> None:
    spec = HIERARCHY.validate_python({"tree": {1990: {2.0: ["a", 7], 2.5: ["b", 8.0]}}})
    assert spec.tree == {"1990": {"2": ("a", "7"), "2.5": ("b", "8")}}


ENDLESS: dict[str, Any] = {}
ENDLESS["again"] = ENDLESS


@pytest.mark.parametrize(
    "tree",
    [
        {},
        [],
        ["a"],
        None,
        "a",
        {"a": None},
        {"a": {}},
        {"a": []},
        {"a": [None]},
        {"a": [["b"]]},
        {"a": [True]},
        {True: ["a"]},
        {None: ["a"]},
        {"a": [b"x"]},
        {1: ["a"], "1": ["b"]},
        ENDLESS,
    ],
    ids=repr,
)
def test_trees_that_are_refused(tree: Any) -> None:
    message = refused(HIERARCHY, {"tree": tree})
    assert "none of them empty or named twice" in message or "texts or numbers" in message
