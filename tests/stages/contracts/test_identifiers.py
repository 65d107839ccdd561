"""No stage and no release holds an identifier that nobody declared, unless the policy allows it by reason."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.catalog.detectors import DETECTORS, NAMES
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.report.rows import policy_text
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.contracts.identifiers import RULE, NoIdentifiers, describe_identifiers
from anon_pipeline.stages.contracts.stages import broken_contract, deidentified_contract, release_contract
from benchmarks.identifiers import true_ones

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
ADVICE = (
    "Look at the source first: its columns may be shifted. If these identify people, give the column the "
    "role identifier; if they are intended, write allow: {%s: why} (docs/identifiers.md)."
)


def numbers(name: str, records: int = 240) -> pd.Series:
    return true_ones(name, records, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("column", "name"),
    [("note", "nhs"), ("income", "aadhaar"), ("illness", "ahv"), ("height", "nhs"), ("city", "dni")],
)
def test_a_column_of_numbers_is_refused_in_every_role(
    small_policy: Small, small_people: People, column: str, name: str
) -> None:
    people = small_people()
    people[column] = numbers(name)
    staged = pipeline.raw(small_policy(), people, entropy=system_entropy())
    clean = pipeline.deidentified(small_policy(), staged, key=None).frame
    words = next(d.words for d in DETECTORS if d.name == name)
    said = f"{column}: must hold no {words} ({name}), got 240 records. {ADVICE % name}"
    assert broken_contract(clean, deidentified_contract(small_policy())) == [said]
    shown = clean[small_policy().released]
    noisy = column == "height"  # judged before its noise: the verdict must not depend on what was drawn
    assert (said in broken_contract(shown, release_contract(small_policy()))) != noisy
    allowing = small_policy(columns={column: {"allow": {name: "invented"}}})
    assert broken_contract(clean, deidentified_contract(allowing)) == []


def test_a_release_is_refused_and_says_column_detector_and_count(
    small_policy: Small, small_people: People
) -> None:
    people = small_people()
    people["note"] = numbers("nhs")
    with pytest.raises(GateRefused) as refused:
        anonymize(small_policy(), people)
    said = str(refused.value)
    assert said.startswith(
        "deidentified: note: must hold no NHS numbers (United Kingdom) (nhs), got 240 records"
    )
    assert "No noise was drawn" in said
    assert not [value for value in people["note"] if str(value) in said]


def test_a_lone_address_in_many_records_is_refused(small_policy: Small, small_people: People) -> None:
    people = small_people(3_000)
    people.loc[1_234, "note"] = "write to ann(at)example.org"
    table = people[small_policy().released]
    found = broken_contract(table, release_contract(small_policy()))
    assert f"note: must hold no e-mail addresses (email), got 1 record. {ADVICE % 'email'}" in found
    assert "ann" not in str(found)


def test_what_is_allowed_is_published_and_stands_in_manifest_guarantee_and_report(
    small_policy: Small, small_people: People
) -> None:
    people = small_people()
    people["note"] = "call 212-555-0100"
    with pytest.raises(GateRefused, match="telephone"):
        anonymize(small_policy(), people)
    policy = small_policy(columns={"note": {"allow": {"telephone": "hotline numbers, public"}}})
    assert anonymize(policy, people).report.passed
    said = "note may hold what looks like an identifier (telephone). The policy's author allows it: "
    assert f"{said}hotline numbers, public" in guarantee(policy)
    assert "telephone: 'hotline numbers, public'" in policy_text(policy, internal=False)
    people.loc[0, "note"] = "ann@example.org"
    with pytest.raises(GateRefused, match="email"):
        anonymize(policy, people)


def test_a_rule_has_values_that_it_refuses() -> None:
    rule = NoIdentifiers(frozenset({"email"}))
    assert rule.bad
    assert not any("@" in text for text in rule.bad)
    for text in rule.bad:
        assert not rule(pd.Series([text]))
    assert NoIdentifiers(frozenset(NAMES)).bad == []


def test_other_lines_stay_as_they_are() -> None:
    frame = pd.DataFrame({"a: b": ["ann@example.org"], "c": ["x"]})
    rules = {"a: b": NoIdentifiers(), "c": NoIdentifiers()}
    lines = ["a: dtype", f"a: b: {RULE}", f"c: {RULE}", f"d: {RULE}"]
    assert describe_identifiers(lines, frame, rules) == [
        "a: b: must hold no e-mail addresses (email), got 1 record",
        "a: dtype",
        f"c: {RULE}. {ADVICE % 'DETECTOR'}",  # another judge has found what this one has not
        f"d: {RULE}",
    ]
    assert describe_identifiers(lines[:1], frame, rules) == lines[:1]
    assert json.dumps(lines)
