"""Variants as rows, CSV and JSON: each of them, with why one has no release."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from anon_pipeline.tuning.comparison_rows import (
    COLUMNS,
    as_csv,
    as_json,
    by_loss,
    heading,
    least_loss,
    rows,
    short_gates,
)
from tests.tuning.variants import MADE, outcome


def test_rows_have_every_column_and_what_is_missing_is_a_dash() -> None:
    base, fixed, refused, weaker, larger = rows(MADE)
    assert all(tuple(row) == COLUMNS for row in rows(MADE))
    assert weaker["gate"] == "passes; weaker protection"
    assert (base["k"], base["epsilon"], base["classes"], base["noise"]) == ("5", "2", "1,234", "–")
    assert (base["queries"], base["classifier"], base["gate"]) == ("0.123", "-0.02", "passes")
    assert fixed["gate"] == "no release: anonymize.levels: must name every generalize column"
    assert {fixed[name] for name in COLUMNS if name not in ("variant", "gate")} == {"–"}
    assert refused["gate"] == "refuses: k, linking_risk"
    assert (larger["gate"], larger["epsilon"]) == ("passes, warns: rare_values.x", "–")


def test_limits_that_warn_are_numbered_and_named_once() -> None:
    both = replace(MADE[4], outcome=outcome(warned=("utility_lost_values", "rare_values.x")))
    said, limits = short_gates([*MADE, both])
    assert limits == ["1: rare_values.x", "2: utility_lost_values"]
    assert said[-2:] == ["passes, warns of 1", "passes, warns of 1, 2"]
    assert said[0] == "passes" and said[1].startswith("no release: ")
    assert said[2:4] == ["refuses: k, linking_risk", "passes; weaker protection"]
    assert short_gates(MADE[:1]) == (["passes"], [])


def test_csv_has_the_rows() -> None:
    found = list(csv.DictReader(io.StringIO(as_csv(MADE))))
    assert found == rows(MADE)


def test_json_has_exact_numbers() -> None:
    found = json.loads(json.dumps(as_json(MADE)))
    assert [one["variant"] for one in found] == [one.name for one in MADE]
    assert found[0]["outcome"]["queries"] == 0.123456 and found[0]["problem"] is None
    assert found[1]["outcome"] is None and found[1]["problem"].startswith("anonymize.levels")


def test_the_least_loss_is_that_of_what_protects_no_less() -> None:
    assert least_loss(MADE) is MADE[0]  # one is refused, one weakens protection, one loses more
    better = replace(MADE[4], outcome=outcome(loss=0.29))
    riskier = replace(MADE[4], outcome=outcome(loss=0.28, linking=0.05))
    assert least_loss([*MADE, riskier, better]) is better
    assert least_loss([MADE[2], MADE[3]]) is None
    assert [one.name for one in by_loss(MADE)] == ["epsilon = 9", "k = <b>", "as in the policy", "k = 9"]


def test_headings_say_what_is_counted_where_people_are() -> None:
    def policy(**own: Any) -> Any:
        return SimpleNamespace(**{"person": "who", "perturbed": {}, "whole_columns": {}} | own)

    def headings(one: Any) -> list[str]:
        return [heading(name, one) for name in ("released", "linking", "loss")]

    assert headings(policy(person=None)) == ["released", "linking", "loss"]
    assert headings(policy()) == ["released (records)", "linking (records)", "loss"]
    assert headings(policy(perturbed={"height": 1})) == ["released (records)", "linking (people)", "loss"]
