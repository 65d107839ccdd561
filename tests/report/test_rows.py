"""The public policy in a report says neither where things are nor lists of values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.policy import Policy
from anon_pipeline.report import internal_report, public_report
from anon_pipeline.report.rows import known_rows, policy_text, suppressed_rows, verdict_rows

Making = Callable[..., Any]
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_the_public_policy_says_neither_where_things_are_nor_lists_of_values(
    small_policy: Small, small_people: People, making: Making, tmp_path: Path
) -> None:
    (tmp_path / "PRIVATE.csv").write_text("Cork;*\nDublin;*\nGalway;*\nPRIVATE-town;*\n")
    order = ["none", "flu", "asthma", "gout", "PRIVATE-illness"]
    policy = small_policy(
        source={"path": "PRIVATE-folder/people.csv"},
        columns={
            "city": {"hierarchy": {"suppress": None, "table": "PRIVATE.csv"}},
            "illness": {"distance": "ordered", "order": order},
        },
        publish={"to": "PRIVATE-out"},
    )
    made = making(policy, small_people(), tmp_path)
    page = public_report(policy, made.document, made.frame).decode()
    assert "PRIVATE" not in page
    assert "epsilon: 2" in page
    chain = made.chain
    whole = internal_report(
        policy, made.document, chain.suppressed.frame, chain.k_anonymized.frame, hierarchies=tmp_path
    ).decode()
    assert "PRIVATE-folder/people.csv" in whole


def test_the_public_policy_has_the_limits_on_the_population_but_not_where_it_is(small_policy: Small) -> None:
    population = {"path": "PRIVATE/register.csv", "options": {"missing": ["PRIVATE-text"]}}
    limits = {"journalist_risk": 0.25, "marketer_risk": None}
    policy = small_policy(gate={"attacks": {"population": {**population, **limits}, "prosecutor_risk": 0.5}})
    page = policy_text(policy, internal=False)
    assert "PRIVATE" not in page
    assert "journalist_risk: 0.25" in page
    assert "prosecutor_risk: 0.5" in page
    assert "PRIVATE/register.csv" in policy_text(policy, internal=True)


def test_records_beyond_those_of_a_person_are_in_the_account(small_policy: Small) -> None:
    policy = small_policy(person="person", rows_per_person=3, deidentify={"key_env": "K"})
    facts: dict[str, Any] = {
        "deidentified": {"excess_records": 40},
        "k_anonymized": {},
        "suppressed": {"suppressed_in_all": 2},
    }
    assert list(suppressed_rows(facts, policy)) == [
        ("suppressed, in all", 2),
        ("beyond 3 per person (rows_per_person)", 40),
        ("not in the release", 42),
    ]
    facts["deidentified"]["excess_records"] = 0
    assert list(suppressed_rows(facts, policy)) == [("in all", 2)]


def test_who_knows_columns_links_what_the_gate_judges(
    small_policy: Small, small_people: People, making: Making, tmp_path: Path
) -> None:
    """Of a category that alone is drawn it is the exact mean, not a simulated one."""
    trades = [f"trade {i}" for i in range(12)]
    trade = {"role": "perturb", "mechanism": "randomized_response", "values": trades}
    policy = small_policy(columns={"height": None, "trade": trade}, suppress=None, perturb={"epsilon": 1})
    table = small_people(240).drop(columns="height")
    table["trade"] = np.random.default_rng(4).choice(trades, len(table))
    chain = making(policy, table, tmp_path).chain
    evidence = evidence_from(chain.suppressed.frame, policy, originals=chain.k_anonymized.frame)
    shown = {of: (mean, error) for of, mean, error in known_rows(evidence, policy)}
    report = evaluate(chain.suppressed.frame, policy, originals=chain.k_anonymized.frame)
    judged = {one.limit.partition(".")[2]: one.value for one in report.verdicts if one.band is not None}
    assert shown.keys() == judged.keys()
    assert all(mean <= (judged[of] or 0) <= mean + 4 * error + 1e-12 for of, (mean, error) in shown.items())
    assert shown["trade"] == (judged["trade"], 0)


def test_a_value_that_is_not_published_is_said_to_be_that(small_policy: Small) -> None:
    verdicts = (
        Verdict("linking_risk", Status.PASSED, 0.031, 0.1, "at most"),
        Verdict("contract", Status.PASSED),
        Verdict("k", Status.PASSED, 7.0, 3.0, "at least", recomputable=True),
    )
    gate = GateReport(verdicts, "", "")
    public = [row["measured"] for row in verdict_rows(gate, small_policy(), exact=False)]
    assert public == ["not published", "–", "7"]
    assert [row["measured"] for row in verdict_rows(gate, small_policy(), exact=True)] == ["0.031", "–", "7"]
