"""Equal risk and equal loss of columns that are changed as a whole: against every k and amount by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.tuning import equal_amount
from anon_pipeline.tuning.equal_amount import (
    amount_at,
    amounts_of,
    find_amounts,
    goal_of_release,
    measure_release,
    policies_tried,
)
from anon_pipeline.tuning.equal_risk import Goal
from anon_pipeline.tuning.outcomes import Measured, measure_variants
from anon_pipeline.tuning.variants import variants_of
from tests.few_simulated import simulate_fewer
from tests.tuning.policies import people, policy

FEW = {"share": (0.02, 0.3), "factor": (0.1, 3), "count": (2, 20), "step": (2, 10)}


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try three k and two amounts besides the column's own, and simulate few copies."""
    simulate_fewer(monkeypatch)
    monkeypatch.setattr(equal_amount, "_TIMES", (1, 2, 5))
    monkeypatch.setattr(equal_amount, "_STRENGTHS", FEW)


@pytest.fixture
def places(tmp_path: Path) -> Locations:
    people().to_csv(tmp_path / "people.csv", index=False)
    return Locations(*(tmp_path,) * 4)


def masked(mechanism: str, amount: float | None = None, **more: Any) -> Policy:
    height = {"role": "perturb", "resolution": 1, "mechanism": mechanism, "amount": amount}
    weight = {"role": "identifier"}
    return policy(
        columns={"height": height, "weight": weight, **more},
        anonymize={"k": 20, "loss": "granularity", "suppression_limit": 0.1},
        perturb={"epsilon": 2, "without_guarantee": True},
        suppress={},
    )


def measured(own: Policy, places: Locations, *settings: str, **how: Any) -> list[Measured]:
    return list(measure_variants(variants_of(own, settings), places, **how))


@pytest.mark.parametrize("held", ["linking", "loss"])
def test_it_is_the_best_of_all_that_are_tried(places: Locations, held: Any) -> None:
    own, frame = masked("rank_swapping", 0.1), people()
    goal = goal_of_release(held, own, frame, places)
    found = find_amounts(own, frame, goal, places)
    kept = []
    for k in (20, 40, 100):
        for amount in (0.1, *FEW["share"]):
            one = masked("rank_swapping", amount).model_dump()
            one["anonymize"]["k"] = k
            tried = measure_release(Policy.model_validate(one), frame, places)
            if (tried.linking if held == "linking" else tried.loss) <= goal.most:
                kept.append(((tried.loss, tried.linking) if held == "linking" else tried[:2], k, amount))
    best = min(kept)
    assert found is not None
    assert (found.k, amounts_of(found.policy)) == (best[1], {"height": best[2]})
    assert (found.linking if held == "linking" else found.loss) <= goal.most
    assert {found.linking, found.loss} == {*best[0]}


def test_variants_link_no_more_than_a_policy_with_noise(places: Locations) -> None:
    own = policy(
        columns={"weight": {"role": "identifier"}},
        anonymize={"k": 20, "suppression_limit": 0.1},
        perturb={"epsilon": 4},
        suppress={},
    )
    base, swapped, shuffled, averaged = measured(
        own,
        places,
        "mechanism=rank_swapping,columns.height.amount=0.02",
        "mechanism=data_shuffling",
        "mechanism=individual_ranking,columns.height.amount=2",
        equal="risk",
    )
    assert base.outcome is not None and (base.epsilon, base.amounts) == (4, {})
    assert swapped.outcome is not None and swapped.epsilon is None and swapped.amounts == {"height": 0.3}
    assert shuffled.outcome is not None and shuffled.amounts == {}
    for one in (swapped, shuffled):
        assert one.outcome is not None and one.outcome.linking <= base.outcome.linking * 1.05
        assert one.weakens  # it has no guarantee, whatever it links
    assert averaged.outcome is None  # an original is nearest to its own mean, whatever the amount
    assert averaged.problem == "links more records than the policy, whatever its k and amount"


def test_a_policy_without_a_distribution_can_be_the_first_one(places: Locations) -> None:
    base, noisy = measured(
        masked("rank_swapping", 0.3), places, "columns.height.mechanism=discrete_laplace", equal="risk"
    )
    assert base.outcome is not None and noisy.outcome is not None
    assert noisy.outcome.linking <= base.outcome.linking * 1.05
    assert noisy.epsilon is not None and noisy.epsilon <= 2 and noisy.amounts == {}


def test_the_gate_decides_between_what_keeps_the_goal(places: Locations) -> None:
    frame, own = people(), masked("rank_swapping", 0.02)
    everything = Goal("linking", 1.0)  # what loses least is best, but for the gate
    strict = own.model_dump()
    strict["gate"]["linking_risk"] = 1.0
    least = find_amounts(Policy.model_validate(strict), frame, everything, places)
    usual = find_amounts(own, frame, everything, places)  # without a limit the gate has its usual one
    strict["gate"]["linking_risk"] = 0.2
    passing = find_amounts(Policy.model_validate(strict), frame, everything, places)
    assert least is not None and passing is not None and usual is not None
    assert least.linking > 0.2 >= passing.linking
    assert (usual.k, usual.linking, usual.passes) == (passing.k, passing.linking, True)
    assert least.loss < passing.loss
    strict["gate"]["linking_risk"] = 0.0
    none = find_amounts(Policy.model_validate(strict), frame, everything, places)
    assert none is not None and not none.passes  # of what the gate refuses, the best


def test_amounts_of_several_columns_grow_together(places: Locations) -> None:
    weight = {"role": "perturb", "resolution": 0.5, "mechanism": "rounding", "amount": 1.5}
    own = masked("individual_ranking", 3, weight=weight)
    tried = [amounts_of(one) for one in policies_tried(own, 40)]
    assert tried == [
        {"height": 3, "weight": 1.5},
        {"height": 2, "weight": 1.0},
        {"height": 20, "weight": 5.0},
    ]


def test_without_a_recoding_there_is_nothing_to_choose(places: Locations) -> None:
    own = masked("class_swapping").model_dump()
    own["anonymize"]["k"] = 601  # of 600 records
    with pytest.raises(InfeasibleError):
        find_amounts(Policy.model_validate(own), people(), Goal("linking", 1.0), places)


@pytest.mark.parametrize("resolution", [0.57, 0.07, 0.29, 1e-6, 2.3])
def test_steps_are_multiples_of_any_resolution(resolution: float) -> None:
    own = masked("rounding", 2).model_dump()
    first = amount_at("rounding", 0, resolution)
    own["columns"]["height"] |= {"resolution": resolution, "amount": first}
    tried = [amounts_of(one)["height"] for one in policies_tried(Policy.model_validate(own), 20)]
    assert tried == [first, first, amount_at("rounding", 1, resolution)]


def test_amounts_of_categories_are_chosen_too(places: Locations) -> None:
    grade = {
        "role": "perturb",
        "mechanism": "rank_swapping",
        "values": ["none", "cold", "cough", "flu"],
        "ordered": True,
        "amount": 0.1,
    }
    own = masked("rounding", 2, illness=grade)
    assert [amounts_of(one) for one in policies_tried(own, 20)] == [
        {"height": 2, "illness": 0.1},
        {"height": 2, "illness": 0.02},
        {"height": 10, "illness": 0.3},
    ]
    found = find_amounts(own, people(), Goal("linking", 1.0), places)
    assert found is not None and {*amounts_of(found.policy)} == {"height", "illness"}
