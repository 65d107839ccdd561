"""A review of a policy: which changes end it, and who can be the reviewer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import Policy, load_policy
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.field_changes import field_changes
from anon_pipeline.policy.protection import Effect
from anon_pipeline.policy.review import review_digest
from anon_pipeline.policy.templates import template

Small = Callable[..., Policy]
ROOT = Path(__file__).resolve().parents[2]


def _by(digest: str, who: str = "Data office") -> dict[str, Any]:
    return {"reviewed": {"who": who, "when": "2026-11-26", "digest": digest}}


def _reviewed(small_policy: Small, **changes: Any) -> Policy:
    """Change the small policy after a review of it as it is."""
    return small_policy(**changes, **_by(small_policy().review_digest))


@pytest.mark.parametrize(
    "changes",
    [
        {"anonymize": {"k": 4}},
        {"perturb": {"epsilon": 1}},
        {"suppress": {"confidence": 0.5}},
        {"gate": {"linking_risk": 0.2}},
        {"columns": {"note": {"role": "sensitive"}}},
        {"columns": {"age": {"hierarchy": {"intervals": [20]}}}},
        {"columns": {"note": {"allow": {"email": "they are invented ones"}}}},
        {"dataset": "others"},
        {"budget": {"epsilon": 9}},
    ],
)
def test_what_protection_depends_on_ends_it(small_policy: Small, changes: dict[str, Any]) -> None:
    assert _reviewed(small_policy).is_reviewed
    assert not _reviewed(small_policy, **changes).is_reviewed


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "renamed"},
        {"source": {"path": "elsewhere.csv"}},
        {"publish": {"format": "csv"}},
        {"anonymize": {"loss": "granularity"}},
        {"columns": {"height": {"unit": "inch"}}},
        {"responsible": {"owner": "Somebody else"}},
    ],
)
def test_what_is_neutral_does_not(small_policy: Small, changes: dict[str, Any]) -> None:
    assert _reviewed(small_policy, **changes).is_reviewed


def test_every_change_that_diff_does_not_call_neutral_ends_it(small_policy: Small) -> None:
    """Of all keys that have another value in a second policy, by the words of `diff`."""
    before = small_policy()
    for changes in (
        {"anonymize": {"suppression_limit": 0.2, "recoder": "mondrian"}},
        {"vault": {"retain": "none"}},
        {"schedule": {"cron": "0 3 * * 1"}},
        {"columns": {"income": {"top": 30_000}}},
    ):
        after = small_policy(**changes)
        effects = {change.effect for change in field_changes(before, after)}
        assert effects
        assert (review_digest(before) == review_digest(after)) == (effects == {Effect.NEUTRAL}), changes


def test_a_policy_that_is_copied_forgets_the_digest(small_policy: Small) -> None:
    policy = _reviewed(small_policy)
    assert policy.is_reviewed
    assert not policy.model_copy(update={"dataset": "others"}).is_reviewed


def test_the_review_is_in_the_digest_of_the_policy_but_not_in_its_own(small_policy: Small) -> None:
    plain, reviewed = small_policy(), _reviewed(small_policy)
    assert plain.digest != reviewed.digest
    assert plain.making == reviewed.making
    assert plain.review_digest == reviewed.review_digest


@pytest.mark.parametrize("who", ["n/a", "NAME", "TODO", "the author", "myself", "x"])
def test_a_placeholder_reviews_nothing(small_policy: Small, who: str) -> None:
    with pytest.raises(PolicyError, match=r"reviewed\.who: must name a person or an office"):
        small_policy(**_by("0" * 16, who))


@pytest.mark.parametrize("digest", ["", "0" * 15, "0" * 17, "G" * 16])
def test_the_digest_has_one_form(small_policy: Small, digest: str) -> None:
    with pytest.raises(PolicyError, match=r"reviewed\.digest"):
        small_policy(**_by(digest))


def test_the_policies_of_this_repository_are_reviewed_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(template("release"), encoding="utf-8")
    files = [*ROOT.glob("assets/releases/*/defs.yaml"), tmp_path / "policy.yaml"]
    assert len(files) == 3
    for file in files:
        assert load_policy(file).is_reviewed, file.name
