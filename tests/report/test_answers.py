"""The three questions: what is said of a release, and what is never said."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from anon_pipeline.policy import Policy
from anon_pipeline.report.columns import class_sizes
from anon_pipeline.report.findings import Findings, findings
from anon_pipeline.report.manifest_data import table_description

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Making = Callable[..., Any]


def found_of(made: Any) -> Findings:
    said = table_description(made.document, made.policy, made.frame)
    return findings(made.policy, said, made.frame, class_sizes(made.policy, made.frame), internal=False)


def test_what_is_open_is_said_to_be_open(small_policy: Small, small_people: People, making: Making) -> None:
    people = small_people()
    people["note"] = [f"account {i}" if i % 12 == 0 else "none" for i in range(len(people))]
    policy = small_policy(gate={"linking_risk": 1.0}, columns={"person": {"action": "drop"}})
    made = making(policy, people)
    found = found_of(made)
    singled, linked, inferred = found.answers
    assert [one.term for one in found.answers] == ["singling out", "linkability", "inference"]
    assert (singled.open, linked.open, inferred.open) == (True, True, True)
    assert "Yes, by note" in singled.short
    rare = int((made.frame["note"] != "none").sum())
    assert any(f"{rare} occur once" in line for line in singled.lines)
    assert linked.short == "Not limited"
    assert "height" in " ".join(linked.lines)
    assert inferred.short.startswith("Nothing limits what a class reveals about income, illness")
    assert inferred.lines[-1].endswith("what all people in it share: what the table is about.")
    assert any("no limit says how often he picks the right record" in line for line in found.sentences[2][1])


def test_a_value_that_all_have_is_named_with_what_presence_tells(
    small_policy: Small, small_people: People, making: Making
) -> None:
    no_secret = {"income": None, "illness": None}
    people = small_people().drop(columns=[*no_secret]).assign(note="tested positive")
    inferred = found_of(making(small_policy(columns=no_secret), people)).answers[2]
    assert inferred.short == "Not measured"
    assert inferred.lines[-1].endswith("the one value of note that all have.")
    assert any("near_homogeneity.note: advised: at most 0.05, measured 0" in line for line in inferred.lines)
    assert not any("tested" in line for line in inferred.lines)


def test_what_is_limited_is_said_to_be_limited(
    small_policy: Small, small_people: People, making: Making
) -> None:
    limits = {"linking_risk": 0.8, "t_closeness": {"illness": 0.9, "income": 0.9}}
    people = small_people()
    found = found_of(making(small_policy(gate=limits), people))
    singled, linked, inferred = found.answers
    assert (singled.open, inferred.open) == (False, False)
    knows = "Yes. An attacker who knows a person's class and exact height links"
    assert linked.short.startswith(f"{knows} at most 80 % of the records on average")
    known = [one for one in found.attacks if "known_columns" in str(one.limit)]
    worst = max(known, key=lambda one: (one.share, one.advised is not None))
    assert linked.open == (worst.share > 0.8)
    assert ("One who also knows " in linked.short) == linked.open
    assert f"An attacker who knows {worst.knows} {worst.success}." in found.sentences[2][1]
    assert inferred.short == "Limited"
    assert any("t_closeness.illness: at most 0.9, passed" in line for line in inferred.lines)
    assert any(re.search(r"k: at least 3, measured \d+", line) for line in singled.lines)
