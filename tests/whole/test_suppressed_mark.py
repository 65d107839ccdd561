"""Originals that look like suppressed values: refused where a release suppresses, values elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy, policy_from

SUPPRESS: dict[str, Any] = {"role": "generalize", "hierarchy": {"suppress": True}}


def people(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    marked = ["94139", "94142", "*"]
    return pd.DataFrame({"age": rng.integers(20, 60, n), **{c: rng.choice(marked, n) for c in "zi"}})


def policy(z: dict[str, Any], i: dict[str, Any], **more: Any) -> Policy:
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {"age": {"role": "generalize", "hierarchy": {"intervals": [20]}}, "z": z, "i": i},
            "anonymize": {"k": 5, "suppression_limit": 0.5} | more.pop("anonymize", {}),
            **more,
        }
    )


@pytest.mark.parametrize(
    ("z", "anonymize_more"),
    [
        (SUPPRESS, {}),
        (SUPPRESS, {"suppress": "cells", "recoder": "optimal"}),
        ({"role": "generalize"}, {"recoder": "mondrian"}),
        ({"role": "generalize", "hierarchy": {"mask": [1, 2]}}, {}),
        ({"role": "insensitive", "hierarchy": {"mask": [1, 2]}, "level": 1}, {}),
    ],
)
def test_it_is_refused_where_values_are_suppressed(z: dict[str, Any], anonymize_more: dict[str, Any]) -> None:
    own = policy(z, {"role": "identifier"}, anonymize=anonymize_more)
    marked = int((people()["z"] == "*").sum())
    with pytest.raises(InputError, match=rf"z: no value must look like a suppressed one.* {marked} records"):
        anonymize(own, people())
    cleaned = policy(
        z,
        {"role": "identifier"},
        anonymize=anonymize_more,
        clean={"columns": {"z": {"values": {"*": "none"}}}},
    )
    assert len(anonymize(cleaned, people()).frame)


def test_it_is_a_value_in_columns_that_are_released_as_they_are() -> None:
    own = policy({"role": "sensitive"}, {"role": "insensitive"})
    released = anonymize(own, people()).frame
    assert {"*"} < {*released["z"]} and {"*"} < {*released["i"]}
