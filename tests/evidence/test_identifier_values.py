"""Values of identifiers in released columns: found whosever they are, and not by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base import packed_tables
from anon_pipeline.base.packed_tables import numbered_cells, pack_large
from anon_pipeline.evidence.identifier_values import held_identifiers, words_of
from anon_pipeline.policy import Policy, policy_from

N = 400
FIRST = ["Anna", "Barbara", "Cara", "Doris", "Ella", "Frank", "Gerd", "Hans", "Ines", "Jan"]
LAST = ["Brown", "Clark", "Delaney", "Fisher", "Gray", "Hall", "Innes", "Jordan", "Klein", "Long"]


def policy_of(**columns: Any) -> Policy:
    drop = {"role": "identifier", "action": "drop"}
    whole = {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "name": drop,
        "note": {"role": "insensitive"},
    }
    given = {**whole, **columns}
    return policy_from({"name": "n", "source": {"path": "n.csv"}, "columns": given, "anonymize": {"k": 5}})


def table(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    names = [f"{a} {b}" for a, b in zip(rng.choice(FIRST, N), rng.choice(LAST, N), strict=True)]
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, N),
            "name": names,
            "note": rng.choice(["none", "called", "seen twice"], N),
        }
    )


def found(frame: pd.DataFrame, policy: Policy | None = None) -> dict[str, str]:
    policy = policy or policy_of()
    return held_identifiers(frame, frame.drop(columns=[*policy.identifiers]), policy)


@pytest.mark.parametrize(
    "written", ["{1}, {0}", "scan_{0}_{1}.pdf", "Called {0} {1}!", "{0}{1}@x.example", "{0}  {1}"]
)
def test_names_are_found_however_they_are_written(written: str) -> None:
    frame = table()
    for i in range(5):
        first, last = frame["name"][i * 7].split()
        frame.loc[i * 7, "note"] = written.format(first.lower(), last.upper())
    assert found(frame) == {"note": "name"}


def test_four_records_are_not_enough() -> None:
    frame = table()
    for i in range(4):
        frame.loc[i, "note"] = "called " + frame["name"][i]
    assert found(frame) == {}


def test_the_name_of_somebody_else_tells_as_well() -> None:
    frame = table()
    for i in range(6):
        frame.loc[i, "note"] = "came with " + frame["name"][N - 1 - i]
    assert found(frame) == {"note": "name"}


@pytest.mark.parametrize("seed", range(20))
def test_words_that_occur_by_chance_are_none(seed: int) -> None:
    """A street and a doctor are called as people are, and a number of a record is somebody's age."""
    rng, frame = np.random.default_rng(seed), table(seed)
    frame["id"] = rng.integers(1000, 9999, N).astype(str)
    frame["doctor"] = rng.choice(LAST, N)
    frame["income"] = rng.integers(1000, 9999, N)
    drop = {"role": "identifier", "action": "drop"}
    columns = {"id": drop, "doctor": {"role": "insensitive"}, "income": {"role": "sensitive"}}
    assert found(frame, policy_of(**columns)) == {}


def test_numbers_of_letters_and_digits_are_found_in_references() -> None:
    frame = table().assign(name=[f"AC{i:06d}" for i in np.random.default_rng(3).permutation(N) + 7000])
    frame["note"] = [f"ref/{name}" if i < 6 else "none" for i, name in enumerate(frame["name"])]
    assert found(frame) == {"note": "name"}


def test_values_that_many_have_say_nothing_of_a_person() -> None:
    frame = table().assign(name="Main Office")
    frame["note"] = "by Main Office"
    assert found(frame) == {}


def test_values_of_a_packed_table_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its column of names is not packed: each text is looked at by itself."""
    names = [f"Ann Quill{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(200)]
    without = pd.DataFrame({"age": [40] * 200, "name": names, "note": ["seen"] * 200}).astype({"name": "str"})
    having = without.assign(note=[f"of {name}" for name in names])
    monkeypatch.setattr(packed_tables, "PACKED_FROM", 1)
    assert numbered_cells(pack_large(without), "name") is None
    for form in (pack_large, lambda frame: frame):
        assert held_identifiers(form(having), form(having), policy_of()) == {"note": "name"}
        assert held_identifiers(form(without), form(without), policy_of()) == {}


def test_missing_values_and_no_identifiers_hold_nothing() -> None:
    frame = table()
    frame.loc[:, "note"] = None
    assert found(frame) == {}
    policy = policy_of(name={"role": "insensitive"})
    assert held_identifiers(frame, frame, policy) == {}


def test_words_are_compared_without_case_and_signs() -> None:
    assert words_of("O’Neil, Ann_Mary") == words_of("o’neil ann mary") == ("o", "neil", "ann", "mary")
