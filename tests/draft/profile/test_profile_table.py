"""The profile of a whole table, and the messy ones: no identifier of theirs is proposed for a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.profile.layout import find_layout, read_table
from anon_pipeline.draft.profile.profile_table import profile_file, profile_table
from tests.messy import TABLES, messy, wide, wrong


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_no_identifier_of_a_messy_table_is_released_and_few_columns_are_guessed_wrong(
    make, tmp_path: Path
) -> None:
    table = messy(make)
    found, frame = profile_file(table.write(tmp_path))
    proposed = {proposal.name.strip(): proposal.role for proposal in found.proposals}
    leaked = [name for name, right in table.roles.items() if right == "I" and proposed[name] != "identifier"]
    assert leaked == []
    assert len(wrong(table.roles, proposed)) <= 1
    assert found.records == len(frame)


def test_the_decimal_mark_of_other_columns_decides() -> None:
    clear = [f"{i},{i % 10}" for i in range(100)]
    unclear = [f"{i % 9 + 1}.{i % 900 + 100}" for i in range(100)]
    found = profile_table(pd.DataFrame({"clear": clear, "unclear": unclear}))
    number = found.looks[1].seen.number
    assert number is not None
    assert (number.decimal, number.thousands) == (",", ".")


@pytest.mark.parametrize(
    ("name", "mark", "signs"),
    [
        ("salary", ".", (",", ".")),
        ("Gehalt", ",", (".", ",")),
        ("net pay", ".", (",", ".")),
        ("price per litre", ".", (".", "")),
        ("weight", ".", (".", "")),
    ],
)
def test_amounts_of_money_have_no_three_decimals(name: str, mark: str, signs: tuple[str, str]) -> None:
    values = [f"{i % 90 + 10}{mark}{i % 900 + 100}" for i in range(100)]
    number = profile_table(pd.DataFrame({name: values, "town": ["a", "b"] * 50})).looks[0].seen.number
    assert number is not None and number.ambiguous
    assert (number.decimal, number.thousands) == signs


def test_few_columns_that_tell_records_apart_are_named() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], 500), "age": rng.integers(0, 90, 500), "x": rng.integers(0, 50, 500)}
    )
    found = profile_table(frame)
    assert found.together is not None
    assert {1, 2} <= set(found.together.columns)
    assert [one.columns for one in found.separations] == [(0,), (1,), (2,)]


def test_a_profile_shows_none_of_the_data() -> None:
    found = profile_table(pd.DataFrame({"x": ["CANARY-a", "CANARY-b"] * 20}))
    assert "CANARY" not in repr(found)


def test_without_telling_names_hardly_any_identifier_of_a_messy_table_is_released(tmp_path: Path) -> None:
    leaked = []
    for make in TABLES:
        if make is wide:  # most of its names say nothing anyhow
            continue
        table = messy(make)
        path = table.write(tmp_path)
        layout = find_layout(path)
        frame = read_table(path, layout)
        nameless = frame.set_axis([f"c{place}x" for place in range(len(frame.columns))], axis=1)
        proposals = profile_table(nameless, layout=layout).proposals
        pairs = zip(frame.columns, proposals, strict=True)
        leaked += [name for name, p in pairs if table.roles[name.strip()] == "I" and not p.dropped]
    assert leaked == ["teacher"]  # nine names, and nothing that tells them from nine classes
