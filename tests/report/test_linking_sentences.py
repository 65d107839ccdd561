"""What the report says of columns with noise: numbers together, drawn categories each by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.report.attacks import Attack
from anon_pipeline.report.linking_sentences import noisy_lines
from tests.report.test_answers import found_of

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Making = Callable[..., Any]
DRAWN = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b", "c"]}


def drawn_policy(small_policy: Small, **gate: Any) -> Policy:
    return small_policy(columns={"note": DRAWN}, gate=gate)


def test_columns_with_noise_are_named_with_what_they_link(
    small_policy: Small, small_people: People, making: Making
) -> None:
    made = making(drawn_policy(small_policy, linking_risk=0.8), small_people())
    found = found_of(made)
    singled, linked, _ = found.answers
    assert singled.short.startswith("No, not by age, city alone: at least ")
    assert singled.short.endswith(
        ". An attacker who also knows the exact height, note, released with noise, picks the right "
        "record as often as records can be linked (see linkability)"
    )
    of_note = next(one for one in found.attacks if one.limit == "known_columns.note")
    [numbers, drawn] = [line for line in singled.lines if "anybody's of the class" in line]
    assert numbers.startswith("height has noise: ")
    most = int(0.8 * len(made.frame))
    assert (
        f"An attacker who also knows the exact height picks the right record for at most {most} of" in numbers
    )
    knows = f"An attacker who also knows the original value {of_note.success} on average"
    assert drawn.endswith(f"{knows} (known_columns.note).")
    assert "One who also knows " in linked.short or not linked.open
    assert not singled.open


def test_without_a_limit_on_linking_picking_out_is_open(
    small_policy: Small, small_people: People, making: Making
) -> None:
    found = found_of(making(drawn_policy(small_policy, linking_risk=1.0), small_people()))
    assert found.answers[0].open
    assert any("no limit says how often he picks the right record" in line for line in found.answers[0].lines)


def test_several_drawn_columns_have_a_line_for_all_of_them_together(
    small_policy: Small, small_people: People, making: Making
) -> None:
    trade = {"role": "perturb", "mechanism": "randomized_response", "values": ["x", "y"]}
    policy = small_policy(columns={"note": DRAWN, "trade": trade})
    people = small_people()
    found = found_of(making(policy, people.assign(trade=["x", "y"] * (len(people) // 2))))
    together = next(one for one in found.attacks if one.limit == "known_columns.note + trade")
    [line] = [line for line in found.answers[0].lines if "together" in line]
    assert line == (
        "An attacker who also knows the original values of note and trade together "
        f"{together.success} on average (known_columns.note + trade)."
    )


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_of_a_drawn_column_its_bound_is_said_or_that_there_is_none(small_policy: Small, share: float) -> None:
    policy = drawn_policy(small_policy)
    attack = Attack("note", share, 100, True, "a bound", "known_columns.note")
    line = list(noisy_lines(policy, gate_without_linking(), [attack]))[-1]
    assert ("no limit says" in line) == (share == 1.0)
    assert ("at most 30 of 100 records" in line) == (share == 0.3)


def gate_without_linking() -> Any:
    from anon_pipeline.gate import GateReport

    return GateReport((), "d", "p")
