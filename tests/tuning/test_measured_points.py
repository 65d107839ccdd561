"""Points of columns that are changed as a whole: against a release each, and what they say of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import InputError
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.tuning import equal_amount
from anon_pipeline.tuning.equal_amount import measure_release
from anon_pipeline.tuning.grid import Choice, Grid, policy_at
from anon_pipeline.tuning.measured_points import choices_with_amounts, measure_points
from anon_pipeline.tuning.output import as_csv, as_document, describe
from anon_pipeline.tuning.tune import tune
from tests.few_simulated import simulate_fewer
from tests.tuning.policies import people, policy

FEW = {"share": (0.02, 0.3), "factor": (0.1, 0.5), "count": (2, 50), "step": (2, 30)}
GRADE = {"role": "perturb", "values": ["none", "cold", "cough", "flu"]}
Kind = tuple[str, float | None]


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try two amounts besides the column's own, and simulate few copies: all that is compared is alike."""
    simulate_fewer(monkeypatch)
    monkeypatch.setattr(equal_amount, "_STRENGTHS", FEW)


def masked(mechanism: str, amount: float | None = None, **sections: Any) -> Policy:
    height = {"role": "perturb", "resolution": 1, "mechanism": mechanism, "amount": amount}
    columns = {"height": height, "weight": {"role": "identifier"}}
    return policy(
        columns=columns, **{"perturb": {"epsilon": 2, "without_guarantee": True}, "suppress": {}} | sections
    )


def of_categories(mechanism: str, **more: Any) -> Policy:
    gone: dict[str, Any] = {name: {"role": "identifier"} for name in ("height", "weight")}
    column = GRADE | {"mechanism": mechanism, **more}
    return policy(
        columns={**gone, "illness": column}, perturb={"epsilon": 5, "without_guarantee": True}, suppress={}
    )


@pytest.mark.parametrize(
    "own",
    [
        masked("rank_swapping", 0.1),
        masked("rounding", 10),
        masked("correlated_noise", 0.3),
        masked("multiplicative_noise", 0.2),
        masked("individual_ranking", 10),
        of_categories("rank_swapping", ordered=True, amount=0.1),
    ],
    ids=lambda own: next(iter(own.changed_columns.values())),
)
def test_loss_grows_with_the_amount_and_linking_falls(own: Policy) -> None:
    found = tune(own, people(300), Grid(k=(10,)))
    assert len(found.points) == 3
    assert [one.choice.amounts for one in found.points] == sorted(one.choice.amounts for one in found.points)
    losses = [one.expected.loss for one in found.points]
    risks = [one.expected.risk for one in found.points]
    assert losses == sorted(losses) and losses[0] < losses[-1]
    assert risks == sorted(risks, reverse=True) and risks[0] > risks[-1]


def test_points_are_what_a_release_of_them_is_measured_and_judged_as(tmp_path: Path) -> None:
    own, frame = masked("rank_swapping", 0.1), people(300)
    found = tune(own, frame, Grid(k=(10, 20)))
    places = Locations(*(tmp_path,) * 4)
    assert {one.passes for one in found.points} == {True, False}
    for point in found.points:
        changed = policy_at(own, point.choice)
        tried = measure_release(changed, frame, places)
        assert (tried.linking, tried.loss) == (point.expected.linking_released, point.expected.loss)
        report = anonymize(changed, frame).report
        judged = {one.limit: one for one in report.verdicts}
        for verdict in point.verdicts:
            if verdict.limit in ("k", "linking_risk", "suppression"):
                assert replace(judged[verdict.limit], realized=None) == replace(verdict, realized=None)


def test_the_recommended_point_passes_its_own_gate() -> None:
    own = masked("rank_swapping", 0.02)
    assert not anonymize(own, people(300)).report.passed
    best = tune(own, people(300), Grid(k=(10, 20))).recommended
    assert best is not None and best.choice.k == 20
    assert anonymize(policy_at(own, best.choice), people(300)).report.passed


def test_the_same_table_gives_the_same_points_in_whatever_order() -> None:
    own, frame = masked("correlated_noise", 0.2), people(200)
    mixed = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    found = tune(own, frame, Grid(k=(5,)))
    assert found == tune(own, frame, Grid(k=(5,))) == tune(own, mixed, Grid(k=(5,)))


def test_a_mechanism_without_an_amount_is_named_and_k_alone_is_compared() -> None:
    found = tune(masked("class_swapping"), people(300), Grid(k=(5, 10)))
    assert [(one.choice.k, one.choice.amounts) for one in found.points] == [(5, ()), (10, ())]
    said = "\n".join(describe(found))
    assert "height: class_swapping takes no amount, so only k and the recoder are compared for it." in said
    assert "linking and loss are simulated" in said and "no proven bound" not in said


def test_known_categories_count_as_linking() -> None:
    found = tune(of_categories("class_swapping"), people(300), Grid(k=(5,)))
    (point,) = found.points
    (judged,) = [one for one in point.verdicts if one.limit == "known_columns.illness"]
    assert point.expected.linking_known == judged.value == point.expected.risk
    assert judged.value is not None and judged.value > point.expected.linking_released


def test_epsilon_of_other_columns_is_compared_if_it_is_asked_for() -> None:
    noisy = {"weight": {"role": "perturb", "resolution": 1}}
    own = masked("rank_swapping", 0.3).model_dump()
    own["columns"] |= noisy
    both = Policy.model_validate(own)
    found = tune(both, people(200), Grid(k=(10,), epsilon=(1.0, 2.0)))
    assert [one.choice.epsilon for one in found.points] == [1.0] * 2 + [2.0] * 2
    assert [one.choice.epsilon for one in tune(both, people(200), Grid(k=(10,))).points] == [2.0] * 2
    with pytest.raises(InputError, match="no column has noise of a scale"):
        tune(masked("rank_swapping", 0.3), people(200), Grid(epsilon=(1.0,)))


def test_choices_have_each_amount_once() -> None:
    own = masked("rank_swapping", 0.3)
    found = choices_with_amounts(own, Choice(7, None, None, "ola"))
    assert found == [Choice(7, None, None, "ola", (("height", amount),)) for amount in (0.02, 0.3)]


def test_a_k_without_a_recoding_is_impossible_and_recoded_once(tmp_path: Path) -> None:
    own, steps = masked("rank_swapping", 0.3), list[Any]()
    choices = [one for k in (10, 301) for one in choices_with_amounts(own, Choice(k, None, None, "ola"))]
    policies = {choice: policy_at(own, choice) for choice in choices}
    points, impossible = measure_points(
        policies, people(300), Locations(*(tmp_path,) * 4), observe=steps.append
    )
    assert [one.choice.k for one in points] == [10, 10]
    assert [(one.k, one.recoder) for one in impossible] == [(301, "ola")]
    assert [getattr(step, "name", None) for step in steps].count("ola, k = 10") == 1
    assert [*tmp_path.iterdir()] == []


def test_verdicts_leave_out_what_no_point_decides() -> None:
    (point, *_) = tune(masked("rank_swapping", 0.3), people(200), Grid(k=(10,))).points
    limits = {one.limit for one in point.verdicts}
    assert {"k", "linking_risk", "utility_released"} <= limits
    assert not limits & {"origin", "contract", "accepted.reviewed"}
    assert Status.REFUSED not in {one.status for one in point.verdicts if one.limit == "k"}


@pytest.mark.parametrize("write", [as_csv, lambda found: repr(as_document(found)), repr])
def test_no_value_of_the_data_is_written(write: Callable[[Any], str]) -> None:
    frame = people(300)
    frame["height"] += 7_771_000
    frame["illness"] = "CANARY-" + frame["illness"]
    text = write(tune(masked("individual_ranking", 10), frame, Grid(k=(10,))))
    assert "7771" not in text and "CANARY" not in text
