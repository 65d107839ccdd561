"""What a limit demands is said as it holds for one policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anon_pipeline.gate import Status, Verdict
from anon_pipeline.limits.meanings import OVER_NOISE
from anon_pipeline.limits.table import (
    LIMITS,
    demanded_by,
    demands,
    limit_meaning,
    outcome_of,
    verdict_text,
)
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
PERSON: dict[str, Any] = {"person": "person", "rows_per_person": 3, "deidentify": {"key_env": "K"}}
LIMITED: dict[str, Any] = {
    "gate": {"linking_risk": 0.2, "suppression": 0.1, "confidence_k": 3, "attacks": {"marketer_risk": 0.5}},
    "suppress": {"confidence": 0.9},
}


def said(policy: Policy) -> dict[str, str]:
    return {demand.name: limit_meaning(demand.name, policy) for demand in demands(policy)}


def test_of_a_policy_only_what_holds_is_said(small_policy: Small) -> None:
    for changes in ({}, PERSON, {"gate": {**LIMITED["gate"], "linking": "realized"}}):
        for meaning in said(small_policy(**(LIMITED | changes))).values():
            assert OVER_NOISE not in meaning and "{" not in meaning
    assert OVER_NOISE in limit_meaning("linking_risk")


def test_in_general_records_are_counted_and_no_slot_is_left() -> None:
    for limit in LIMITS:
        meaning = limit_meaning(f"{limit.name}.zip")
        assert ("{" not in meaning and "people" not in limit_meaning(limit.name)) or not limit.words.of_people
        assert meaning.endswith(".") and (OVER_NOISE in meaning) == (limit.judged.over_noise is not None)
    assert limit_meaning("rare_values.zip").startswith(
        "No record has a value of zip that fewer than k records"
    )


def test_records_or_people_are_counted(small_policy: Small) -> None:
    records, people = said(small_policy(**LIMITED)), said(small_policy(**LIMITED, **PERSON))
    counting = ("k", "linking_risk", "marketer_risk", "suppression", "confidence_k", "utility_released")
    assert not any("people" in records[name] for name in counting)
    assert all("people" in people[name] for name in counting)
    assert people["k"] == "Every class of equal quasi-identifiers has at least this many people."
    assert people["suppression"].endswith("Records beyond rows_per_person are not counted.")
    assert "fewer than 3 records share" in records["rare_values.note"]
    assert "fewer than 3 people share" in people["rare_values.note"]


def test_the_noise_that_is_judged_is_named(small_policy: Small) -> None:
    average = "Judged on average over all noise that could have been drawn."
    assert said(small_policy(**LIMITED))["linking_risk"].endswith(average)
    realized = said(small_policy(gate={"linking_risk": 0.2, "linking": "realized"}))
    assert realized["linking_risk"].endswith("Judged on the noise that was drawn.")


def test_a_bound_of_everything_is_no_limit() -> None:
    whole = [("linking_risk", "no limit"), ("utility_relative_error.income", "at most 1"), ("k", "at most 1")]
    for name, words in whole:
        assert demanded_by(Verdict(name, Status.PASSED, 0.5, 1.0, "at most")) == words
    assert demanded_by(Verdict("linking_risk", Status.PASSED, 0.5, 0.2, "at most")) == "at most 0.2"
    assert demanded_by(Verdict("contract", Status.PASSED)) == "holds"
    assert all(limit.words.meaning for limit in LIMITS)


def test_what_passes_without_a_limit_was_measured_only() -> None:
    """One wording for people, also where `verify` writes ``gate.``; a status that says more stays."""
    for name in ("linking_risk", "gate.linking_risk"):
        free = Verdict(name, Status.PASSED, None, 1.0, "at most")
        assert (outcome_of(free), free.to_json()["status"]) == ("measured only", "passed")
        assert verdict_text(free) == f"{name} (no limit) measured only"
    unmeasured = Verdict("linking_risk", Status.UNMEASURED, None, 1.0, "at most", "why")
    assert verdict_text(unmeasured) == "linking_risk (no limit) unmeasured: why"
    limited = Verdict("linking_risk", Status.PASSED, None, 0.2, "at most")
    assert (outcome_of(limited), verdict_text(limited)) == ("passed", "linking_risk (at most 0.2) passed")
    assert verdict_text(Verdict("k", Status.PASSED, None, 1.0, "at most")) == "k (at most 1) passed"


def test_it_is_said_where_quasi_identifiers_are_too_few_to_show_people(small_policy: Small) -> None:
    """Two quasi-identifiers: equal ones were not looked at, and "holds" alone said that they were."""
    verdict = Verdict("repeated_people", Status.PASSED)
    enough = small_policy()
    assert demanded_by(verdict, enough) == "holds" == demanded_by(verdict)
    few = enough.model_copy(
        update={"columns": {name: enough.columns[name] for name in ("person", "age", "city")}}
    )
    assert demanded_by(verdict, few) == "holds (identifiers only)"
    assert "fewer than 3 of them cannot show" in limit_meaning("repeated_people", few)
    assert "Only identifiers" not in limit_meaning("repeated_people", enough)
