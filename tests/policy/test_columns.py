"""What a column may be, and which values are refused."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from anon_pipeline.policy.columns import Column
from anon_pipeline.policy.hierarchies import HierarchySpec

COLUMN: TypeAdapter[Any] = TypeAdapter(Column)
HIERARCHY: TypeAdapter[Any] = TypeAdapter(HierarchySpec)


def refused(adapter: TypeAdapter[Any], value: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        adapter.validate_python(value)
    return "\n".join(error["msg"] for error in caught.value.errors())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"role": "identifier", "action": "keep"}, "'drop', 'mask' or 'hash'"),
        ({"role": "generalize", "hierarchy": {}}, "exactly one of"),
        ({"role": "perturb"}, "Field required"),
        ({"role": "perturb", "resolution": 0}, "greater than 0"),
        ({"role": "perturb", "resolution": -1}, "greater than 0"),
        ({"role": "perturb", "resolution": float("nan")}, "finite number"),
        ({"role": "perturb", "resolution": "fine"}, "valid number"),
        ({"role": "perturb", "resolution": True}, "must be a number, got true"),
        ({"role": "perturb", "resolution": 1, "weight": 0}, "greater than 0"),
        ({"role": "perturb", "resolution": 1, "output_bounds": [1, 1]}, "output_bounds must increase"),
        ({"role": "perturb", "resolution": 1, "output_bounds": [1]}, "Field required"),
        ({"role": "perturb", "resolution": 1, "missing": "keep"}, "'error' or 'suppress'"),
        ({"role": "sensitive", "distance": "hierarchical"}, "hierarchy must be given"),
        ({"role": "sensitive", "hierarchy": {"suppress": True}}, "and only with them"),
        ({"role": "sensitive", "order": ["a"]}, "order must be given only with distance: ordered"),
        ({"role": "sensitive", "distance": "ordered", "order": ["a", "a"]}, "each value once"),
        ({"role": "sensitive", "distance": "ordered", "order": [1]}, "valid string"),
        ({"role": "insensitive", "action": "drop"}, "Extra inputs"),
        ({"role": "quasi"}, "role must be one of"),
        ({}, "role must be one of"),
        (None, "must be a mapping with a role"),
        (5, "must be a mapping with a role"),
    ],
)
def test_columns_that_are_refused(given: Any, message: str) -> None:
    assert message in refused(COLUMN, given)


def test_defaults() -> None:
    assert COLUMN.validate_python({"role": "identifier"}).action == "drop"
    noisy = COLUMN.validate_python({"role": "perturb", "resolution": 0.5})
    assert (noisy.weight, noisy.output_bounds, noisy.missing) == (1.0, None, "error")
    assert COLUMN.validate_python({"role": "sensitive"}).distance == "equal"
    spec = HIERARCHY.validate_python({"intervals": [2]})
    assert (spec.anchor, spec.bottom, spec.top) == (0, None, None)
    assert HIERARCHY.validate_python({"table": "a"}).separator == ";"
