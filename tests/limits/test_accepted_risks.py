"""What a policy accepts beyond what is usual: each is named, and the release has a warning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Policy
from anon_pipeline.limits.accepted_risks import ACCEPTED, accepted_risks
from anon_pipeline.limits.table import advice_on, limit_meaning
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.publish.whole_chain import anonymize
from tests.acknowledging import acknowledged

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]

DRAWN = {"role": "perturb", "mechanism": "randomized_response", "values": [0, 1]}
LIMITED = {"gate": {"linking_risk": 0.3}}


def known(columns: list[str], risk: float) -> dict[str, Any]:
    return {"gate": {"attacks": {"known_columns": [{"columns": columns, "risk": risk}]}}}


COUNTED = {"person": "person", "rows_per_person": 2, "deidentify": {"key_env": "KEY"}}


def usefulness(**bounds: Any) -> dict[str, Any]:
    return {"gate": {"utility": bounds}}


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"anonymize": {"k": 2}, "gate": {"k": 2}}, "gate.k", "a class may have 2 records"),
        ({"perturb": {"epsilon": 11}, **LIMITED}, "perturb.epsilon", "ε is 11"),
        (
            {"perturb": {"mechanism": "uniform", "without_guarantee": True}},
            "perturb.without_guarantee",
            r"the noise \(uniform\) promises no ε",
        ),
        (
            {"perturb": {"mechanism": "discrete_gaussian", "delta": 0.3}},
            "perturb.delta",
            r"with a probability of 0.3 the noise may exceed what ε promises \(usual: at most 0.001\)",
        ),
        (  # e^4.6/(e^4.6 + 1) = 0.99005; the other half of ε is for height
            {"columns": {"smokes": DRAWN}, "perturb": {"epsilon": 9.2}},
            "columns.smokes.mechanism",
            r"releases each value of smokes as it is with a probability of 99.004 %",
        ),
        (
            {"gate": {"linking_risk": 0.9}},
            "gate.linking_risk",
            "knows the exact values before noise may link 90 % of the records",
        ),
        (
            {"gate": {"linking_risk": 1.0, "attacks": {"attacker_success": 0.8}}},
            "gate.attacks.attacker_success",
            "80 % of the records",
        ),
        (known(["note"], 0.9), "gate.attacks.known_columns.note", "also knows note"),
        (
            known(["note", "illness", "income"], 1.0),
            "gate.attacks.known_columns.illness + income + note",
            "also knows illness",
        ),
        (
            {"gate": {"attacks": {"homogeneity": {"illness": 0.4}}}},
            "gate.attacks.homogeneity.illness",
            "40 % of the records may be in classes that give illness away",
        ),
        (
            {"gate": {"linking": "realized"}},
            "gate.linking",
            "acceptance of a release then reveals something about the original values",
        ),
        ({"gate": {"t_closeness": {"illness": 1}}}, "gate.t_closeness.illness", "demands nothing"),
        (
            {"gate": {"l_diversity": {"illness": {"kind": "distinct", "l": 1}}}},
            "gate.l_diversity.illness",
            "a class may have any values of illness",
        ),
        (usefulness(information_loss=0.9), "gate.utility.information_loss", "may lose 90 % of what"),
        (usefulness(relative_error={"height": 20}), "gate.utility.relative_error.height", "by 20 times its"),
        (usefulness(fully_generalized=1), "gate.utility.fully_generalized", "of 1 quasi-identifiers"),
        (usefulness(released=0.5), "gate.utility.released", "50 % of the records may be missing"),
        (
            {"columns": {"income": {"top": 90_000}}, **usefulness(clipped={"income": 0.6})},
            "gate.utility.clipped.income",
            r"60 % of the values of income may be replaced by its bounds \(usual: 25 %\)",
        ),
        (
            usefulness(error_of_spread={"height": 5}),
            "gate.utility.error_of_spread.height",
            r"noise may move height by 5 times what its values differ by \(usual: 2\)",
        ),
        (
            {**COUNTED, **usefulness(excess=0.9)},
            "gate.utility.excess",
            r"90 % of the records may be left out beyond rows_per_person \(usual: 25 %\)",
        ),
        (
            {"gate": {"t_closeness": {"illness": 0.95}}},
            "gate.t_closeness.illness",
            r"by t = 0.95: nearly every class does \(usual: at most 0.9\)",
        ),
        (
            {"gate": {"l_diversity": {"illness": {"l": 3, "kind": "recursive", "c": 1000}}}},
            "gate.l_diversity.illness",
            r"one value of illness may be 1000 times as frequent .* \(usual: at most 10\)",
        ),
        ({"acknowledged": acknowledged("note")}, "acknowledged.note", "Data office answers for it until"),
        (
            {"columns": {"note": {"role": "insensitive", "allow": {"telephone": "hotlines"}}}},
            "columns.note.allow.telephone",
            "for this reason: hotlines",
        ),
    ],
)
def test_what_goes_beyond_the_usual_is_named(
    small_policy: Small, changes: dict[str, Any], key: str, said: str
) -> None:
    usual, found = accepted_risks(small_policy()), accepted_risks(small_policy(**changes))
    assert set(found) - set(usual) == {key}
    assert pd.Series([found[key]]).str.contains(said).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"perturb": {"epsilon": 10}},
        {"gate": {"linking_risk": 0.9, "attacks": {"assignment_risk": 0.2}}},
        known(["illness"], 1.0),
        known(["note"], 0.1),
        {"gate": {"attacks": {"homogeneity": {"illness": 0.05}}}},
        usefulness(information_loss=0.8, relative_error={"height": 1}, fully_generalized=0, released=0.8),
        {"columns": {"income": {"top": 90_000}}, **usefulness(clipped={"income": 0.25})},
        {**COUNTED, **usefulness(excess=0.25, error_of_spread={"height": 2})},
        {"gate": {"t_closeness": {"illness": 0.9}}},
        {"gate": {"l_diversity": {"illness": {"l": 3, "kind": "recursive", "c": 10}}}},
    ],
)
def test_what_is_usual_is_not(small_policy: Small, changes: dict[str, Any]) -> None:
    assert not set(accepted_risks(small_policy(**changes))) - set(accepted_risks(small_policy()))


def test_the_release_is_published_with_a_warning_for_each(small_policy: Small, small_people: People) -> None:
    policy = small_policy(anonymize={"k": 2}, gate={"k": 2, "attacks": {"homogeneity": {"illness": 0.9}}})
    found = {v.limit: v for v in anonymize(policy, small_people()).report.verdicts}
    warned = {f"accepted.{key}" for key in accepted_risks(policy)}
    assert warned == {name for name in found if name.startswith("accepted.")}
    assert {"accepted.gate.k", "accepted.gate.attacks.homogeneity.illness"} <= warned
    assert {found[name].status for name in warned} == {Status.WARNED}
    assert found["accepted.gate.k"].to_json()["reason"] is None


def test_a_policy_without_such_has_no_verdict_on_it(small_policy: Small) -> None:
    assert not list(ACCEPTED.demands(small_policy(anonymize={"k": 5}, gate={"k": 5}, acknowledged=[])))


def test_without_noise_it_does_not_matter_which_noise_is_judged(small_policy: Small) -> None:
    bare = small_policy(
        columns={"height": {"role": "identifier", "unit": None, "resolution": None}},
        perturb=None,
        suppress=None,
        gate={"linking": "realized"},
    )
    assert "gate.linking" not in accepted_risks(bare)


@pytest.mark.parametrize(
    ("epsilon", "values", "warns"),
    [(9.1, 2, False), (9.2, 2, True), (9.2, 3, False)],  # e^4.6/(e^4.6 + 2) = 0.980
)
def test_randomized_response_warns_above_99_percent(
    small_policy: Small, epsilon: float, values: int, warns: bool
) -> None:
    drawn = DRAWN | {"values": [*range(values)]}
    policy = small_policy(columns={"smokes": drawn}, perturb={"epsilon": epsilon})
    assert ("columns.smokes.mechanism" in accepted_risks(policy)) is warns


def test_the_exponential_mechanism_is_not_judged_by_its_hierarchy(small_policy: Small) -> None:
    drawn = {
        "role": "perturb",
        "mechanism": "exponential",
        "hierarchy": {"tree": {"no": ["0"], "yes": ["1"]}},
    }
    policy = small_policy(columns={"smokes": drawn}, perturb={"epsilon": 10})
    assert "columns.smokes.mechanism" not in accepted_risks(policy)


def test_a_review_is_said_plainly(small_policy: Small) -> None:
    assert limit_meaning("accepted.reviewed").startswith("A second person has confirmed the policy")
    assert limit_meaning("accepted.gate.k") == "The policy's gate.k accepts no more risk than usual."
    assert "anon-pipeline review" in advice_on("accepted.reviewed", small_policy())
