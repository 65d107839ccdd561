"""The five sentences that a report begins with: what they say of a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from anon_pipeline.base.shares import percent
from anon_pipeline.policy import Policy
from anon_pipeline.report.columns import class_sizes
from anon_pipeline.report.findings import Findings, findings
from anon_pipeline.report.first_sentences import Counted, counted_subjects
from anon_pipeline.report.manifest_data import table_description

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Making = Callable[..., Any]


def found_of(made: Any) -> Findings:
    said = table_description(made.document, made.policy, made.frame)
    return findings(made.policy, said, made.frame, class_sizes(made.policy, made.frame), internal=False)


def test_five_sentences(small_policy: Small, small_people: People, making: Making) -> None:
    people = small_people()
    people.loc[:1, "age"] = 990
    owner = {"owner": "Health office", "purpose": "planning", "legal_basis": "§ 12", "contact": "desk 3"}
    limits = {"linking_risk": 0.9}
    made = making(small_policy(gate=limits, responsible=owner), people)
    what, many, attacker, out, who = (" ".join(lines) for _, lines in found_of(made).sentences)
    n = len(made.frame)
    assert f"A table of {n} records with 6 columns" in what
    assert "planning" in what
    assert f"about {n} records, of 240" in many
    assert "a person may have several" in many
    smallest = made.frame.groupby(["age", "city"]).size().min()
    assert f"chance of at most {percent(1 / smallest)}" in attacker
    assert (
        f"at most {int(0.9 * n + 1e-9)} of {n} records on average (linking_risk, 90 % of the records)"
        in attacker
    )
    assert out.startswith(f"{240 - n} of 240 records")
    assert "the column person" in out
    answers, review = who.split(" No ")
    assert answers == "Health office, on this legal basis: § 12; questions go to desk 3."
    assert review == "second person has reviewed the policy as it is."


def test_where_people_may_repeat_no_sentence_is_about_people(
    small_policy: Small, small_people: People, making: Making
) -> None:
    """An identifier repeats in records that agree in everything."""
    people = small_people()
    twice = pd.concat([people, people], ignore_index=True)
    made = making(small_policy(gate={"linking_risk": 0.9}, one_record_per_person=True), twice)
    doubted, sure = found_of(made), found_of(making(small_policy(gate={"linking_risk": 0.9}), people))
    attacker = " ".join(dict(doubted.sentences)["What an attacker can do"])
    assert "That is so for a person with one record. The gate warns that people may have" in attacker
    assert "if each person has one record, which the gate doubts" in doubted.answers[0].short
    assert "doubts" in doubted.answers[0].lines[0] and doubted.answers[0].open
    assert "one record" not in " ".join(dict(sure.sentences)["What an attacker can do"])
    assert "doubts" not in sure.answers[0].short


def test_people_are_counted_where_the_policy_says_whose_records_they_are(made: Any) -> None:
    said, n = table_description(made.document, made.policy, made.frame), len(made.frame)
    assert counted_subjects(made.policy, said) == Counted("records", n, 240)
    known = made.policy.model_copy(update={"record_key": "person"})
    assert counted_subjects(known, said) == Counted("people", n, 240)
    facts = {stage: dict(values) for stage, values in said.facts.items()}
    facts["deidentified"]["people"], facts["suppressed"]["released_people"] = 90, 88
    assert counted_subjects(made.policy, replace(said, facts=facts)) == Counted("people", 88, 90)
    facts["deidentified"]["excess_records"], facts["suppressed"]["people_with_gaps"] = 7, 6
    assert counted_subjects(made.policy, replace(said, facts=facts)) == Counted("people", 88, 90, 7, 6)


def test_left_out_are_the_people_whom_suppression_counts(made: Any) -> None:
    """Two are missing altogether; the limit counts six."""
    said = table_description(made.document, made.policy, made.frame)
    facts = {stage: dict(values) for stage, values in said.facts.items()}
    facts["deidentified"]["people"] = 90
    facts["suppressed"] |= {"released_people": 88, "people_with_gaps": 6}
    sizes = class_sizes(made.policy, made.frame)
    told = findings(made.policy, replace(said, facts=facts), made.frame, sizes, internal=False)
    (out,) = dict(told.sentences)["What is left out"]
    assert out.startswith("At least one record of 6 of 90 people (6.7 %; suppression), and of 2 of them all,")


def test_an_attacker_knows_a_rounded_value_to_the_nearest_step(
    small_policy: Small, small_people: People, making: Making
) -> None:
    people = small_people()
    policy = small_policy(gate={"linking_risk": 0.9}, columns={"income": {"round": 1000}})
    made = making(policy, people)
    for alone, cases in ((1, "1 case."), (2, "2 cases.")):
        frame = made.frame.assign(income=0, note="same", illness="same")
        frame.loc[frame.index[:alone], "income"] = [1000 * (i + 1) for i in range(alone)]
        said = table_description(made.document, policy, made.frame)
        told = findings(policy, said, frame, class_sizes(policy, frame), internal=False)
        attacker = " ".join(dict(told.sentences)["What an attacker can do"])
        assert (
            "An attacker who knows income, which is released to the nearest 1000, finds the only record with "
            f"that value in {cases}" in attacker
        )


def test_columns_of_which_next_to_nothing_is_left_are_named(made: Any) -> None:
    """Cells are hidden in all records but one."""
    said, frame = table_description(made.document, made.policy, made.frame), made.frame.copy()
    frame["age"] = ["10-19"] + ["*"] * (len(frame) - 1)
    told = findings(made.policy, said, frame, class_sizes(made.policy, frame), internal=False)
    (out,) = dict(told.sentences)["What is left out"]
    share = percent(1 - 1 / len(frame))
    assert f"next to nothing is left of the column age (hidden in {share} of them)" in out
    assert any(
        f"hidden in {share} of the records, next to nothing is left" in one.as_text() for one in told.levels
    )
