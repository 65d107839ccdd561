"""A tuning does not depend on the order of records, nor reads outside of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import InputError
from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.tuning.choose import LEAST_USELESS, USEFUL
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.output import describe
from anon_pipeline.tuning.shown_numbers import number
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


def test_an_error_of_many_times_the_value_is_not_recommended_silently() -> None:
    """Reproduce what 0.1.0 did: of points that pass, the least loss, whose noise is 12 times the value."""
    rng = np.random.default_rng(4)
    owed = np.where(rng.random(600) < 0.97, rng.integers(1, 40, 600), rng.integers(20_000, 40_000, 600))
    frame = people().assign(height=owed)
    limited = policy(gate={"linking_risk": 0.5}, suppress={})
    found = tune(limited, frame, Grid(k=(5, 20), epsilon=(0.5, 2.0)))
    passing = [point for point in found.points if point.passes]
    assert passing and all((point.expected.error or 0) > 12 for point in passing)
    best = found.recommended
    assert best is not None and LEAST_USELESS in found.rule
    said = "\n".join(describe(found))
    assert (
        f"It would have a warning: utility_relative_error.height is {number(best.expected.error, 2)}" in said
    )
    demanded = policy(gate={"linking_risk": 0.5, "utility": {"relative_error": {"height": 1}}}, suppress={})
    none = tune(demanded, frame, Grid(k=(5, 20), epsilon=(0.5, 2.0)))
    assert none.recommended is None
    assert none.nearest is not None and none.nearest.limit.limit == "utility_relative_error.height"


def test_the_smallest_useful_epsilon_is_recommended_never_beyond_the_policys_unless_asked() -> None:
    own = policy(gate={"linking_risk": 0.9})
    found = tune(own, people())
    best = found.recommended
    assert best is not None and USEFUL in found.rule
    assert max(point.choice.epsilon or 0 for point in found.points) == 2
    assert "itself a choice from the data" in "\n".join(describe(found))
    assert max(p.choice.epsilon or 0 for p in tune(own, people(), Grid(epsilon=(5.0,))).points) == 5
    useful = [
        (point.choice.epsilon, -point.choice.k)
        for point in found.points
        if point.passes and not [v for v in point.verdicts if v.status is Status.WARNED]
    ]
    assert (best.choice.epsilon, -best.choice.k) == min(useful)


def test_columns_with_one_value_and_errors_by_column_are_foreseen_as_the_gate_measures_them() -> None:
    both = {"weight": {"role": "perturb", "resolution": 1}}
    one = policy(columns=both, anonymize={"k": 400, "suppression_limit": 0.5}, suppress={})
    found = tune(one, people(), Grid()).points[0]
    release = anonymize(one, people())
    judged = {v.limit: (v.status, v.value) for v in release.report.verdicts}
    for verdict in found.verdicts:
        if verdict.limit == "utility_released":  # simulated: three standard errors below its mean
            assert 0 < (verdict.value or 0) <= (judged[verdict.limit][1] or 0)
        elif limit_of(verdict.limit).usefulness:
            assert judged[verdict.limit] == (verdict.status, pytest.approx(verdict.value, rel=1e-9))
    assert found.expected.constant == 1


def test_it_says_why_it_simulates() -> None:
    once = people(150)
    frame = once.loc[np.repeat(once.index, 2)].reset_index(drop=True)
    frame["who"] = [f"p{i // 2}" for i in range(len(frame))]
    who: dict[str, Any] = {"who": {"role": "identifier"}}
    of_people = policy(columns=who, person="who", rows_per_person=2, deidentify={"key_env": "K"})
    two = policy(columns={"weight": {"role": "perturb", "resolution": 1}})
    for wanted, table, cause in (
        (of_people, frame, "People with several records"),
        (two, once, "Several perturb columns"),
    ):
        said = "\n".join(describe(tune(wanted, table, Grid(k=(5,), epsilon=(2.0,)))))
        assert f"{cause}: linking and suppression are simulated" in said


def test_noise_wider_than_the_values_is_told_though_it_is_small_beside_them() -> None:
    frame = people().assign(height=np.random.default_rng(1).normal(10_000, 2, len(people())).round())
    found = tune(policy(gate={"linking_risk": 0.9}), frame, Grid(k=(5,), epsilon=(0.5,)))
    (point,) = found.points
    assert point.expected.errors["height"] < 0.01
    assert point.expected.drowned == ["height"]
    assert "Next to nothing would be left of height" in "\n".join(describe(found))
    larger = tune(
        policy(gate={"linking_risk": 0.9}, perturb={"epsilon": 50}), frame, Grid(k=(5,), epsilon=(50.0,))
    )
    assert larger.points[0].expected.of_spread["height"] < 0.5


def test_records_of_the_same_people_are_named_since_every_point_is_refused() -> None:
    frame, grid = people(300), Grid(k=(5,), epsilon=(4.0,))
    assert tune(policy(), frame, grid).refused is None
    visits = frame.loc[np.repeat(frame.index, 4)].reset_index(drop=True)
    found = tune(policy(), visits, grid)
    assert found.refused is not None
    assert describe(found)[0].startswith("The gate refuses every point: repeated_people: ")
    assert tune(policy(one_record_per_person=True), visits, grid).refused is None
