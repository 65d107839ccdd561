"""What a policy alone breaks of Safe Harbor makes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.safe_harbor_rules import held_columns, unsafe_by_policy

Small = Callable[..., Policy]
ON = {"safe_harbor": True}
HASH = {"columns": {"person": {"action": "hash"}}, "deidentify": {"key_env": "K"}}


def test_a_released_hash_makes_nothing(small_policy: Small) -> None:
    refuse_contradictions(small_policy(gate=ON))
    refuse_contradictions(small_policy(**HASH))
    with pytest.raises(PolicyError, match=r"keyed hash.*no ε was spent"):
        refuse_contradictions(small_policy(gate=ON, **HASH))


def test_nobody_can_answer_for_a_column_that_tells_people_apart(small_policy: Small) -> None:
    known = {"columns": ["note"], "share": 1, "who": "Ann", "when": "2026-01-01", "why": "public register"}
    policy = small_policy(gate=ON, acknowledged=[{**known, "until": "2026-12-31"}])
    assert [line.partition(":")[0] for line in unsafe_by_policy(policy)] == ["note"]


def test_terms_go_before_names(small_policy: Small) -> None:
    policy = small_policy(gate={**ON, "safe_harbor_terms": {"zips": ["age"]}})
    assert held_columns(policy) == {"age": ("zips", "ZIP codes"), "city": ("places", "places")}
