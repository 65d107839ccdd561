"""Records that are no people: counted, never quoted."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.profile.odd_records import OddRecords, find_odd_records
from anon_pipeline.draft.profile.output import as_json, lines
from anon_pipeline.draft.profile.profile_table import profile_table

N = 60


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = {
        "id": [f"{number:04}" for number in range(N)],
        "town": rng.choice(["Bern", "Basel", "Thun"], N),
        "sex": rng.choice(["f", "m"], N),
        "note": np.where(rng.random(N) < 0.2, "seen", None),
        "salary": rng.integers(50, 99, N).astype(str),
        "days": rng.integers(1, 9, N).astype(str),
    }
    return pd.DataFrame(frame)


def of(*more: dict[str, str]) -> tuple[int, ...]:
    frame = pd.concat([people(), pd.DataFrame(list(more), columns=people().columns)], ignore_index=True)
    return astuple(profile_table(frame).odd)


TOTAL = {"id": "Total", "salary": "4711", "days": "300"}


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ((), (0, 0, 0)),
        (({}, {"id": " "}, {"town": "-"}), (3, 0, 0)),
        (({"note": "printed on Monday"}, {"id": "page 1"}), (0, 2, 0)),
        ((TOTAL,), (0, 0, 1)),
        (({"town": "Summe:", "salary": "4711"}, TOTAL, {}), (1, 0, 2)),
        (({"id": "0099", "town": "Total", "salary": "4711"},), (0, 0, 0)),  # not the first text
        (({"id": "Total", "town": "Bern", "sex": "f", "salary": "7", "days": "1"},), (0, 0, 0)),
        (({"id": "0099", "town": "Bern"},), (0, 0, 0)),  # somebody of whom little is known
    ],
)
def test_records_that_are_none_are_counted(more: tuple[dict[str, str], ...], found: tuple[int, ...]) -> None:
    assert of(*more) == found


def test_a_table_of_few_columns_has_no_nearly_empty_records() -> None:
    frame = pd.DataFrame({"a": ["x"] * 50 + [None], "b": ["1"] * 40 + ["2"] * 11})
    assert not profile_table(frame).odd


def test_a_table_without_values_is_empty() -> None:
    assert profile_table(pd.DataFrame({"a": [None] * 3, "b": [""] * 3}, dtype="str")).odd == OddRecords(3)


def test_the_question_has_counts_and_no_cell() -> None:
    frame = pd.concat([people(), pd.DataFrame([TOTAL | {"id": "TOTAL 99"}, {}])], ignore_index=True)
    found = profile_table(frame)
    assert find_odd_records(found.looks) == found.odd
    assert found.odd_question.startswith(
        "are some records no people? Records without a value: 1, that begin with a word for a total: 1. "
    )
    assert found.odd_question in lines(found)
    assert "TOTAL 99" not in as_json(found) + found.odd_question
    assert not any("sum of others" in (one.question or "") for one in found.proposals)  # asked once


@pytest.mark.parametrize(
    "word",
    [
        *("total", "totals", "grand total", "subtotal", "sum", "overall", "all", "summe", "gesamt"),
        *("gesamtsumme", "gesamtergebnis", "ergebnis", "zwischensumme", "insgesamt", "somme"),
        *("total général", "total general", "totale", "somma", "suma", "soma", "totaal", "som"),
    ],
)
def test_every_word_for_a_total_is_found(word: str) -> None:
    assert of(TOTAL | {"id": f"{word.capitalize()} (20):"}) == (0, 0, 1)
