"""What different values have in common: stems of codes, ends of numbers, and how rarely by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.evidence.coarse_values import (
    END,
    block_of,
    code_groups,
    end_marks,
    holds_yes_or_no,
    stem_of,
)
from anon_pipeline.evidence.homogeneous_values import coarse_homogeneity, read_column

HIV = ["B20.0", "B20.7", "B21.0", "B22.1", "B22.7", "B23.8", "B24.0", "B24.7"]
OTHERS = [f"{stem}.{code}" for stem in ("E11", "I25", "J45", "K29", "M10", "N18") for code in (0, 1, 8, 9)]


def groups(texts: list[str | None]) -> list[list[int]]:
    codes, different = pd.factorize(pd.array(texts, dtype="str"), use_na_sentinel=True)
    return [found.tolist() for found in code_groups(codes.astype(np.int64), [*different])]


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("B20.0", "b20"),
        (" b20.0 ", "b20"),
        ("B200", "b20"),
        ("B20", "b20"),
        ("A10BA02", "a10"),  # ATC
        ("250.01", "250"),  # ICD-9
        ("11-1011.00", "11"),  # SOC
        ("R10/2", "r10"),
        ("type-2", None),
        ("self-emp-not-inc", None),
        ("B", None),
        ("K00123456", None),  # too long for a code
        ("[20, 40)", None),
        ("Mill Lane 7", None),
        ("3f2a9c1b-11aa-4bcd", None),
    ],
)
def test_codes_have_a_stem_and_words_have_none(text: str, stem: str | None) -> None:
    assert stem_of(text) == stem


def test_a_block_is_a_letter_and_a_digit() -> None:
    assert [block_of(stem) for stem in ("b20", "b24", "250", "ab1")] == ["b2", "b2", "250", "ab1"]


def test_stems_and_blocks_group_codes_and_other_texts_stay_apart() -> None:
    found = groups(["B20.0", "B20.7", "B21.0", "none", "J45.1", None, "b20.0"])
    assert found == [[0, 0, 1, 2, 3, 4, 0], [0, 0, 0, 1, 2, 3, 0]]


@pytest.mark.parametrize(
    "texts",
    [
        ["flu", "gout", "asthma"],
        ["B20.0", "J45.1", "M10.9"],  # nothing in common
        ["B20.0", "B20.1", "flu", "gout", "asthma"],  # most are words
        ["B20.0", "B20.1", "flu", "flu", "flu"],  # of the records
        [f"2026-0{month}-1{day}" for month in range(1, 10) for day in range(10)],
        ["7th-8th", "HS-grad", "Bachelors", "Some-college"],
        [],
        [None, None],
    ],
)
def test_words_days_and_codes_without_a_common_stem_are_no_groups(texts: list[str | None]) -> None:
    assert groups(texts) == []


def test_the_ends_of_a_table_are_a_fifth_of_its_numbers_and_never_half_of_a_tie() -> None:
    ranks = np.array([0, 0, 0, 0, 1, 2, 3, 4, 5, 5])
    assert end_marks(ranks, missing=False).tolist() == [0] * 8 + [2, 2]
    assert end_marks(5 - ranks, missing=False).tolist() == [0] * 8 + [1, 1]
    assert end_marks(np.arange(10), missing=False).tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 2, 2]
    assert end_marks(np.array([0, 0, 0, 1, 1, 1]), missing=False).tolist() == [0] * 6
    assert end_marks(np.array([0, 0]), missing=True).tolist() == [0, 0]


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5).map(float)), min_size=1, max_size=60))
def test_a_plain_loop_marks_the_same(values: list[float | None]) -> None:
    column = read_column(pd.Series(values, dtype="float64"))
    assert column.numbers is not None
    there = [value for value in values if value is not None]
    expected = []
    for value in values:
        low = value is not None and sum(one <= value for one in there) <= END * len(there)
        high = value is not None and sum(one >= value for one in there) <= END * len(there)
        expected.append(1 if low else 2 if high else 0)
    assert end_marks(column.ranked.ranks, missing=None in values).tolist() == expected


def numbers(random: np.random.Generator, n: int, kind: int) -> pd.Series:
    """Draw heavy tails, ties, rounded and missing numbers."""
    drawn = (
        random.lognormal(10, 2, n),
        random.pareto(1, n),
        np.where(random.random(n) < 0.5, 0, random.exponential(1, n)),
        random.integers(0, 12, n).astype(float),
        random.normal(50_000, 15_000, n).round(-3),
        np.where(random.random(n) < 0.3, np.nan, random.standard_cauchy(n)),
    )
    return pd.Series(drawn[kind % len(drawn)])


def codes(random: np.random.Generator, n: int) -> pd.Series:
    """Draw codes, a few of them frequent."""
    every = [f"{letter}{i:02}.{j}" for letter in "ABCDEF" for i in range(100) for j in range(10)]
    own = random.choice(every, int(random.integers(8, 400)), replace=False)
    shares = 1 / np.arange(1, len(own) + 1) ** random.uniform(0.3, 1.5)
    return pd.Series(random.choice(own, n, p=shares / shares.sum()))


@pytest.mark.parametrize("draw", ["numbers", "codes"])
def test_of_400_tables_without_a_connection_hardly_any_say_anything(draw: str) -> None:
    """Classes of 3 to 30, of records and of people (of 8,000 tables of each kind one said something)."""
    random, found = np.random.default_rng(23), 0
    for table in range(400):
        k, n = int(random.integers(3, 31)), int(random.choice([150, 600, 2000]))
        labels = (
            np.arange(n) // k
            if table % 3
            else np.unique(random.integers(0, n // k, n), return_inverse=True)[1]
        )
        people = random.integers(0, n // 2, n) if table % 2 else None
        series = numbers(random, n, table) if draw == "numbers" else codes(random, n)
        found += coarse_homogeneity(read_column(series), labels, people) > 0
    assert found <= 1


@pytest.mark.parametrize("k", [5, 8, 30])
def test_classes_of_the_rich_and_of_one_illness_are_found(k: int) -> None:
    """A tenth of 1,800 are in classes of the top eighth, or of one block of codes: in 20 of 20 tables."""
    random = np.random.default_rng(24)
    for _ in range(20):
        ranks = np.arange(1_800)[::-1]
        rich = random.permutation(225)[:180]
        order = np.concatenate((rich, random.permutation(np.setdiff1d(np.arange(1_800), rich))))
        pay = pd.Series(1_000 + ranks[order] ** 2)
        labels = np.arange(1_800) // k
        assert coarse_homogeneity(read_column(pay), labels, None) == pytest.approx(0.1, abs=0.01)
        assert coarse_homogeneity(read_column(-pay), labels, None) == pytest.approx(0.1, abs=0.01)
        icd = pd.Series(np.append(random.choice(HIV, 180), random.choice(OTHERS, 1_620)))
        assert coarse_homogeneity(read_column(icd), labels, None) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["Ja", "nein", None], True),
        (["x", None, None], True),
        ([1.0, 0.0, np.nan], True),
        ([1, 0, 1], True),
        ([True, False, True], True),
        (["Sí", "no", "no"], True),
        (["yes", "no", "unknown"], False),
        (["f", "m", "m"], False),
        ([0, 1, 2], False),
        ([None, None, None], False),
    ],
)
def test_columns_of_yes_and_no_are_known_by_their_values(values: list[object], found: bool) -> None:
    assert holds_yes_or_no(pd.DataFrame({"q": values}), "q") is found
