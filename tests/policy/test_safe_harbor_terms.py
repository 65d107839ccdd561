"""The terms of `gate.safe_harbor`: what they name must be there, and old digests stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.safe_harbor_terms import SMALL_ZIPS
from anon_pipeline.policy.version_1 import digest_1

Small = Callable[..., Policy]


def test_the_list_is_that_of_hhs() -> None:
    assert len(SMALL_ZIPS) == len(set(SMALL_ZIPS)) == 17
    assert (SMALL_ZIPS[0], SMALL_ZIPS[-1]) == ("036", "893")


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ({"safe_harbor": True, "safe_harbor_terms": {"ages": ["years"]}}, "must name columns of the policy"),
        ({"safe_harbor_terms": {"ages": ["age"]}}, "must be given with gate.safe_harbor: true"),
        ({"safe_harbor": True, "safe_harbor_terms": {"small_zips": ["36"]}}, "small_zips"),
        ({"safe_harbor": "yes"}, "safe_harbor"),
    ],
)
def test_terms_that_do_not_fit_are_refused(small_policy: Small, gate: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        small_policy(gate=gate)


def test_policies_without_it_keep_their_digests(small_policy: Small) -> None:
    plain, off = small_policy(), small_policy(gate={"safe_harbor": False})
    assert "safe_harbor" not in str(plain.model_dump(mode="json"))
    assert plain.digest == off.digest != small_policy(gate={"safe_harbor": True}).digest
    assert digest_1(plain)
    assert digest_1(small_policy(gate={"safe_harbor": True})) == ""
