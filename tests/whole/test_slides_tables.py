"""The tables that the slides print for each kind of generalization and suppression, k = 2 [SL].

Each printed table is a valid outcome; the package's own must lose no more, by the same loss.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Recoding, recode
from tests.recode.asking import ask
from tests.recode.conftest import hierarchy_of_rows, leaf_codes, released

Row = tuple[str, ...]

PEOPLE = """
asian 64/04/12 F 94142
asian 64/09/13 F 94141
asian 64/04/15 F 94139
asian 63/03/13 M 94139
asian 63/03/18 M 94139
black 64/09/27 F 94138
black 64/09/27 F 94139
white 64/09/27 F 94139
white 64/09/27 F 94141
"""
AG_TS = """
asian 64/04 F 941**
* * * *
asian 64/04 F 941**
asian 63/03 M 941**
asian 63/03 M 941**
black 64/09 F 941**
black 64/09 F 941**
white 64/09 F 941**
white 64/09 F 941**
"""  # the second record is suppressed: the slides leave its row out
AG_CS = """
asian * F *
asian * F *
asian * F *
asian 63/03 M 9413*
asian 63/03 M 9413*
black 64/09 F 9413*
black 64/09 F 9413*
white 64/09 F *
white 64/09 F *
"""
AG_AS = """
asian 64 F 941**
asian 64 F 941**
asian 64 F 941**
asian 63 M 941**
asian 63 M 941**
black 64 F 941**
black 64 F 941**
white 64 F 941**
white 64 F 941**
"""
CG_CS = """
asian 64 F 941**
asian 64 F 941**
asian 64 F 941**
asian 63/03 M 94139
asian 63/03 M 94139
black 64/09/27 F 9413*
black 64/09/27 F 9413*
white 64/09/27 F 941**
white 64/09/27 F 941**
"""
ONLY_AS = """
asian * F *
asian * F *
asian * F *
asian * M *
asian * M *
black * F *
black * F *
white * F *
white * F *
"""
ONLY_CS = """
asian * F *
asian * F *
asian * F *
asian * M 94139
asian * M 94139
* 64/09/27 F *
* 64/09/27 F 94139
* 64/09/27 F 94139
* 64/09/27 F *
"""
GENERALIZED = {AG_TS: True, AG_CS: True, AG_AS: True, CG_CS: True, ONLY_AS: False, ONLY_CS: False}
"""The printed tables, and whether values are generalized."""
CASES: list[tuple[str, int, dict[str, Any]]] = [
    (AG_TS, 1, {"recoder": "optimal"}),
    (AG_TS, 1, {"recoder": "ola"}),
    (AG_CS, 0, {"recoder": "fixed", "levels": (0, 1, 0, 1), "cells": True}),
    (AG_CS, 0, {"recoder": "optimal", "cells": True}),
    (AG_AS, 0, {"recoder": "optimal"}),
    (CG_CS, 0, {"recoder": "local"}),
    (CG_CS, 0, {"recoder": "forest"}),
    (ONLY_AS, 0, {"recoder": "optimal"}),
    (ONLY_CS, 0, {"recoder": "optimal", "cells": True}),
    (ONLY_CS, 0, {"recoder": "local"}),
    (ONLY_CS, 0, {"recoder": "forest"}),
]
"""The printed table, how many records may go, and what is asked for."""


def rows_of(text: str) -> list[Row]:
    return [tuple(line.split()) for line in text.strip().splitlines()]


def hierarchies_of(people: list[Row], generalized: bool) -> tuple[Hierarchy, ...]:
    """Return the slides' hierarchies: days in months and years, ZIP codes by digits; or suppression alone."""
    found = []
    for place, name in enumerate(("race", "born", "sex", "zip")):
        rows = []
        for own in sorted({row[place] for row in people}):
            between = {"born": [own[:5], own[:2]], "zip": [f"{own[:4]}*", f"{own[:3]}**"]}.get(name, [])
            rows.append([own, *(between if generalized else []), "*"])
        found.append(hierarchy_of_rows(name, rows))
    return tuple(found)


def values_below(hierarchy: Hierarchy, text: str) -> set[str]:
    """Return the values below a released one."""
    level = next(level for level, names in enumerate(hierarchy.values) if text in names.tolist())
    code = hierarchy.values[level].tolist().index(text)
    return set(hierarchy.values[0][hierarchy.lookups[level] == code].tolist())


def loss_of(rows: list[Row], hierarchies: tuple[Hierarchy, ...]) -> Fraction:
    """Return the mean over all cells of (c − 1)/(D − 1), c of the column's D values covered [methods 9]."""
    lost = [
        Fraction(len(values_below(hierarchy, text)) - 1, hierarchy.leaves - 1)
        for row in rows
        for hierarchy, text in zip(hierarchies, row, strict=True)
    ]
    return sum(lost, Fraction(0)) / len(lost)


def assert_valid(rows: list[Row], people: list[Row], hierarchies: tuple[Hierarchy, ...]) -> None:
    """Check k = 2, but for suppressed records, and that each cell covers the person's value."""
    counts = Counter(rows)
    assert all(many >= 2 or set(row) == {"*"} for row, many in counts.items())
    for row, person in zip(rows, people, strict=True):
        cells = zip(hierarchies, row, person, strict=True)
        assert all(value in values_below(hierarchy, text) for hierarchy, text, value in cells)


def recode_people(people: list[Row], hierarchies: tuple[Hierarchy, ...], limit: int, **how: Any) -> Recoding:
    """Return a recoding for k = 2 that suppresses so many records at most."""
    columns = zip(zip(*people, strict=True), hierarchies, strict=True)
    codes = np.stack([leaf_codes(column, own) for column, own in columns], axis=1)
    return recode(ask(codes, hierarchies, Constraints(2, limit), loss="granularity", **how))


@pytest.mark.parametrize(("table", "limit", "how"), CASES)
def test_no_more_is_lost_than_in_the_printed_table(table: str, limit: int, how: dict[str, Any]) -> None:
    people, printed = rows_of(PEOPLE), rows_of(table)
    hierarchies = hierarchies_of(people, GENERALIZED[table])
    recoding = recode_people(people, hierarchies, limit, **how)
    rows = [("*",) * 4 if row is None else tuple(map(str, row)) for row in released(recoding)]
    for own in (printed, rows):
        assert_valid(own, people, hierarchies)
    assert recoding.suppressed <= limit
    assert recoding.loss == pytest.approx(float(loss_of(rows, hierarchies)))
    assert loss_of(rows, hierarchies) <= loss_of(printed, hierarchies)


@pytest.mark.parametrize(
    ("table", "born", "zip_code"),
    [  # what is lost in all 9 cells of the two columns; nothing is lost in the others
        (AG_TS, 1 + 2 * Fraction(1, 5) + 6 * Fraction(1, 5), 9),
        (AG_CS, 3 + 6 * Fraction(1, 5), 5 + 4 * Fraction(1, 3)),
        (AG_AS, 7 * Fraction(3, 5) + 2 * Fraction(1, 5), 9),
        (CG_CS, 3 * Fraction(3, 5) + 2 * Fraction(1, 5), 5 + 2 * Fraction(1, 3)),
        (ONLY_AS, 9, 9),
    ],
)
def test_the_losses_of_the_printed_tables_by_hand(table: str, born: Fraction, zip_code: Fraction) -> None:
    hierarchies, more = hierarchies_of(rows_of(PEOPLE), GENERALIZED[table]), 2 if table == AG_TS else 0
    assert loss_of(rows_of(table), hierarchies) == (born + zip_code + more) / Fraction(36)
