"""What is left is said of file, manifest and policy alone, by the words of each hierarchy's entry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.catalog.entries import HierarchyKind
from anon_pipeline.policy import Policy, parse_policy
from anon_pipeline.policy.hierarchies import HIERARCHIES, Suppress
from anon_pipeline.policy.templates import template
from anon_pipeline.report.words import describe_rest, level_in_words, noise_in_words, recoding_in_words

Small = Callable[..., Policy]
FACTS: dict[str, Any] = {"raw": {"records": 200}, "k_anonymized": {}}


@pytest.mark.parametrize(
    ("hierarchy", "level", "words"),
    [
        ({"intervals": [2, 4, 8, 16]}, 3, "in bands of 8, level 3 of 5"),
        (
            {"intervals": [10], "bottom": 20, "top": 90},
            1,
            "in bands of 10, below 20 in one, from 90 on in one",
        ),
        ({"intervals": [10]}, 0, "as it was"),
        ({"mask": [2, 3]}, 1, "last 2 characters hidden (…**), level 1 of 3"),
        ({"mask": [1, 3]}, 1, "last character hidden (…*), level 1 of 3"),
        ({"dates": ["year", "decade"]}, 2, "the decade, level 2 of 3"),
        ({"tree": {"a": ["x"], "b": ["y"]}}, 1, "coarser, by its taxonomy, level 1 of 2"),
        ({"tree": {"a": ["x"], "b": ["y"]}}, 2, "hidden (level 2 of 2: everything is hidden)"),
        ({"suppress": True}, 1, "hidden (level 1 of 1: everything is hidden)"),
        ({"table": "town.csv"}, 1, "coarser, by its table, level 1 of 2"),
        ({"table": "gone.csv"}, 1, "coarser, by its table, level 1"),
    ],
)
def test_each_hierarchy_has_words(
    small_policy: Small, tmp_path: Path, hierarchy: dict[str, Any], level: int, words: str
) -> None:
    (tmp_path / "town.csv").write_text("Cork;South;*\nGalway;West;*\n", encoding="utf-8")
    age = {"hierarchy": {"intervals": None, **hierarchy}}
    assert level_in_words(small_policy(columns={"age": age}), "age", level, hierarchies=tmp_path).startswith(
        words
    )


def test_a_plugins_hierarchy_has_words_by_default() -> None:
    kind = HierarchyKind("half", Suppress, "there:builds", "there:recognizes")
    assert kind.words(None, 1) == "made coarser"
    assert set(HIERARCHIES) >= {"table", "intervals", "mask", "dates", "tree"}


@pytest.mark.parametrize(
    ("recoder", "words"),
    [("mondrian", "as ranges of the values in its class"), ("mdav", "as one value for the whole class")],
)
def test_recoders_without_levels_speak_of_classes(small_policy: Small, recoder: str, words: str) -> None:
    policy = small_policy(anonymize={"recoder": recoder})
    recoded = {"levels": None}
    assert recoding_in_words(policy, "age", recoded, hierarchies=Path()).startswith(words)


def test_noise_has_its_scale_only_where_bounds_are_declared(small_policy: Small) -> None:
    assert dict(noise_in_words(small_policy())) == {
        "height": "with noise (discrete Laplace), ε = 2, scaled to the class"
    }
    declared = {"sensitivity": "declared", "input_bounds": [140, 200], "resolution": 1, "unit": "cm"}
    assert dict(noise_in_words(small_policy(columns={"height": declared}))) == {
        "height": "with noise (discrete Laplace), ε = 2, scale 30 cm"
    }
    gaussian = small_policy(perturb={"mechanism": "discrete_gaussian", "delta": 1e-6})
    assert dict(noise_in_words(gaussian)) == {
        "height": "with noise (discrete Gaussian), ε = 2, δ = 1e-06, scaled to the class"
    }
    smokes = {"role": "perturb", "mechanism": "randomized_response", "values": [0, 1]}
    said = dict(noise_in_words(small_policy(columns={"smokes": smokes})))
    assert said["smokes"].startswith("released as a value of a public list")
    assert said["smokes"].endswith(
        # e/(e + 1) = 0.73106
        "(randomized response), ε = 1: each value stays as it is with a probability of at least 73.1 %"
    )
    assert "ε = 1," in said["height"]


def test_a_column_that_is_hidden_in_some_records_says_in_how_many(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    release = anonymize(small_policy(), small_people())
    frame = release.frame
    frame.loc[frame.index[: len(frame) // 2], "city"] = "*"
    said = describe_rest(small_policy(), release.facts, frame, hierarchies=Path())
    share = 100 * (len(frame) // 2) / len(frame)
    assert any(
        line.startswith("city: ") and f"(hidden in {share:.3g} % of the records)" in line for line in said
    )


@pytest.mark.parametrize(
    ("kept", "begins", "ends"),
    [
        (1, "hidden in 99.", ", level 1 of 4: next to nothing is left"),
        (0, "hidden in all records (by its level: ", ", level 1 of 4)"),
        (60, "in bands of ", " % of the records)"),
    ],
)
def test_a_column_that_is_hidden_in_nearly_all_records_is_said_to_be_worth_nothing(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], kept: int, begins: str, ends: str
) -> None:
    policy = small_policy(columns={"age": {"hierarchy": {"intervals": [10, 20, 40]}}})
    made = anonymize(policy, small_people())
    cells = policy.model_copy(update={"anonymize": policy.anonymize.model_copy(update={"suppress": "cells"})})
    facts = {**made.facts, "k_anonymized": {"levels": {"age": 1, "city": 0}}}
    frame = made.frame
    frame["age"] = ["10-19"] * kept + ["*"] * (len(frame) - kept)
    (said,) = (
        line.removeprefix("age: ")
        for line in describe_rest(cells, facts, frame, hierarchies=Path())
        if line.startswith("age: ")
    )
    assert said.startswith(begins) and said.endswith(ends), said
    assert "may be hidden" not in said


def test_a_whole_release_is_described_without_its_originals(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    one = {"age": {"hierarchy": {"intervals": None, "suppress": True}}}
    policy = small_policy(columns=one, anonymize={"k": 100}, gate={"k": 100})
    made = anonymize(policy, small_people())
    lines = describe_rest(policy, made.facts, made.frame, hierarchies=Path())
    n = made.facts["raw"]["records"]
    assert lines[0] == f"{len(made.frame)} of {n} records ({100 * len(made.frame) / n:.3g} %)"
    assert "age: hidden (level 1 of 1: everything is hidden)" in lines
    assert "as it was: income, illness, note" in lines
    assert lines[-1].startswith("says nothing, one value in every record: age")
    coarser = small_policy(columns={**one, "income": {"round": 1000, "top": 30000}})
    said = describe_rest(coarser, made.facts, made.frame, hierarchies=Path())
    assert {"income: to the nearest 1000, not above 30000", "as it was: illness, note"} < {*said}
    hashed = small_policy(columns={**one, "person": {"action": "hash"}}, deidentify={"key_env": "KEY"})
    said = describe_rest(hashed, made.facts, made.frame.assign(person="a"), hierarchies=Path())
    assert any(line.startswith("person: as a pseudonym: equal values have equal ones") for line in said)
    facts = {**made.facts, "perturbed": {}}  # what the noise was scaled by is not looked at
    assert describe_rest(policy, facts, made.frame, hierarchies=Path()) == lines


def test_a_column_of_one_value_is_not_called_as_it_was(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    policy = small_policy()
    made = anonymize(policy, small_people())
    recoded = {**made.facts["k_anonymized"], "levels": dict.fromkeys(policy.generalized, 0)}
    facts = {**made.facts, "k_anonymized": recoded}
    same = made.frame.assign(city="*")
    lines = describe_rest(policy, facts, same, hierarchies=Path())
    assert "city: not generalized, but one value is left in all records" in lines
    assert "age: as it was" in lines


def test_the_demos_policy_is_said_in_full() -> None:
    policy = parse_policy(template("patients"))
    levels = {"birth_date": 2, "sex": 0, "zip": 1, "race": 1, "marital_status": 2}
    recoded = {"levels": levels}
    cells = policy.anonymize.model_copy(update={"suppress": "cells"})
    policy = policy.model_copy(update={"anonymize": cells})
    said = [recoding_in_words(policy, name, recoded, hierarchies=Path()) for name in levels]
    assert said == [
        "the decade, level 2 of 3; may be hidden in some records",
        "as it was; may be hidden in some records",
        "last 2 characters hidden (…**), level 1 of 4; may be hidden in some records",
        "hidden (level 1 of 1: everything is hidden)",
        "hidden (level 2 of 2: everything is hidden)",
    ]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"mechanism": "rank_swapping", "amount": 0.05}, "rank swapping, with a value whose rank"),
        ({"mechanism": "rounding", "amount": 5, "unit": "cm"}, "rounding, to multiples of 5 cm"),
        ({"mechanism": "class_swapping"}, "swapping within classes"),
        ({"mechanism": "individual_ranking", "amount": 4}, "individual ranking, means of 4"),
    ],
)
def test_columns_that_are_changed_as_a_whole_have_their_amount_said(
    small_policy: Callable[..., Policy], column: dict[str, Any], said: str
) -> None:
    policy = small_policy(
        columns={"height": column}, perturb={"without_guarantee": True}, suppress={"confidence": None}
    )
    assert dict(noise_in_words(policy))["height"].startswith(said)


def test_categories_that_are_changed_as_a_whole_promise_nothing(small_policy: Callable[..., Policy]) -> None:
    job = {"role": "perturb", "mechanism": "class_swapping", "values": ["nurse", "smith"]}
    policy = small_policy(columns={"job": job}, perturb={"without_guarantee": True})
    assert dict(noise_in_words(policy))["job"] == "swapping within classes; promises nothing"
    grade = {**job, "mechanism": "rank_swapping", "ordered": True, "amount": 0.05}
    policy = small_policy(columns={"job": grade}, perturb={"without_guarantee": True})
    assert dict(noise_in_words(policy))["job"] == (
        "rank swapping, with a value whose rank differs by at most 5 % of the records; promises nothing"
    )


def test_secrets_that_nothing_limits_are_named(small_policy: Small, small_people: Callable[..., Any]) -> None:
    made = anonymize(small_policy(), small_people())
    facts, frame = made.facts, made.frame
    said = "the policy limits nothing that a class reveals of it"
    for gate, free in (
        ({}, {"illness", "income"}),
        ({"t_closeness": {"illness": 0.9}}, {"income"}),
        ({"l_diversity": {"illness": {"kind": "distinct", "l": 1}}, "t_closeness": {"income": 0.9}}, set()),
    ):
        policy = small_policy(gate=gate)
        lines = describe_rest(policy, facts, frame, hierarchies=Path())
        assert {line.partition(":")[0] for line in lines if said in line} == free
