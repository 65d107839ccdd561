"""What the table's entries say to readers: the keys of the policy that their advice names are keys."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.table import LIMITS, advice_on, demands, limits_of
from anon_pipeline.policy import Policy
from tests.named_keys import unknown_keys

Small = Callable[..., Policy]
_LIMITS = frozenset(limit.name for limit in LIMITS)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_keys_in_advice_are_keys_of_the_policy(limit: Limit) -> None:
    assert unknown_keys(limit.words.advice, besides=_LIMITS) == []


def test_keys_in_advice_for_a_policy_are_keys_of_the_policy(small_policy: Small) -> None:
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}
    for policy in (
        small_policy(),
        small_policy(columns={"note": drawn}),
        small_policy(gate={"t_closeness": {"illness": 0.5}}, anonymize={"k": 2}),
    ):
        for demand in demands(policy):
            assert unknown_keys(advice_on(demand.name, policy), besides=_LIMITS) == []
        assert len(set(limits_of(policy))) == len(limits_of(policy))


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("clean (case, whitespace, map) does that.", ["whitespace", "map"]),
        ("clean does that (case, strip, unicode, values).", []),
        ("set gate.l_diversty of the column", ["l_diversty"]),
        ("drop it (role: identifer)", ["role: identifer"]),
        ("set rows_per_persn", ["rows_per_persn"]),
        ("give it the role sensitive and set gate.l_diversity (kind: entropy)", []),
    ],
)
def test_the_search_finds_keys_that_are_none(text: str, unknown: list[str]) -> None:
    assert unknown_keys(text) == unknown
