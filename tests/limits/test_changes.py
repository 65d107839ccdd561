"""What a change of policy does to protection: by the side to which a bound moved, and never silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.limits.changes import Comparison, compare_policies, limit_changes, weaker_than
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.protection import Effect
from tests.conftest import SMALL, merged
from tests.example_counts import examples_of
from tests.policy.everything import EVERYTHING

Small = Callable[..., Policy]
ATTACKS = {
    **{"attacker_success": 0.1, "assignment_risk": 0.1, "expected_linking_risk": 0.1},
    **{"prosecutor_risk": 0.3, "marketer_risk": 0.3, "sample_uniques": 0.1, "minimal_uniques": 0.1},
    **{"homogeneity": {"illness": 0.05}, "skewness": {"illness": 2.0}, "similarity": {"illness": 0.1}},
    "averaging": {"releases": 2, "risk": 0.1},
    "linkage": {"exact": 0.1, "threshold": 0.1, "probabilistic": 0.1},
    "known_columns": [{"columns": ["note"], "risk": 0.1}],
    "population": {"path": "all.csv", "journalist_risk": 0.1, "marketer_risk": 0.1},
}
UTILITY = {
    "information_loss": 0.5,
    "relative_error": {"height": 0.5},
    "fully_generalized": 1,
    "released": 0.5,
    "clipped": {"income": 0.5},
    "error_of_spread": {"height": 2.5},
}
GATE: dict[str, Any] = {
    **{"k": 3, "linking_risk": 0.1, "suppression": 0.1, "confidence_k": 3},
    "t_closeness": {"illness": 0.5},
    "l_diversity": {"illness": {"l": 2}, "income": {"kind": "recursive", "l": 2, "c": 2.0}},
    **{"cross_release_k": 2, "safe_harbor": True, "attacks": ATTACKS, "utility": UTILITY},
}
SENSES = {
    "at least": [
        *(("k",), ("confidence_k",), ("cross_release_k",), ("l_diversity", "illness", "l")),
        ("attacks", "similarity", "illness"),
    ],
    "at most": [
        *(("linking_risk",), ("suppression",), ("t_closeness", "illness"), ("l_diversity", "income", "c")),
        *(("attacks", name) for name in ATTACKS if name.endswith("risk") or name.endswith("uniques")),
        *(("attacks", "attacker_success"), ("attacks", "homogeneity", "illness")),
        *(("attacks", "skewness", "illness"), ("attacks", "averaging", "risk")),
        *(("attacks", "linkage", kind) for kind in ("exact", "threshold", "probabilistic")),
        *(("attacks", "population", kind) for kind in ("journalist_risk", "marketer_risk")),
    ],
}
"""By hand: where a number of the gate stands, and on which side of it a release must be."""
WHOLE = {"k", "confidence_k", "cross_release_k", "l"}
SHARES = st.floats(0.01, 1)
KEY = {"record_key": "person", "deidentify": {"key_env": "KEY"}}
BOUNDED = {"columns": {"income": {"top": 90_000}}}
FULL = merged(
    merged(SMALL, BOUNDED), {"gate": GATE, **KEY, "perturb": {"epsilon": 2}, "anonymize": {"recoder": "ola"}}
)


def full(**gate: Any) -> Policy:
    return policy_from(merged(FULL, {"gate": gate}))


def at(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return a nested mapping with one value."""
    for name in reversed(path):
        value = {name: value}
    return value


def test_every_limit_of_the_gate_is_tried_here() -> None:
    demanded = {demand.limit.name for demand in demands(full())}
    others = {"sticky", "repeated_people", "accepted", "rare_together", "named_people"}
    others |= {"utility_excess", "person_homogeneity", "dominance"}  # of several records, no record_key
    others |= {"union_homogeneity", "utility_kept"}  # of several texts, of drawn categories
    others |= {"unconfident_records"}  # only without suppress.confidence
    assert demanded | others == {limit.name for limit in LIMITS}


@pytest.mark.parametrize(
    "where", [(sense, path) for sense, paths in SENSES.items() for path in paths], ids=str
)
@settings(max_examples=examples_of(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_limit_is_weaker_if_and_only_if_its_bound_moved_against_its_sense(
    where: tuple[str, tuple[str, ...]], data: st.DataObject
) -> None:
    sense, path = where
    numbers = st.integers(2, 3) if path[-1] in WHOLE else st.floats(1, 9) if "skewness" in path else SHARES
    before, after = data.draw(numbers), data.draw(numbers)
    found = compare_policies(full(**at(path, before)), full(**at(path, after)))
    if before == after:
        assert found.changes == ()
        return
    weaker = after < before if sense == "at least" else after > before
    limits = [change for change in found.changes if change.of == "limit"]
    assert {str(change.effect) for change in limits} == {"weakens" if weaker else "strengthens"}
    assert found.effect is (Effect.WEAKENS if weaker else Effect.STRENGTHENS)
    assert [change for change in found.changes if change.of == "field"] == []


@pytest.mark.parametrize("path", [("attacks", "averaging", "releases")], ids=str)
def test_what_makes_an_attacker_stronger_makes_the_limit_stricter(path: tuple[str, ...]) -> None:
    assert compare_policies(full(), full(**at(path, 5))).effect is Effect.STRENGTHENS
    assert compare_policies(full(**at(path, 5)), full()).effect is Effect.WEAKENS


@pytest.mark.parametrize(
    "path",
    [
        *(("linking_risk",), ("confidence_k",), ("suppression",), ("cross_release_k",), ("t_closeness",)),
        *(
            ("l_diversity",),
            *(("attacks", name) for name in ATTACKS if name not in ("known_columns", "linkage")),
        ),
        ("attacks", "linkage", "exact"),
    ],
    ids=str,
)
def test_a_limit_that_goes_weakens_and_one_that_comes_strengthens(path: tuple[str, ...]) -> None:
    advised: dict[str, Any] = {"cross_release_k": 3}  # without it, the gate's k is advised: 2 may be weaker
    there = full(**advised) if path == ("cross_release_k",) else full()
    without = full(**at(path, None))
    assert compare_policies(there, without).effect is Effect.WEAKENS
    assert compare_policies(without, there).effect is Effect.STRENGTHENS


def test_a_bound_below_what_was_advised_cannot_be_compared() -> None:
    without = full(cross_release_k=None)
    assert compare_policies(without, full(cross_release_k=2)).effect is Effect.UNKNOWN


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("attacks", "linkage", "similarity"), 0.5),
        (("attacks", "population", "path"), "others.csv"),
        (("linking",), "realized"),
        (("l_diversity", "illness"), {"kind": "entropy", "l": 2}),
        (("l_diversity", "income"), {"l": 2}),
    ],
    ids=str,
)
def test_what_no_bound_says_cannot_be_compared(path: tuple[str, ...], value: Any) -> None:
    attributes = json.loads(json.dumps(FULL))
    place = attributes["gate"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    changed = policy_from(attributes)
    for before, after in ((full(), changed), (changed, full())):
        found = compare_policies(before, after)
        assert found.effect is Effect.UNKNOWN
        assert not found.effect.safe


def test_limits_on_usefulness_do_not_protect(small_policy: Small) -> None:
    strict, loose = (small_policy(gate={"utility": {"released": share}}) for share in (0.9, 0.1))
    for before, after in ((strict, loose), (loose, strict), (strict, small_policy())):
        found = compare_policies(before, after)
        assert found.changes
        assert found.effect is Effect.NEUTRAL


def test_advice_and_limits(small_policy: Small) -> None:
    def bounded(risk: float) -> Policy:
        known = [{"columns": ["income", "illness", "note"], "risk": risk}]
        return small_policy(gate={"attacks": {"known_columns": known}})

    usual = next(d.bound for d in demands(small_policy()) if " + " in d.name)
    assert usual is not None
    assert compare_policies(small_policy(), bounded(usual)).effect is Effect.STRENGTHENS
    assert compare_policies(bounded(usual), small_policy()).effect is Effect.WEAKENS
    assert compare_policies(small_policy(), bounded(1.0)).effect is Effect.UNKNOWN


def test_a_default_that_is_spelled_out_changes_nothing(small_policy: Small) -> None:
    found = compare_policies(small_policy(gate={"k": None}), small_policy(gate={"k": 3}))
    assert [str(change.effect) for change in found.changes] == ["neutral"]
    moved = compare_policies(small_policy(gate={"k": 3}), small_policy(gate={"k": 2}))
    assert {(change.of, str(change.effect)) for change in moved.changes} == {("limit", "weakens")}


def test_another_role_does_not_hide_a_limit_that_went(small_policy: Small) -> None:
    before = small_policy(gate={"t_closeness": {"illness": 0.5}, "linking_risk": 0.1})
    after = small_policy(columns={"note": {"role": "identifier"}})
    found = {change.where: str(change.effect) for change in limit_changes(before, after)}
    assert found["linking_risk"] == "weakens"
    assert found["t_closeness.illness"] == "cannot be compared"


def test_advice_that_went_is_said_to_be_advice(small_policy: Small) -> None:
    """It did read "demanded, else a warning → not demanded"."""
    after = small_policy(columns={"note": None})
    found = {change.where: change for change in limit_changes(small_policy(), after)}
    gone = [one for one in found.values() if one.before.startswith("advised") and one.after == "not judged"]
    assert gone and all(str(one.effect) == "neutral" and one.note == "it only warns" for one in gone)
    assert found["known_columns.note"].before.startswith("at most ")


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies that differ in whatever a change may touch."""
    changes: dict[str, Any] = {
        "anonymize": {
            "k": draw(st.integers(3, 5)),
            "loss": draw(st.sampled_from(["precision", "granularity"])),
        },
        "perturb": {"epsilon": draw(st.sampled_from([1, 2]))},
        "gate": {
            "k": draw(st.sampled_from([None, 3])),
            "linking_risk": draw(st.sampled_from([None, 0.1, 0.2])),
            "t_closeness": {"illness": draw(st.sampled_from([0.3, 0.4]))},
        },
        "columns": {"note": {"role": draw(st.sampled_from(["insensitive", "identifier"]))}},
        "source": {"path": draw(st.sampled_from(["a.csv", "b.csv"]))},
    }
    return policy_from(merged(SMALL, changes))


@given(policies(), policies())
@settings(max_examples=examples_of(150))
def test_nothing_is_told_of_equal_policies_alone(before: Policy, after: Policy) -> None:
    found = compare_policies(before, after)
    assert (found.changes == ()) == (before.digest == after.digest)
    back = compare_policies(after, before)
    assert {(c.of, c.where) for c in found.changes} == {(c.of, c.where) for c in back.changes}
    if Effect.STRENGTHENS in {change.effect for change in found.changes}:
        assert not back.effect.safe
    if before.source != after.source:
        assert not found.effect.safe


def test_everything_and_itself() -> None:
    assert compare_policies(policy_from(EVERYTHING), policy_from(EVERYTHING)) == Comparison(())


def test_weaker_than_a_bound() -> None:
    found = {demand.name: demand for demand in demands(full())}
    assert weaker_than(found["k"], 4) is True
    assert weaker_than(found["k"], 3) is False
    assert weaker_than(found["linking_risk"], 0.05) is True
    assert weaker_than(found["linking_risk"], 0.1) is False
    assert weaker_than(found["l_diversity.illness"], 3) is True
    assert weaker_than(found["l_diversity.illness"], 2) is False
    assert weaker_than(found["l_diversity.income"], 2) is None  # recursive: another sense
    assert weaker_than(found["contract"], 1) is None
