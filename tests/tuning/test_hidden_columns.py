"""Columns that are hidden entirely: what is advised was tried, and helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.report.words import silent_columns
from anon_pipeline.tuning import hidden_columns
from anon_pipeline.tuning.hidden_columns import advise_on_hidden
from anon_pipeline.tuning.recode_input import input_to_recode


def rare_towns(share: float = 0.08, n: int = 600) -> pd.DataFrame:
    """Two towns of which everybody is, but for a share of the people: these live in ten villages."""
    rng = np.random.default_rng(7)
    rare = int(n * share)
    towns = [*(f"village {i % 10}" for i in range(rare)), *(["north", "south"] * n)][:n]
    illness = rng.choice(["flu", "cold", "none", "cough"], n)
    return pd.DataFrame({"town": towns, "sex": ["f", "m"] * (n // 2), "illness": illness})


def policy(**sections: Any) -> Policy:
    hidden = {"role": "generalize", "hierarchy": {"suppress": True}}
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": hidden,
                "sex": hidden,
                "illness": {"role": "sensitive", "distance": "equal"},
            },
            "anonymize": {"k": 20, "suppression_limit": 0.02},
            "gate": {"suppression": 0.15},
        }
        | sections
    )


def advised(wanted: Policy, frame: pd.DataFrame) -> list[str]:
    return advise_on_hidden(wanted, lambda: input_to_recode(wanted, frame), hierarchies=Path())


def test_a_larger_limit_is_advised_where_it_helps_and_does() -> None:
    frame = rare_towns()
    assert silent_columns(policy(), anonymize(policy(), frame).frame) == ["town"]
    found = advised(policy(), frame)
    assert found[0] == "With anonymize.suppression_limit: 0.08, town would no longer be hidden entirely."
    better = policy(anonymize={"k": 20, "suppression_limit": 0.08})
    assert silent_columns(better, anonymize(better, frame).frame) == []


def test_cells_are_advised_where_single_cells_are_enough() -> None:
    frame = rare_towns()
    found = advised(policy(), frame)
    cells = {"k": 20, "suppression_limit": 0.02, "recoder": "optimal", "suppress": "cells"}
    assert found[1] == (
        "With anonymize.recoder: optimal with anonymize.suppress: cells, town would no longer be hidden "
        "entirely."
    )
    better = policy(anonymize=cells)
    assert silent_columns(better, anonymize(better, frame).frame) == []
    assert not any("suppress: cells" in line for line in advised(policy(anonymize=cells), frame))


def test_what_the_gate_would_refuse_is_not_advised() -> None:
    only_records = {"k": 20, "suppression_limit": 0.02, "recoder": "k_optimize"}  # it cannot blank cells
    found = advised(policy(gate={"suppression": 0.05}, anonymize=only_records), rare_towns(0.1))
    assert found == [
        "Tried without success: anonymize.suppression_limit: 0.03, up to anonymize.suppression_limit: 0.05; "
        "anonymize.k: 10 (if you can answer for it). Use fewer quasi-identifiers, or hierarchies with more "
        "levels."
    ]


def test_a_smaller_k_is_advised_where_it_helps() -> None:
    frame = rare_towns(0.2)  # twelve people in each village
    columns = {name: column for name, column in policy().model_dump()["columns"].items() if name != "sex"}
    columns["sex"] = {"role": "identifier", "action": "drop"}
    own = policy(columns=columns, gate={"k": 20, "suppression": 0.03})
    assert (
        "With anonymize.k and gate.k: 10 (if you can answer for it), town would no longer be hidden entirely."
        in advised(own, frame)
    )
    better = policy(columns=columns, gate={"k": 10, "suppression": 0.03}, anonymize={"k": 10})
    assert silent_columns(better, anonymize(better, frame).frame) == []


def test_records_that_lack_a_value_are_named_by_their_column() -> None:
    frame = rare_towns()
    frame.loc[frame.index[-5:], "illness"] = None
    columns = policy().model_dump()["columns"]
    columns["illness"]["missing"] = "suppress"
    found = advised(policy(columns=columns), frame)
    assert found[-1].startswith("Records without a value in illness (missing: suppress) are left out and use")
    assert not any("Records without" in line for line in advised(policy(columns=columns), rare_towns()))


def test_where_nothing_is_hidden_nothing_is_said() -> None:
    assert advised(policy(), rare_towns(0.0)) == []


def test_large_tables_are_not_recoded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_columns, "MOST_RECORDS", 599)
    assert advised(policy(), rare_towns()) == []
