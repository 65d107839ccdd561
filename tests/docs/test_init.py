"""What docs/init.md counts of the messy tables is what is counted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anon_pipeline.draft.profile.layout import find_layout, read_table
from anon_pipeline.draft.profile.profile_table import profile_file, profile_table
from tests.messy import TABLES, messy, wrong

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "init.md").read_text(encoding="utf-8")
ROWS = [
    (found[1], tuple(map(int, found.groups()[1:])))
    for found in re.finditer(
        r"^\| ([^|`]+(?:`[^`]+`)?[^|]*) \| (\d+) \| (\d+) \| (\d+) \| released \|$", PAGE, re.M
    )
]


def test_every_table_has_a_row() -> None:
    assert len(ROWS) == len(TABLES)


@pytest.mark.parametrize(
    ("place", "make"), [*enumerate(TABLES)], ids=lambda one: getattr(one, "__name__", "")
)
def test_what_was_guessed_wrong_is_counted(place: int, make, tmp_path: Path) -> None:
    table = messy(make)
    path = table.write(tmp_path)
    found, frame = profile_file(path)
    roles = {proposal.name.strip(): proposal.role for proposal in found.proposals}
    layout = find_layout(path)
    cells = read_table(path, layout)
    nameless = cells.set_axis([f"c{number}" for number in range(1, len(cells.columns) + 1)], axis=1)
    proposals = profile_table(nameless, layout=layout).proposals
    unnamed = {name: proposal.role for name, proposal in zip(cells.columns, proposals, strict=True)}
    counted = (len(frame.columns), len(wrong(table.roles, roles)), len(wrong(table.roles, unnamed)))
    assert ROWS[place][1] == counted, ROWS[place][0]
