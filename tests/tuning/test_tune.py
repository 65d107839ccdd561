"""A tuning does not depend on the order of records, nor reads outside of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune
from tests.tuning.policies import people, policy


def test_a_hierarchy_table_outside_of_its_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("20;*\n", encoding="utf-8")
    (tmp_path / "project").mkdir()
    age = {"role": "generalize", "hierarchy": {"table": "../secret.csv"}}
    with pytest.raises(InputError, match="must stay"):
        tune(policy(columns={"age": age}), people(), Grid(), hierarchies=tmp_path / "project")


@pytest.mark.parametrize("columns", [{}, {"weight": {"role": "perturb", "resolution": 1}}])
def test_a_tuning_does_not_depend_on_the_order_of_records(columns: dict[str, Any]) -> None:
    wanted = policy(columns=columns, gate={"t_closeness": {"illness": 0.4}})
    frame, grid = people(300), Grid(k=(5, 10), epsilon=(1.0, 4.0))
    mixed = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    assert tune(wanted, frame, grid) == tune(wanted, mixed, grid)
