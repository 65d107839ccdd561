"""A policy is refused if a key of it is weaker than the floor accepts, with each key named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline import Policy
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.limits.floor import TYPE, Floor, read_floor, refuse_weaker, weaker_keys
from anon_pipeline.policy import policy_from
from tests.conftest import SMALL, merged
from tests.limits.test_changes import full

Small = Callable[..., Policy]


@pytest.fixture
def floor(tmp_path: Path) -> Callable[..., Floor]:
    """Read a floor with some attributes."""

    def make(**attributes: Any) -> Floor:
        (tmp_path / "floor.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        return read_floor(tmp_path / "floor.yaml")

    return make


@pytest.mark.parametrize(
    ("attributes", "changes", "said"),
    [
        ({"anonymize": {"k": 4}}, {}, "anonymize.k: must protect at least as much as 4"),
        ({"perturb": {"epsilon": 1}}, {}, "perturb.epsilon: must protect at least as much as 1.0"),
        ({"budget": {"epsilon": 8}}, {},
         "budget.epsilon: must protect at least as much as 8.0, which floor.yaml demands, got nothing"),
        ({"budget": {"epsilon": 8}}, {"budget": {"epsilon": 9}}, "budget.epsilon: must protect at least"),
        ({"limits": {"k": 4}}, {}, "the limit k: must be at least 4 or stricter"),
        ({"limits": {"linking_risk": 0.1}}, {}, "the limit linking_risk: must be at most 0.1"),
        ({"limits": {"linking_risk": 0.1}}, {"gate": {"linking_risk": 0.2}},
         "the limit linking_risk: must be at"),
        ({"limits": {"t_closeness": 0.3}}, {"gate": {"t_closeness": {"illness": 0.3}}},
         "the limit t_closeness.income: must be set to at most 0.3"),
        ({"limits": {"known_columns": 0.2}}, {}, "the limit known_columns.note: must be at most 0.2"),
        ({"limits": {"utility_released": 0.5}}, {}, "the limit utility_released: must be set"),
        ({"limits": {"linkage.exact": 0.1}}, {}, "the limit linkage.exact: must be set to at most 0.1"),
        ({"limits": {"l_diversity": 2}}, {"gate": {"l_diversity": {
            "illness": {"kind": "recursive", "l": 3, "c": 1.0}, "income": {"l": 2}}}},
         "the limit l_diversity.illness: must be at least 2 or stricter, which floor.yaml demands, got"),
        ({"required": ["responsible.owner"]}, {}, "responsible.owner: must be set, as floor.yaml demands"),
        ({"required": ["record_key"]}, {}, "record_key: must be set"),
        ({"perturb": {"without_guarantee": False}},
         {"perturb": {"without_guarantee": True, "mechanism": "uniform"}},
         "perturb.without_guarantee: must protect"),
        ({"perturb": {"epsilon": 2}}, {"perturb": {"without_guarantee": True, "mechanism": "uniform"}},
         "perturb.epsilon: floor.yaml demands a guarantee"),
    ],
)  # fmt: skip
def test_what_is_weaker(
    floor: Callable[..., Floor],
    small_policy: Small,
    attributes: dict[str, Any],
    changes: dict[str, Any],
    said: str,
) -> None:
    found = list(weaker_keys(small_policy(**changes), floor(**attributes)))
    assert any(line.startswith(said) for line in found), found


@pytest.mark.parametrize(
    ("attributes", "changes"),
    [
        ({"anonymize": {"k": 3}, "perturb": {"epsilon": 2}, "limits": {"k": 3, "suppression": 0.5}}, {}),
        ({"perturb": {"epsilon": 1, "without_guarantee": False}, "budget": {"epsilon": 1},
          "limits": {"linking_risk": 0.1}, "required": ["budget"]},
         {"perturb": None, "suppress": None, "columns": {"height": {"role": "identifier", "resolution": None,
                                                                    "unit": None}}}),
        ({"budget": {"epsilon": 8}}, {"budget": {"epsilon": 4}}),
        ({"limits": {"t_closeness.salary": 0.3}}, {}),
        ({"limits": {"t_closeness": 0.3}}, {"gate": {"t_closeness": {"illness": 0.3, "income": 0.1}}}),
        ({"required": ["responsible.owner"]}, {"responsible": {"owner": "Health office"}}),
    ],
)  # fmt: skip
def test_what_is_not_weaker(
    floor: Callable[..., Floor], small_policy: Small, attributes: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert list(weaker_keys(small_policy(**changes), floor(**attributes))) == []


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"limits": {"nothing": 1}}, "limits.nothing: must be a limit with a bound"),
        ({"limits": {"contract": 1}}, "limits.contract: must be a limit with a bound"),
        ({"limits": {"k": True}}, "limits.k: must be a number"),
        ({"limits": {"k": float("nan")}}, "limits.k: must be a number"),
        ({"limits": []}, "limits: must be a mapping"),
        ({"required": ["nothing"]}, "required: nothing is no key"),
        ({"required": "budget"}, "required: must be a list"),
        ({"anonymize": {"recoder": "ola"}}, "anonymize.recoder: must be a key of a policy with a number"),
        ({"anonymize": {"k": 1}}, "anonymize.k: must be at least 2, got 1"),
        ({"anonymize": 5}, "anonymize: must be a key"),
        ({"gate": {"k": 5}}, "gate.k: must be a key of a policy with a number"),
        ({"k": 5}, "k: must be a key"),
    ],
)
def test_mistakes_in_the_file_are_all_named(
    floor: Callable[..., Floor], attributes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PolicyError) as refused:
        floor(**attributes, required_too=5)
    assert any(line.startswith(f"floor.yaml: {said}") for line in refused.value.problems), refused.value
    assert any("required_too" in line for line in refused.value.problems)
    assert "no policy below it is accepted" in refused.value.problems[-1]


@given(st.integers(2, 9), st.integers(3, 9), st.floats(0.1, 9), st.floats(0.1, 9))
def test_weaker_if_and_only_if_a_number_is_on_the_wrong_side(
    k: int, own_k: int, epsilon: float, own_epsilon: float
) -> None:
    policy = policy_from(merged(SMALL, {"anonymize": {"k": own_k}, "perturb": {"epsilon": own_epsilon}}))
    floor = Floor("f", {("anonymize", "k"): k, ("perturb", "epsilon"): epsilon}, {"k": k}, (), {})
    named = {line.partition(":")[0] for line in weaker_keys(policy, floor)}
    expected = {"anonymize.k"} if own_k < k else set()
    expected |= {"perturb.epsilon"} if own_epsilon > epsilon else set()
    expected |= {"the limit k"} if k > 3 else set()
    assert named == expected


def test_all_keys_of_all_files_at_once(tmp_path: Path) -> None:
    files = []
    for name, attributes in {
        "a.yaml": {"anonymize": {"k": 9}},
        "b.yaml": {"limits": {"k": 9, "linking_risk": 0}},
    }.items():
        (tmp_path / name).write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        files.append(tmp_path / name)
    with pytest.raises(PolicyError) as refused:
        refuse_weaker(full(), files)
    assert [line.partition(":")[0] for line in refused.value.problems] == [
        "anonymize.k", "the limit k", "the limit linking_risk",
    ]  # fmt: skip
