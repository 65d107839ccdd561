"""A stray pair of quotes makes other people's records a cell: such a file is refused, real notes are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.files import csv_portions, read_csv
from anon_pipeline.sources.swallowed_records import refuse_swallowed_records

NAMES = ("name", "age", "sex", "diag")


def people(many: int = 400) -> list[list[str]]:
    random = np.random.default_rng(1)
    return [
        [
            f"Anna Keller {at}",
            str(random.integers(20, 60)),
            str(random.choice(["f", "m"])),
            str(random.choice(["flu", "gout", "asthma"])),
        ]
        for at in range(many)
    ]


def write(path: Path, rows: Sequence[Sequence[str]], sep: str = ",", end: str = "\n") -> Path:
    path.write_bytes(end.join(sep.join(row) for row in [NAMES, *rows]).encode())
    return path


@pytest.mark.parametrize("sep", [",", ";"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(("column", "apart"), [(3, 3), (3, 1), (1, 1), (0, 2)])
def test_records_between_two_stray_quotes_are_refused(
    tmp_path: Path, column: int, apart: int, sep: str, end: str
) -> None:
    rows = people()
    rows[100][column] = f'"{rows[100][column]}'
    rows[100 + apart][column] += '"'
    path, options = write(tmp_path / "people.csv", rows, sep, end), SourceOptions(sep=sep)
    with pytest.raises(InputError, match=r"people.csv: 1 record has other records within a cell") as raised:
        read_csv(path, options=options)
    assert "Anna" not in str(raised.value)
    assert raised.value.withheld_records()[0].endswith("within a cell: 101")
    with pytest.raises(InputError, match="1 record has other records"):
        list(csv_portions(path, options, Limits(), ()))


@pytest.mark.parametrize(
    "note",
    [
        '"called twice, no answer\nwrote a letter, by post, too"',  # as many commas as a record has
        '"flu, since May\nbetter, now, again"',
        '"two\nlines"',
    ],
)
def test_notes_of_several_lines_are_read(tmp_path: Path, note: str) -> None:
    rows = people()
    rows[7][3] = note
    found = read_csv(write(tmp_path / "people.csv", rows), options=SourceOptions())
    assert found["diag"][7] == note.strip('"')
    assert len(found) == 400


def test_one_column_has_no_records_in_a_cell() -> None:
    refuse_swallowed_records("f", pa.table({"note": ["a\nb", None, "a"]}), ",")


@given(st.integers(0, 3), st.integers(0, 30), st.integers(1, 4), st.integers(2, 3))
def test_wherever_the_quotes_are(column: int, first: int, apart: int, kinds: int) -> None:
    """All columns but the name repeat their values, so the cell is recognized wherever it is."""
    rows = [[f"n{at}", str(at % kinds), "fm"[at % 2], f"d{at % kinds}"] for at in range(40)]
    text = "\n".join(",".join(row) for row in rows[first : first + apart + 1])
    begin = sum(len(cell) + 1 for cell in rows[first][:column])
    after = sum(len(cell) + 1 for cell in rows[first + apart][column + 1 :])
    cell = text[begin : len(text) - after]
    mixed = [*rows[first][:column], cell, *rows[first + apart][column + 1 :]]
    kept = [*rows[:first], mixed, *rows[first + apart + 1 :]]
    table = pa.table({name: [row[at] for row in kept] for at, name in enumerate(NAMES)})
    with pytest.raises(InputError, match="1 record has other records"):
        refuse_swallowed_records("f", table, ",")
