"""What a policy may say of how coarse a released column is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline import Policy
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.version_1 import digest_1

Small = Callable[..., Policy]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("note", {"level": 1}, "level must be given with a hierarchy"),
        ("note", {"hierarchy": {"suppress": True}}, "hierarchy must be given with level, and only with it"),
        ("note", {"round": 5, "top": 12}, "top must be a multiple of round, got 12 and 5"),
        ("note", {"bottom": 5, "top": 5}, "bottom must be below top, got 5 and 5"),
        ("note", {"round": 0}, "must be above 0"),
        ("note", {"round": True}, "must be a number, got true"),
        ("note", {"hierarchy": {"mask": [1]}, "level": 0}, "must be at least 1"),
        ("note", {"hierarchy": {"mask": [1]}, "level": 1, "round": 1}, "coarsened in one way"),
        ("income", {"hierarchy": {"mask": [1]}, "level": 1}, "level must be given only with distance: equal"),
        ("income", {"order": ["1"], "round": 1}, "only for numbers, without order or hierarchy"),
    ],
)
def test_what_does_not_fit_is_refused(small_policy: Small, name: str, change: Any, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        small_policy(columns={name: change})


def test_policies_that_coarsen_nothing_keep_their_digests(small_policy: Small) -> None:
    document = small_policy().model_dump(mode="json")["columns"]
    later = {"round", "top", "bottom", "level"}
    assert not later & {*document["note"], *document["income"]}
    assert "hierarchy" not in document["note"]
    assert digest_1(small_policy())
    assert digest_1(small_policy(columns={"income": {"round": 1000}})) == ""


def test_numbers_are_read_as_numbers(small_policy: Small) -> None:
    assert "note" not in small_policy().numeric
    assert "note" in small_policy(columns={"note": {"top": 3}}).numeric


def test_words_are_for_people(small_policy: Small) -> None:
    column = small_policy(columns={"income": {"round": 0.5, "bottom": 0, "top": 1e6}}).coarsened["income"]
    assert column.words == "to the nearest 0.5, not below 0, not above 1000000"
