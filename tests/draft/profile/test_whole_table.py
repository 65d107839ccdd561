"""Items of a questionnaire together, and columns beyond what can be protected."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.proposals import Proposal, Sure
from anon_pipeline.draft.profile.questions import TOTAL
from anon_pipeline.draft.profile.roles import propose_role
from anon_pipeline.draft.profile.whole_table import (
    MOST_NOISY,
    MOST_QUASI,
    with_items,
    with_total,
    within_reason,
)
from anon_pipeline.policy.columns import Generalize, Perturb

RNG = np.random.default_rng(0)
N = 400
FEW = RNG.choice(["a", "b", "c"], N)


def of(name: str, values: object) -> Proposal:
    return propose_role(look_at(pd.Series(values, name=name)))


def test_items_of_a_questionnaire_are_sensitive_together() -> None:
    looks = [look_at(pd.Series(RNG.integers(1, 6 - (i == 2), N).astype(str), name=f"q{i}")) for i in range(4)]
    looks.append(look_at(pd.Series(FEW, name="other")))
    found = with_items(looks, [propose_role(look) for look in looks])
    assert [proposal.role for proposal in found] == ["sensitive"] * 4 + ["generalize"]


def test_two_columns_on_a_scale_are_no_questionnaire() -> None:
    looks = [look_at(pd.Series(RNG.integers(1, 6, N), name=f"q{i}")) for i in range(2)]
    assert {p.role for p in with_items(looks, [propose_role(look) for look in looks])} == {"generalize"}


def test_more_columns_than_can_be_protected_are_left_out_with_a_question() -> None:
    proposals = [of(f"x{i}", FEW) for i in range(12)]
    proposals += [of(f"y{i}", RNG.normal(0, 1, N)) for i in range(5)]
    proposals.append(of("sex", FEW))
    found = within_reason(proposals)
    assert sum(isinstance(p.column, Generalize) for p in found) == MOST_QUASI
    assert sum(isinstance(p.column, Perturb) for p in found) == MOST_NOISY
    assert found[-1].role == "generalize"
    left_out = [p for p in found if p.dropped]
    assert all(p.question and p.sure is Sure.UNSURE for p in left_out)


def test_a_last_record_that_is_a_total_is_asked_about() -> None:
    def asked(names: list[str]) -> bool:
        looks = [look_at(pd.Series(names, name="customer")), look_at(pd.Series(range(len(names)), name="n"))]
        found = with_total(looks, [propose_role(look) for look in looks])
        assert TOTAL not in (found[1].question or "")
        return TOTAL in (found[0].question or "")

    people = [f"P{i}" for i in range(20)]
    assert asked([*people, "Total:"])
    assert asked([*map(str, range(20)), "Summe"])
    assert asked([*people, "Gesamtergebnis (20)", "Mittelwert", ""])
    assert asked([*people, "Total", *(f"Q{i}" for i in range(60)), "Total", "Total"])  # subtotals
    assert not asked([*people, "Total", "P20", "P21", "P22"])  # not at the end
    assert not asked(["all", "all", *people, "all"])  # a category
    assert not asked([*people, "Totalis"])
