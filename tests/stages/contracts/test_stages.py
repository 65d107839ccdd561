"""Contracts say what is broken, by column and rule, and never by value."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.contracts.stages import (
    broken_contract,
    deidentified_contract,
    k_anonymized_contract,
    raw_contract,
    release_contract,
)
from anon_pipeline.stages.private import Staged

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


@pytest.fixture
def raw(small_policy: Small, small_people: People) -> Staged:
    return pipeline.raw(small_policy(), small_people(), entropy=system_entropy())


def test_the_stages_keep_their_contracts(small_policy: Small, raw: Staged) -> None:
    policy = small_policy()
    assert broken_contract(raw.frame, raw_contract(policy)) == []
    clean = pipeline.deidentified(policy, raw, key=None)
    assert broken_contract(clean.frame, deidentified_contract(policy)) == []
    recoded = pipeline.k_anonymized(policy, clean)
    hierarchies = code_quasi_identifiers(clean.frame, policy).hierarchies
    schema = k_anonymized_contract(policy, hierarchies, recoded.facts["k_anonymized"]["levels"])
    assert broken_contract(recoded.frame, schema) == []


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed", "mdav", "vmdav", "merge", "kanon_first"])
def test_local_recodings_keep_theirs(small_policy: Small, raw: Staged, recoder: str) -> None:
    policy = small_policy(anonymize={"recoder": recoder})
    clean = pipeline.deidentified(policy, raw, key=None)
    recoded = pipeline.k_anonymized(policy, clean)
    hierarchies = code_quasi_identifiers(clean.frame, policy).hierarchies
    assert broken_contract(recoded.frame, k_anonymized_contract(policy, hierarchies, None)) == []


def test_a_mean_lies_between_the_columns_own(small_policy: Small, raw: Staged) -> None:
    policy = small_policy(anonymize={"recoder": "mdav"})
    clean = pipeline.deidentified(policy, raw, key=None)
    recoded = pipeline.k_anonymized(policy, clean)
    schema = k_anonymized_contract(policy, code_quasi_identifiers(clean.frame, policy).hierarchies, None)
    for text, fits in (("44.4", True), ("90.5", False), ("[20, 30]", False), ("1970-02-14", False)):
        table = recoded.frame.copy()
        table.loc[5, "age"] = text
        assert (broken_contract(table, schema) == []) == fits
    ranges = k_anonymized_contract(
        small_policy(), code_quasi_identifiers(clean.frame, policy).hierarchies, None
    )
    assert broken_contract(recoded.frame.assign(age="44.4"), ranges)


def test_cells_may_be_at_the_top_where_the_policy_says_so(small_policy: Small, raw: Staged) -> None:
    for suppress, problems in (
        ("cells", []),
        ("records", ["city: must be values of the hierarchy at their level"]),
    ):
        policy = small_policy(anonymize={"suppress": suppress})
        clean = pipeline.deidentified(policy, raw, key=None)
        recoded = pipeline.k_anonymized(policy, clean)
        hierarchies = code_quasi_identifiers(clean.frame, policy).hierarchies
        schema = k_anonymized_contract(policy, hierarchies, {"age": 1, "city": 0})
        table = recoded.frame.assign(age="[20, 30)", city="Cork")
        table.loc[5, "city"] = "*"
        assert broken_contract(table, schema) == problems


def test_a_value_of_another_level_breaks_the_contract(small_policy: Small, raw: Staged) -> None:
    policy = small_policy()
    clean = pipeline.deidentified(policy, raw, key=None)
    recoded = pipeline.k_anonymized(policy, clean)
    hierarchies = code_quasi_identifiers(clean.frame, policy).hierarchies
    schema = k_anonymized_contract(policy, hierarchies, recoded.facts["k_anonymized"]["levels"])
    for wrong in ("31", "[20, 31)"):
        table = recoded.frame.copy()
        table.loc[5, "age"] = wrong
        assert broken_contract(table, schema) == ["age: must be values of the hierarchy at their level"]


def test_an_identifier_left_is_found_by_column(small_policy: Small, raw: Staged) -> None:
    problems = broken_contract(raw.frame, deidentified_contract(small_policy()))
    assert len(problems) == 1
    assert problems == ["table: has a column that must not be there (an identifier, perhaps)"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ann@example.org", "e-mail addresses (email)"),
        ("987-65-4321", "social security numbers (United States) (ssn)"),
        ("(212) 555-0123", "telephone numbers (telephone)"),
        ("+353 1 555 0123", "telephone numbers (telephone)"),
    ],
)
def test_an_identifier_left_is_found_by_pattern_and_not_shown(
    small_policy: Small, raw: Staged, text: str, kind: str
) -> None:
    clean = pipeline.deidentified(small_policy(), raw, key=None).frame
    clean.loc[3, "note"] = f"see {text}"
    problems = broken_contract(clean, deidentified_contract(small_policy()))
    allow = kind.rpartition("(")[2].removesuffix(")")
    advice = (
        "Look at the source first: its columns may be shifted. If these identify people, give the column the "
        f"role identifier; if they are intended, write allow: {{{allow}: why}} (docs/identifiers.md)."
    )
    assert problems == [f"note: must hold no {kind}, got 1 record. {advice}"]


def test_masked_and_hashed_columns_must_look_so(small_policy: Small, raw: Staged) -> None:
    policy = small_policy(columns={"person": {"action": "mask"}})
    assert broken_contract(raw.frame, deidentified_contract(policy)) == ["person: must be masked"]
    policy = small_policy(columns={"person": {"action": "hash"}}, deidentify={"key_env": "KEY"})
    assert broken_contract(raw.frame, deidentified_contract(policy)) == ["person: must be a keyed hash"]
    hashed = pipeline.deidentified(policy, raw, key=b"0123456789abcdef").frame
    assert broken_contract(hashed, deidentified_contract(policy)) == []


def test_a_number_that_became_text_and_a_missing_value_are_named(small_policy: Small, raw: Staged) -> None:
    table = raw.frame.assign(height=raw.frame["height"].astype(str))
    table.loc[0, "illness"] = None
    problems = broken_contract(table, raw_contract(small_policy()))
    assert [problem.split(":")[0] for problem in problems] == ["height", "illness"]


def test_no_cell_reaches_a_problem(small_policy: Small, raw: Staged) -> None:
    canary = "CANARY-7f3a"
    table = raw.frame.assign(height=canary, income=canary, **{canary: 1})
    problems = broken_contract(table, raw_contract(small_policy()))
    assert problems
    assert not [p for p in problems if canary in p.split(":", 1)[1] and "must not be there" not in p]


def test_the_release_contract_knows_no_private_column(small_policy: Small, raw: Staged) -> None:
    clean = pipeline.deidentified(small_policy(), raw, key=None).frame
    assert broken_contract(clean, release_contract(small_policy())) != []
    assert broken_contract(clean.drop(columns="_record_id"), release_contract(small_policy())) == []
