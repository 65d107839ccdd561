"""Hierarchies that are proposed fit the column: a policy's builder codes it, nested, with `*` on top."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.catalog.detectors.name_hints import find_hint
from anon_pipeline.draft.private_files import write_table
from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.proposed_hierarchies import ProposedHierarchy, as_series, propose_hierarchy
from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.policy.hierarchies import Dates, Intervals, Mask, Suppress, Table

RNG = np.random.default_rng(0)


def proposed(name: str, values: object, folder: Path) -> tuple[ProposedHierarchy, int]:
    """Propose a hierarchy, code the column by it, and return both with the number of levels."""
    look = look_at(pd.Series(values, name=name))
    found = propose_hierarchy(look, find_hint(name))
    assert found is not None
    spec = found.spec
    if isinstance(spec, Table):
        write_table(folder / "x.csv", found.rows)
        spec = Table(table="x.csv")
    _, hierarchy = code_column(as_series(look), spec, folder=folder)
    return found, hierarchy.height


@pytest.mark.parametrize(
    ("name", "values", "spec", "levels"),
    [
        ("age", RNG.integers(0, 100, 500), Intervals(intervals=(5, 10, 20), bottom=0, top=90), 5),
        ("zip", [f"{i:05d}" for i in RNG.integers(0, 99999, 500)], Mask(mask=(2, 3, 4)), 5),
        ("plz", RNG.integers(1000, 9999, 500), Mask(mask=(1, 2, 3)), 5),
        ("born", pd.Series(pd.to_datetime(["1950-01-01", "1999-01-01"])), Dates(dates=("year", "decade")), 4),
        (
            "visit",
            pd.Series(pd.to_datetime(["2024-01-01", "2024-05-01"])),
            Dates(dates=("month", "quarter", "year")),
            5,
        ),
        ("sex", ["f", "m"] * 50, Suppress(suppress=True), 2),
        ("children", [0, 1, 2] * 50, Suppress(suppress=True), 2),
    ],
)
def test_kinds(name: str, values: object, spec: object, levels: int, tmp_path: Path) -> None:
    found, height = proposed(name, values, tmp_path)
    assert (found.spec, height) == (spec, levels)


def test_intervals_have_public_steps_and_open_ends(tmp_path: Path) -> None:
    found, _ = proposed("points", np.append(RNG.normal(500, 100, 2000).round(), 1e6), tmp_path)
    assert isinstance(found.spec, Intervals)
    assert found.spec.intervals == (50.0, 100.0, 200.0)
    assert found.spec.top is not None
    assert found.spec.top < 1000
    assert found.spec.top % 50 == 0


def table(found: ProposedHierarchy) -> dict[str, str]:
    assert isinstance(found.spec, Table)
    return {row[0]: row[1] for row in found.rows}


def test_categories_by_a_common_word(tmp_path: Path) -> None:
    jobs = [
        f"{a} {b}" for a in ("Junior", "Senior", "Lead") for b in ("Engineer", "Analyst", "Designer", "Nurse")
    ]
    found, height = proposed("role", jobs * 5, tmp_path)
    assert set(table(found).values()) == {"junior", "senior", "lead"}
    assert height == 3


def test_codes_by_their_first_part(tmp_path: Path) -> None:
    found, _ = proposed(
        "code", ["E11.9", "E11.5", "J45.1", "J45.9", "I10.0", "I10.1", "F32.1", "F32.2"] * 5, tmp_path
    )
    assert table(found)["E11.9"] == table(found)["E11.5"] == "E11"


def test_rare_categories_are_others(tmp_path: Path) -> None:
    names = ["Bern"] * 300 + ["Thun"] * 200 + ["Biel"] * 90 + ["Spiez", "Murten", "Aarberg", "Lyss"]
    found, _ = proposed("town", names, tmp_path)
    assert table(found)["Bern"] == "Bern"
    assert {table(found)[name] for name in ("Spiez", "Murten", "Aarberg", "Lyss")} == {"other"}
    assert found.question is not None


def _named(found: ProposedHierarchy, level: int) -> set[str]:
    return {row[0] for row in found.rows if row[level] == row[0]}


@pytest.mark.parametrize(
    ("counts", "kept", "reason"),
    [
        (
            (129, 126, 119, 115, 110, 105, 102, 98, 96),
            [4],
            "the category, or the less frequent half as other",
        ),
        (
            (900, 500, 400, 300, 300, 300, 300, 40, 30),
            [7, 4],
            "those of less than 2% of the records as other",
        ),
        (
            (900, 500, 400, 300, 300, 300, 300, 300, 20),
            [7, 4],
            "those of less than 2% of the records as other",
        ),
        ((60, 50, 40, 30, 20, 10, 4, 4), [6, 4], "those of less than 5 records as other"),
        ((50,) * 100, [50], "the less frequent half as other"),
        ((50,) * 80 + (2,) * 60, [80, 70], "those of less than 10 records as other"),
        ((900, 20, *(1,) * 30), [2], "those of less than 2% of the records as other, or nothing"),
    ],
    ids=["none is rare", "rare ones", "one is rare", "k", "none of 2%", "none of 2%, some of k", "most"],
)
def test_only_rare_categories_are_others_at_first(
    counts: tuple[int, ...], kept: list[int], reason: str, tmp_path: Path
) -> None:
    names = [f"t{place:03}own" for place in range(len(counts))]
    found, height = proposed("town", np.repeat(names, counts), tmp_path)
    assert [len(_named(found, level)) for level in range(1, height - 1)] == kept
    assert reason in found.reason
    assert {name for row in found.rows for name in row[1:]} <= {*names, "other", "*"}


def test_a_table_of_several_levels_is_a_taxonomy(tmp_path: Path) -> None:
    names = [*"ABCDEFG", "rare", "rarer"]
    counts = (900, 500, 400, 300, 300, 300, 300, 40, 30)
    found, height = proposed("town", np.repeat(names, counts), tmp_path)
    look = look_at(pd.Series(np.repeat(names, counts), name="town"))
    tree = found.as_tree()
    assert tree.tree["other"]["other"] == ("rare", "rarer")
    assert code_column(as_series(look), tree, folder=tmp_path)[1].height == height == 4


def test_no_hierarchy_for_too_many_categories() -> None:
    look = look_at(pd.Series([f"x{i}y" for i in range(1500)], name="x"))
    assert propose_hierarchy(look, None) is None


def test_a_hierarchy_says_none_of_its_values() -> None:
    look = look_at(pd.Series(["CANARY-a", "CANARY-b", "c", "d", "e", "f", "g", "h"] * 3, name="x"))
    found = propose_hierarchy(look, None)
    assert found is not None
    assert "CANARY" not in repr(found)
