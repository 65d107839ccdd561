"""Who answers for a release: published, and no part of what makes the tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anon_pipeline import PolicyError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.marks import marks_of
from anon_pipeline.policy.responsible import Responsible
from anon_pipeline.policy.version_1 import digest_1, making_1
from anon_pipeline.policy.walks import named_paths, public_fields

Small = Callable[..., Policy]
SAID = {"owner": "Health office", "purpose": "planning", "legal_basis": "§ 12", "contact": "a/../b"}


def test_it_is_published_and_does_not_bind_the_tables(small_policy: Small) -> None:
    before, after = small_policy(), small_policy(responsible=SAID)
    assert public_fields(after)["responsible"] == SAID
    assert after.making == before.making
    assert making_1(after) == making_1(before)
    assert after.digest != before.digest
    assert {one.path for one in named_paths(after)} == {one.path for one in named_paths(before)}
    for field in Responsible.model_fields.values():
        marks = marks_of(field)
        assert (marks.shown, marks.binds, marks.folder) == ("whole", False, None)


def test_a_policy_without_it_has_the_digest_that_it_had(small_policy: Small) -> None:
    policy = small_policy()
    assert "responsible" not in policy.model_dump(mode="json")
    assert digest_1(policy) != ""
    assert digest_1(small_policy(responsible=SAID)) == ""  # 0.1.0 did not know it


@pytest.mark.parametrize("said", ["", "  ", "a\x00b", "x" * 201])
def test_what_nobody_can_read_is_refused(small_policy: Small, said: str) -> None:
    with pytest.raises(PolicyError, match=r"responsible\.owner"):
        small_policy(responsible={"owner": said})


def test_unknown_keys_are_refused(small_policy: Small) -> None:
    with pytest.raises(PolicyError, match="officer"):
        small_policy(responsible={"officer": "A"})
