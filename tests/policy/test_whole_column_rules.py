"""Amounts of mechanisms that change whole columns, and what needs a distribution."""

from __future__ import annotations

from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.encode.grids import epsilon_shares
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy

NEEDS = {"share": 0.05, "factor": 0.5, "count": 5, "step": 10.0}
KINDS = {name: one.whole_column for name, one in MECHANISMS.items() if one.whole_column is not None}


def _column(kind: str, amount: Any = ..., **more: Any) -> dict[str, Any]:
    wanted = KINDS[kind].amount
    own = NEEDS.get(wanted) if amount is ... else amount
    return {"role": "perturb", "resolution": 1, "mechanism": kind, "amount": own, **more}


def _policy(*columns: dict[str, Any], **sections: Any) -> Policy:
    named = {f"number_{at}": column for at, column in enumerate(columns)}
    named["age"] = {"role": "generalize", "hierarchy": {"intervals": [5, 10]}}
    return _of_columns(named, **{"perturb": {"epsilon": 1, "without_guarantee": True}, **sections})


def _of_columns(columns: dict[str, Any], **sections: Any) -> Policy:
    attributes = {"name": "people", "source": {"path": "people.csv"}, "anonymize": {"k": 3}}
    return policy_from({**attributes, "columns": columns, **sections})


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_accepted_with_its_amount_and_spends_no_epsilon(kind: str) -> None:
    policy = _policy(_column(kind))
    assert policy.whole_columns == ("number_0",) and policy.promised_epsilon is None
    assert policy.lasting == ()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("amount", [None, 0.33, 1, 2, 2.5, 10, 11, 1_001, 10**13])
def test_amounts_are_of_their_kind(kind: str, amount: float | None) -> None:
    fits = {
        "none": amount is None,
        "share": amount is not None and amount <= 1,
        "factor": amount is not None and amount <= 10,
        "count": amount is not None and amount in (2, 10, 11),
        "step": amount is not None and amount in (2, 10, 11, 1_001),
    }[KINDS[kind].amount]
    if fits:
        assert _policy(_column(kind, amount)).columns["number_0"].amount == amount
        return
    with pytest.raises(PolicyError, match=r"columns\.number_0\.amount: must be"):
        _policy(_column(kind, amount))


def test_a_step_is_a_multiple_of_the_resolution_in_decimals() -> None:
    assert _policy(_column("rounding", 0.3, resolution=0.1))
    with pytest.raises(PolicyError, match="a multiple of the column's resolution"):
        _policy(_column("rounding", 0.25, resolution=0.1))


def test_noise_takes_no_amount() -> None:
    with pytest.raises(PolicyError, match="must be left out: mechanism: staircase takes none"):
        _policy(
            {"role": "perturb", "resolution": 1, "mechanism": "staircase", "amount": 3},
            perturb={"epsilon": 1},
        )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"weight": 2}, "weight: must be left out"),
        ({"sensitivity": "declared", "input_bounds": [0, 100]}, "sensitivity: must be left out"),
    ],
)
def test_what_is_said_of_noise_does_not_fit(more: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        _policy(_column("class_swapping", **more))


def test_columns_that_are_changed_together_have_one_amount() -> None:
    assert _policy(_column("correlated_noise"), _column("correlated_noise"))
    with pytest.raises(PolicyError, match="number_0, number_1 must have the same amount"):
        _policy(_column("correlated_noise", 0.1), _column("correlated_noise", 0.2))
    assert _policy(_column("rank_swapping", 0.1), _column("rank_swapping", 0.2))


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"suppress": {"confidence": 0.9}}, "suppress.confidence: must be left out"),
        ({"gate": {"attacks": {"expected_linking_risk": 0.2}}}, "expected_linking_risk: must be left out"),
        ({"gate": {"attacks": {"averaging": {"releases": 2, "risk": 0.5}}}}, "averaging: must be left out"),
        ({"perturb": {"epsilon": 1}}, "without_guarantee: must be true"),
        ({"budget": {"epsilon": 3}}, "budget: counts ε alone"),
    ],
)
def test_what_needs_a_distribution_is_refused(sections: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        _policy(_column("rank_swapping"), **sections)


def test_noise_that_stays_is_refused_by_the_name_of_the_mechanism() -> None:
    columns = {
        "id": {"role": "identifier"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10]}},
        "income": _column("rank_swapping"),
    }
    perturb = {"epsilon": 1, "without_guarantee": True, "republish": "sticky"}
    with pytest.raises(PolicyError, match="needs noise that promises ε, got mechanism: rank_swapping"):
        _of_columns(columns, record_key="id", perturb=perturb)


JOB = {"role": "perturb", "mechanism": "class_swapping", "values": ["baker", "nurse"]}
DRAWN = {"role": "perturb", "mechanism": "randomized_response", "values": ["yes", "no"]}


def test_categories_are_accepted_and_spend_no_epsilon() -> None:
    policy = _policy(JOB, DRAWN)
    assert policy.whole_columns == () and policy.changed_columns == {"number_0": "class_swapping"}
    assert [*policy.drawn_categories] == ["number_1"] and [*policy.changed_categories] == ["number_0"]
    assert [float(share) for share in epsilon_shares(policy)] == [0.0, 1.0]
    assert policy.promised_epsilon is None and policy.noise_epsilon == 1
    assert policy.lasting == ("number_1",)
    assert _policy(JOB).noise_epsilon is None


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        (
            {"perturb": {"epsilon": 1}},
            r"perturb.without_guarantee: must be true for mechanism: class_swapping in number_0, which "
            r"guarantees nothing. These guarantee ε: discrete_laplace",
        ),
        ({"budget": {"epsilon": 3}}, "budget: counts ε alone.*these do not: number_0"),
        ({"perturb": None}, "perturb: must be given"),
    ],
)
def test_categories_need_what_numbers_need(sections: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        _policy(JOB, **sections)


def test_categories_that_are_changed_have_no_weight() -> None:
    with pytest.raises(PolicyError, match=r"number_0\.weight: must be left out: its mechanism"):
        _policy({**JOB, "weight": 2})


def test_categories_whose_change_promises_nothing_do_not_stay() -> None:
    columns = {
        "id": {"role": "identifier"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10]}},
        "job": JOB,
    }
    perturb = {"epsilon": 1, "without_guarantee": True, "republish": "sticky"}
    with pytest.raises(
        PolicyError, match="needs noise that promises ε, got mechanism: class_swapping for job"
    ):
        _of_columns(columns, record_key="id", perturb=perturb)


def test_numbers_with_noise_keep_what_needs_their_distribution_beside_changed_categories() -> None:
    noisy = {"role": "perturb", "resolution": 1}
    attacks = {"expected_linking_risk": 0.9, "averaging": {"releases": 2, "risk": 0.9}}
    policy = _policy(noisy, JOB, suppress={"confidence": 0.9}, gate={"attacks": attacks})
    assert policy.suppress.confidence == 0.9


def test_a_large_epsilon_needs_no_limit_for_categories_that_do_not_use_it() -> None:
    policy = _policy(JOB, perturb={"epsilon": 50, "without_guarantee": True})
    refuse_contradictions(policy)
    with pytest.raises(PolicyError, match="must have a limit below 1 for each column of categories"):
        refuse_contradictions(_policy(JOB, DRAWN, perturb={"epsilon": 50, "without_guarantee": True}))


GRADE = {"role": "perturb", "mechanism": "rank_swapping", "values": ["low", "mid", "high"], "ordered": True}


def test_categories_with_an_order_have_their_amount() -> None:
    policy = _policy({**GRADE, "amount": 0.1})
    assert policy.changed_columns == {"number_0": "rank_swapping"}
    with pytest.raises(
        PolicyError, match=r"number_0\.amount: must be given for mechanism: rank_swapping, a share"
    ):
        _policy(GRADE)
    with pytest.raises(PolicyError, match=r"number_0\.amount: must be a share of the records.* got 2"):
        _policy({**GRADE, "amount": 2})
    with pytest.raises(
        PolicyError, match=r"number_0\.amount: must be left out: mechanism: class_swapping takes"
    ):
        _policy({**JOB, "amount": 0.1})


def test_values_of_several_columns_move_together() -> None:
    swapped = {"role": "perturb", "resolution": 1, "mechanism": "class_swapping"}
    policy = _policy({**JOB, "together": True}, {**swapped, "together": True}, swapped)
    assert policy.joint_columns == ("number_1", "number_0")
    assert _policy({**swapped, "together": True}, {**swapped, "together": True}).joint_columns


@pytest.mark.parametrize("column", [JOB, {"role": "perturb", "resolution": 1, "mechanism": "class_swapping"}])
def test_a_column_needs_another_one_to_move_with(column: dict[str, Any]) -> None:
    said = (
        "columns.number_0.together: needs a second column with mechanism: class_swapping and together: true, "
        "whose values move with it, got number_0 alone"
    )
    with pytest.raises(PolicyError, match=said):
        _policy({**column, "together": True}, column)


def test_drawn_categories_move_alone() -> None:
    with pytest.raises(
        PolicyError,
        match=r"number_0\.together: must be left out with mechanism: randomized_response",
    ):
        _policy({**DRAWN, "together": True}, JOB)


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"class_swapping"}))
def test_other_mechanisms_move_no_values_together(kind: str) -> None:
    with pytest.raises(
        PolicyError, match=f"together: must be left out with mechanism: {kind}.*It is for class_swapping"
    ):
        _policy(_column(kind, together=True), _column(kind, together=True))


def test_columns_without_noise_take_no_share_of_epsilon() -> None:
    noisy = {"role": "perturb", "resolution": 1}
    policy = _policy(_column("rank_swapping"), noisy, {**noisy, "weight": 3})
    assert [float(share) for share in epsilon_shares(policy)] == [0.0, 0.25, 0.75]
