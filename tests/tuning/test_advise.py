"""After a refusal: the smallest change of the policy that would most likely pass, and no draw for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import ANOTHER_DRAW, InputError
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning import advise as advise_module
from anon_pipeline.tuning.advise import NO_ADVICE, advise, near_choices
from anon_pipeline.tuning.grid import Choice
from anon_pipeline.tuning.recode_input import input_to_recode
from tests.tuning.policies import people, policy
from tests.tuning.test_hidden_columns import policy as one_town
from tests.tuning.test_hidden_columns import rare_towns

KNOWN = [{"columns": ["weight"], "risk": 1}]  # it is released as it is: of that, only measured


def asked(wanted: Policy, *refused: str, frame: pd.DataFrame | None = None) -> list[str]:
    table = people() if frame is None else frame
    return advise(wanted, lambda: input_to_recode(wanted, table), refused, hierarchies=Path())


def test_every_limit_is_foreseen_or_has_advice() -> None:
    advice = {limit.name: limit.words.advice for limit in LIMITS}
    assert [one.name for one in LIMITS if not one.forecast.is_possible and not advice[one.name]] == []
    assert [name for name, words in advice.items() if words and not words.endswith(".")] == []


def test_one_change_comes_before_two_and_small_ones_before_large_ones() -> None:
    own = Choice(10, 2.0, 0.9, "ola")
    found = near_choices(own)
    changed = [sum(a != b for a, b in zip(own, choice, strict=True)) for choice in found]
    assert changed == sorted(changed) and set(changed) == {1, 2}
    assert found[:3] == [own._replace(epsilon=1.0), own._replace(confidence=0.95), own._replace(k=15)]
    assert all((c.epsilon or 0) <= 2 and c.k >= 10 for c in found)
    assert near_choices(Choice(4, None, None, "ola")) == [
        Choice(6, None, None, "ola"),
        Choice(12, None, None, "ola"),
    ]


@pytest.mark.parametrize(
    ("bound", "changes"), [(0.2, {"epsilon": 3.0}), (0.05, {"epsilon": 1.5, "k": 15})], ids=["one", "two"]
)
def test_the_change_that_is_named_passes(bound: float, changes: dict[str, Any]) -> None:
    """What is foreseen of linking is exact for one column: the gate then says the same."""

    def limited(epsilon: float = 6, k: int = 10) -> Policy:
        return policy(
            gate={"linking_risk": bound, "k": 10, "attacks": {"known_columns": KNOWN}},
            anonymize={"k": k},
            perturb={"epsilon": epsilon},
            suppress={},
        )

    assert [v.limit for v in anonymize(limited(), people()).report.unkept] == ["linking_risk"]
    lines = asked(limited(), "linking_risk")
    named = [
        f"{'perturb' if name == 'epsilon' else 'anonymize'}.{name}: {v:g}" for name, v in changes.items()
    ]
    assert lines[0] == f"linking_risk: {' and '.join(named)}, all else as it is, is expected to pass."
    assert anonymize(limited(**changes), people()).report.passed
    assert ANOTHER_DRAW in lines[-1] and len(lines) == 2


@pytest.mark.parametrize(
    ("gate", "refused", "says"),
    [
        ({"linking_risk": 0.0001}, "linking_risk", "no smaller ε, larger k or other confidence"),
        ({"attacks": {"assignment_risk": 0.001}}, "assignment_risk", "take a smaller ε, or a larger k"),
    ],
)
def test_where_nothing_near_passes_or_nothing_is_foreseen_there_is_a_sentence(
    gate: dict[str, Any], refused: str, says: str
) -> None:
    lines = asked(policy(gate=gate), refused)
    assert lines[0].startswith(f"{refused}: {says}") and ANOTHER_DRAW in lines[-1]


def test_given_classes_are_made_anew_where_they_were_made() -> None:
    frame = people().assign(own=np.arange(len(people())) // 10)
    own = policy(gate={"linking_risk": 0.0001}, anonymize={"recoder": "given", "classes": "own", "k": 10})
    lines = asked(own, "linking_risk", frame=frame)
    assert "change k or other keys in the policy of the whole table, and divide it again" in lines[0]


@pytest.mark.parametrize("lacking", [False, True])
def test_without_noise_there_is_no_advice_on_noise(lacking: bool) -> None:
    """Records without a value are left out whatever k is."""
    frame = people()
    if lacking:
        frame.loc[:40, "illness"] = None
    illness = {"role": "sensitive", "distance": "equal", **({"missing": "suppress"} if lacking else {})}
    own = policy(
        columns={"height": {"role": "identifier"}, "illness": illness},
        perturb=None,
        suppress={},
        gate={"suppression": 0.01},
    )
    lines = asked(own, "suppression", frame=frame)
    assert lines[0].startswith("suppression: no larger k near the policy's is expected to pass.")
    assert "A smaller k or coarser hierarchies leave out fewer records" in lines[0]
    assert ("Records without a value" in lines[0]) == lacking
    assert "ε" not in lines[0]


def test_nothing_of_the_data_is_said() -> None:
    frame = people().assign(height=people()["height"] + 777_100, illness="CANARY-7f3a")
    text = "\n".join(
        asked(
            policy(gate={"linking_risk": 0.05, "suppression": 0.01}),
            "linking_risk",
            "suppression",
            frame=frame,
        )
    )
    assert "CANARY" not in text and "7771" not in text
    assert not set(re.findall(r"\d+\.\d{3,}", text)) - {"0.999"}


def test_nothing_is_refused_nothing_is_said() -> None:
    assert asked(policy()) == []


def test_people_with_several_records_get_advice() -> None:
    once = people(200)
    frame = once.loc[np.repeat(once.index, 3)].reset_index(drop=True)
    frame["who"] = [f"p{i // 3}" for i in range(len(frame))]
    wanted = policy(
        columns={"who": {"role": "identifier"}},
        person="who",
        rows_per_person=2,
        deidentify={"key_env": "K"},
        gate={"linking_risk": 0.01},
        anonymize={"k": 10},
    )
    lines = asked(wanted, "linking_risk", frame=frame)
    assert lines[0].startswith("linking_risk: ") and NO_ADVICE not in lines[0]


@pytest.mark.parametrize("error", [KeyError("CANARY"), MemoryError(), InputError("no such file")])
def test_advice_that_cannot_be_computed_is_no_failure(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Staged:
        raise error

    monkeypatch.setattr(advise_module, "expect", broken)
    wanted = policy(gate={"linking_risk": 0.05, "attacks": {"assignment_risk": 0.001}})
    lines = advise(wanted, broken, ["linking_risk", "assignment_risk"], hierarchies=Path())
    assert lines[0] == f"linking_risk: {NO_ADVICE}"
    assert lines[1].startswith("assignment_risk: ") and "CANARY" not in "\n".join(lines)
    with pytest.raises(KeyboardInterrupt):
        error = KeyboardInterrupt()
        asked(wanted, "linking_risk")


def test_hidden_columns_that_refuse_get_changes_that_were_tried() -> None:
    wanted = one_town(gate={"suppression": 0.15, "utility": {"fully_generalized": 0}})
    found = asked(wanted, "utility_fully_generalized", frame=rare_towns())
    assert "With anonymize.suppression_limit: 0.08, town would no longer be hidden entirely." in found
    assert not any("would leave" in line for line in asked(wanted, "k", frame=rare_towns()))
