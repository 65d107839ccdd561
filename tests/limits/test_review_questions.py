"""What a second person confirms, and the warning of a policy that nobody has confirmed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Policy
from anon_pipeline.limits import accepted_risks
from anon_pipeline.limits.review_questions import protections, review_questions, risks_of_author, treatments
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.publish.whole_chain import anonymize
from tests.reviewed_policies import BY_MISSING_REVIEW

Small = Callable[..., Policy]
TREE = {"Irish": ["Cork", "Dublin", "Galway"]}


@pytest.fixture
def _as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepted_risks, "by_missing_review", BY_MISSING_REVIEW)


def _by(policy: Policy) -> dict[str, Any]:
    return {"reviewed": {"who": "Data office", "when": "2026-11-26", "digest": policy.review_digest}}


@pytest.mark.usefixtures("_as_it_is")
def test_a_release_warns_until_the_policy_is_reviewed_as_it_is(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    people, plain = small_people(), small_policy()

    def verdict(policy: Policy) -> Any:
        found = anonymize(policy, people).report.verdicts
        return next((one for one in found if one.limit == "accepted.reviewed"), None)

    assert verdict(plain).status is Status.WARNED
    assert "no second person has confirmed the policy as it is" in verdict(plain).reason
    assert verdict(small_policy(**_by(plain))) is None
    changed = verdict(small_policy(gate={"linking_risk": 0.4}, **_by(plain)))
    assert changed.status is Status.WARNED


@pytest.mark.usefixtures("_as_it_is")
def test_the_reviewer_accepts_all_else_that_the_author_accepts(small_policy: Small) -> None:
    policy = small_policy(anonymize={"k": 2}, gate={"k": 2})
    assert "reviewed" in accepted_risks.accepted_risks(policy)
    said = risks_of_author(policy)
    assert "a class may have 2 records" in said["gate.k"]
    assert "reviewed" not in said


def test_what_values_mean_is_shown_and_asked(small_policy: Small) -> None:
    """What a tester's mistakes were about, of which nothing was shown before."""
    policy = small_policy(
        columns={
            "height": {"output_bounds": [150, 197]},
            "illness": {"distance": "ordered", "order": ["asthma", "flu", "hiv"]},
        },
        clean={"missing": ["NA"], "columns": {"note": {"missing": ["0"]}}},
        source={"options": {"missing": ["?"]}},
    )
    shown, asked = [*protections(policy)], [*review_questions(policy)]
    assert "height: released between 150 and 197" in shown
    assert "illness: in t-closeness, neighbors in this order are alike: 'asthma', 'flu', 'hiv'" in shown
    assert "texts that count as a missing value: '?', 'NA', '0'" in shown
    assert any("'?', 'NA', '0'): Is none of them an answer" in one for one in asked)
    assert any(one.startswith("Bounds (height): They are published") for one in asked)
    assert any(one.startswith("illness: Does the order above go from less to more") for one in asked)
    assert any("a household, a family or a team shares" in one for one in asked)
    assert any(one.startswith("Other releases about these people") for one in asked)
    assert any("No t_closeness is set" in one and "illness" in one for one in asked)
    assert "illness: no limit on how likely one value becomes in a class (t_closeness)" in shown


def test_nothing_that_a_terminal_obeys_is_shown(small_policy: Small) -> None:
    forged = "none\n  - k at least 100\x1b[8m\u202e"
    policy = small_policy(
        columns={"illness": {"distance": "ordered", "order": ["asthma", forged]}},
        source={"options": {"missing": [forged, *map(str, range(100))]}},
    )
    for said in (*protections(policy), *review_questions(policy)):
        assert said.isprintable()
        assert len(said) < 500
    assert any("and 71 more" in said for said in protections(policy))


def test_bounds_are_shown_exactly_and_as_what_they_are(small_policy: Small) -> None:
    declared = {"sensitivity": "declared", "input_bounds": [1234567, 7654321.25]}
    assert "height: set to the bounds 1234567 and 7654321.25 before noise is added" in [
        *protections(small_policy(columns={"height": declared}))
    ]


def test_each_column_is_treated_in_one_way(small_policy: Small) -> None:
    policy = small_policy(columns={"person": {"role": "identifier", "action": "mask"}})
    named = [name for _, names in treatments(policy) for name in names]
    assert sorted(named) == sorted(policy.columns)


def test_columns_that_are_rounded_are_not_released_as_they_are(small_policy: Small) -> None:
    policy = small_policy(columns={"income": {"role": "sensitive", "distance": "ordered", "round": 5}})
    found = dict(treatments(policy))
    assert found["sensitive, released less exactly"] == ["income"]
    assert "income" not in found["sensitive, released as they are"]


def test_questions_name_the_columns_they_are_about(small_policy: Small) -> None:
    asked = [*review_questions(small_policy())]
    assert sum("Insensitive (note)" in one for one in asked) == 2
    assert any("No budget limits the sum" in one for one in asked)
    assert any("Sensitive (" in one and "illness" in one for one in asked)
    assert any(one.startswith("Does everybody have at most") for one in asked)
    counted = small_policy(person="person", rows_per_person=2, deidentify={"key_env": "KEY"})
    assert not any(one.startswith("Does everybody have at most") for one in review_questions(counted))
    assert all(one.endswith("?") for one in asked)


def test_what_is_asked_depends_on_what_the_policy_does(small_policy: Small) -> None:
    changed = small_policy(
        budget={"epsilon": 9},
        columns={"height": {"missing": "suppress"}},
    )
    asked = [*review_questions(changed)]
    left = "Records that are left out (among them those without a value in height)"
    assert any(one.startswith(left) for one in asked)
    assert not any("No budget" in one for one in asked)


def test_labels_are_asked_about_where_somebody_has_written_them(small_policy: Small) -> None:
    assert not any(one.startswith("Labels of") for one in review_questions(small_policy()))
    policy = small_policy(columns={"city": {"hierarchy": {"suppress": None, "tree": TREE}}})
    assert any(one.startswith("Labels of city, also those in files") for one in review_questions(policy))


def test_a_careful_reader_can_answer_all_of_them(small_policy: Small) -> None:
    assert len([*review_questions(small_policy())]) <= 15


def test_protections_are_the_bounds_of_the_gate(small_policy: Small) -> None:
    policy = small_policy(gate={"linking_risk": 0.2}, columns={"income": {"top": 30_000}})
    said = [*protections(policy)]
    k, recoder = policy.anonymize.k, policy.anonymize.recoder
    assert said[0].startswith(f"classes of at least {k} records, by {recoder}")
    of_people = small_policy(person="person", rows_per_person=1, deidentify={"key_env": "K"})
    assert next(iter(protections(of_people))).startswith(f"classes of at least {k} people, by {recoder}")
    assert "linking_risk at most 0.2" in said
    assert any(one.startswith("income: ") and "30,000" in one.replace("30000", "30,000") for one in said)
    assert not any(one.startswith("accepted") for one in said)


def test_shares_are_asked_about(small_policy: Small) -> None:
    column = {"role": "perturb", "mechanism": "pram", "values": ["a", "b"], "shares": [7, 3]}
    asked = [
        one for one in review_questions(small_policy(columns={"job": column})) if one.startswith("Shares")
    ]
    assert asked == [
        "Shares (job): They are published. Do they come from public statistics, and not from this table?"
    ]
