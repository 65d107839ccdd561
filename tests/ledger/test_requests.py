"""What a release asks of the ledger follows from its policy."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.ledger.requests import Asked, columns_digest, requested_by
from anon_pipeline.policy import Policy


def test_what_a_policy_asks_for(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy(perturb={"epsilon": 0.1}, budget={"epsilon": 3})
    asked, columns = requested_by(policy, "w1"), columns_digest(policy.columns)
    assert asked == Asked(
        "small", "small", "w1", policy.digest, policy.making, 3, "0.1", policy.budget, "none", None, columns
    )
    assert requested_by(small_policy(dataset="people"), None).dataset == "people"


def test_without_noise_nothing_is_spent(small_policy: Callable[..., Policy]) -> None:
    plain = small_policy(
        perturb=None,
        suppress=None,
        columns={"height": {"role": "insensitive", "unit": None, "resolution": None}},
    )
    assert requested_by(plain, None).epsilon == "0"


def test_sources_have_one_digest_if_and_only_if_they_have_the_same_columns() -> None:
    assert columns_digest(["a", "b"]) == columns_digest(["b", "a"])
    different = [["a", "b"], ["a", "B"], ["ab"], ["a,b"], ["a", "b", "c"], ['a", "b']]
    assert len({columns_digest(names) for names in different}) == len(different)
