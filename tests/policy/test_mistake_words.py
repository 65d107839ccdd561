"""Careless mistakes in a policy: each is answered with what must be there and what to write."""

from __future__ import annotations

from typing import Any

import pytest

from tests.policy.test_load import changed, mistakes

ZIP = ("columns", "zip")
SEX = ("columns", "sex")
CASES: list[tuple[tuple[str, ...], Any, str]] = [
    (("anonymise",), {"k": 5}, "anonymise: is not known here. Is it anonymize?"),
    (("suppression_limit",), 0.1, "suppression_limit: is not known here. It is a key of anonymize."),
    (("columns", "height", "units"), "cm", "columns.height.units: is not known here. Is it unit?"),
    ((*SEX, "clean"), "x", "columns.sex.clean: is not known here. It is a key of the policy itself, next to"),
    (
        (*SEX, "resolution"),
        1,
        "columns.sex.resolution: is not known here. It is a key of columns with role perturb",
    ),
    (
        ("release",),
        {"guarantee": "epsilon_dp"},
        "release: is not known here. What a release promises follows from its type, such as anon_",
    ),
    (
        ("histograms",),
        {},
        "histograms: is not known here. It is for policies with type: anon_pipeline.EpsilonDpRelease.",
    ),
    (
        ("synthetic",),
        {},
        "synthetic: is not known here. It is for policies with type: anon_pipeline.SyntheticRelease.",
    ),
    (
        ("histogram",),
        {},
        "histogram: is not known here. histograms is for policies with type: anon_pipeline.EpsilonDpRelease.",
    ),
    (("anonymize", "k:10"), None, "anonymize.k:10: is not known here. Write a space after the colon."),
    (("perturb", 5), None, "perturb.5: keys must be texts. Write decimals with a point"),
    (SEX, {"role": "generalise"}, "got 'generalise'. Is it generalize?"),
    (SEX, {"role": "Sensitive"}, "got 'Sensitive'. Is it sensitive?"),
    (SEX, "sensitive", "columns.sex: must be a mapping with a role, got 'sensitive'"),
    (
        ("columns",),
        ["sex", "age"],
        "columns: must be a mapping. Write each column as a key: {age: {role: general",
    ),
    (("anonymize",), {}, "anonymize.k: must be given. Records in the smallest class."),
    (("anonymize",), None, "anonymize: must be a mapping. Write keys and their values, at least k."),
    (("anonymize", "k"), "ten", "anonymize.k: must be a whole number, got 'ten'"),
    (("anonymize", "k"), 10.5, "anonymize.k: must be a whole number, got 10.5"),
    (("anonymize", "k"), 1, "anonymize.k: must be at least 2, got 1"),
    (("anonymize", "recoder"), "mondrain", "got 'mondrain'. Is it mondrian?"),
    (("perturb",), {}, "perturb.epsilon: must be given. ε of one record"),
    (("perturb",), 2, "perturb: must be a mapping, got 2. Write keys and their values: epsilon, mechanism"),
    (("perturb", "epsilon"), "two", "perturb.epsilon: must be a number, got 'two'"),
    (
        ("perturb", "epsilon"),
        "2,5",
        "perturb.epsilon: must be a number, got '2,5'. Write decimals with a point.",
    ),
    (("perturb", "epsilon"), float("inf"), "perturb.epsilon: must be a finite number, got inf"),
    (("perturb", "mechanism"), "laplace", "perturb.mechanism: must be one of discrete_laplace, staircase, "),
    (
        ZIP,
        {"role": "perturb", "values": ["a", "b"]},
        "columns.zip.mechanism: must be given, one of randomized_",
    ),
    (
        ZIP,
        {"role": "perturb", "unit": "m"},
        "columns.zip.resolution: must be given. Grid of the released values",
    ),
    (
        ZIP,
        {"role": "identifier", "action": "remove"},
        "columns.zip.action: must be one of drop, mask, hash, got",
    ),
    ((*SEX, "hierarchy"), {"interval": [2]}, "order, suppress. Is it intervals?"),
    (
        (*SEX, "hierarchy"),
        {"intervals": 5},
        "columns.sex.hierarchy.intervals: must be a list, got 5. Write [5].",
    ),
    ((*SEX, "hierarchy"), {"suppress": False}, "columns.sex.hierarchy.suppress: must be true, got False"),
    (
        (*SEX, "hierarchy"),
        {"dates": ["years"]},
        "columns.sex.hierarchy.dates.0: must be one of month, quarter, y",
    ),
    ((*SEX, "hierarchy"), {"table": None}, "columns.sex.hierarchy.table: must be a text"),
    ((*SEX, "allow"), ["email"], "columns.sex.allow: must be a mapping. Write {email: why}."),
    ((*SEX, "allow"), "email", "columns.sex.allow: must be a mapping, got 'email'. Write {email: why}."),
    ((*SEX, "allow"), ["mail"], "columns.sex.allow: must be a mapping. Write {DETECTOR: why}."),
    (("gate", "t_closeness"), 0.4, "gate.t_closeness: must be a mapping, got 0.4. Write {COLUMN: 0.4}."),
    (
        ("gate", "l_diversity"),
        {"salary-class": 3},
        "must be a mapping, got 3. Write keys and their values: kind, l",
    ),
    (("gate", "linking_risk"), "5%", "gate.linking_risk: must be a number, got '5%'. Write 0.05 for 5 %."),
    (("gate", "linking_risk"), 5, "gate.linking_risk: must be at most 1, got 5. Write 0.05 for 5 %."),
    (("gate", "linking_risk"), [0.05], "gate.linking_risk: must be a number"),
    (("suppress", "confidence"), 99, "suppress.confidence: must be below 1, got 99. Write 0.99 for 99 %."),
    (("source",), "people.csv", "got 'people.csv'. Write keys and their values: path, url"),
    (("schedule", "cron"), "every day", "schedule.cron: must have five fields, got 'every day'"),
    (("acknowledged",), {"columns": ["sex"]}, "acknowledged: must be a list. Begin each entry with a dash."),
    (
        ("acknowledged",),
        [{"columns": "sex", "when": "22.11.2026"}],
        "acknowledged.0.when: must be a date, such as 2026-11-22, got '22.11.2026'",
    ),
    (("budget",), {"per": "record"}, "budget.epsilon: must be given. Largest sum of ε"),
]


@pytest.mark.parametrize(("path", "written", "said"), CASES, ids=lambda value: str(value)[:40])
def test_a_careless_mistake_is_answered_with_what_to_write(path: Any, written: Any, said: str) -> None:
    assert any(said in line for line in mistakes(changed(*path, to=written)))


def test_a_list_is_not_said_to_be_empty_because_of_an_entry_that_is_wrong() -> None:
    [line] = mistakes(changed(*SEX, "hierarchy", to={"dates": ["days"]}))
    assert line.startswith("columns.sex.hierarchy.dates.0: ")
    [line] = mistakes(changed(*SEX, "hierarchy", to={"dates": []}))
    assert line == "columns.sex.hierarchy.dates: must have at least 1 of them"


def test_what_may_be_a_secret_is_not_repeated() -> None:
    lines = mistakes(changed("deidentify", to={"key_env": 5, "key": "CANARY"}))
    assert len(lines) > 1
    assert "CANARY" not in "".join(lines)
    assert all("got 5" not in line for line in lines)
