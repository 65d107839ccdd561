"""Numbers far beyond the others: the fences of known columns, and who is counted, in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.outlying_values import outer_fences, outlying_ends, outlying_values, range_ends
from tests.example_counts import examples_of

SPREAD = [*range(0, 101)]  # quartiles 25 and 75, fences −128 and 228


def evidence(values: list[float | None], people: list[int] | None = None) -> Evidence:
    frame = pd.DataFrame({"pay": pd.array(values, dtype="Float64")})
    rows = np.arange(len(frame))
    classes = value_classes(frame.assign(all="*"), ["all"])
    behind = Originals(frame, rows * 0, rows, np.empty((len(frame), 0)), np.array(people or rows))
    return Evidence(frame, classes, behind if people is not None else None, hierarchies=None)  # type: ignore[arg-type]


def counted(values: list[float | None], *, k: int, people: list[int] | None = None) -> int:
    return outlying_values(evidence(values, people), "pay", k=k)


@pytest.mark.parametrize(
    ("values", "fences"),
    [
        (np.arange(101.0), (-128.0, 228.0)),
        # equal quartiles: deciles 0 and 10, steps of 5
        (np.repeat([0.0, 5.0, 10.0], [20, 60, 20]), (-45.0, 55.0)),
        (np.repeat([0.0, 7.0], [99, 1]), (0.0, 0.0)),  # equal deciles
    ],
)
def test_fences_are_those_of_quartiles_deciles_or_the_value_of_nearly_all(
    values: np.ndarray, fences: tuple[float, float]
) -> None:
    assert outer_fences(values) == fences


def test_a_number_counts_until_k_reach_it() -> None:
    assert counted([*SPREAD, 240, 300, 300], k=4) == 3
    assert counted([*SPREAD, 240, 300, 300], k=3) == 2  # three reach 240
    assert counted([*SPREAD, 300, 300, 300], k=3) == 0  # as if top were 300
    assert counted([*SPREAD, 225], k=4) == counted([*SPREAD, 150, -60], k=4) == 0
    assert counted([*SPREAD, 300, -300, None], k=2) == 2  # one on each side


def test_what_is_no_number_counts_nothing() -> None:
    texts = Evidence(
        pd.DataFrame({"pay": ["a", "b"]}),
        value_classes(pd.DataFrame({"pay": ["a", "b"]}), ["pay"]),
        None,
        hierarchies=None,  # type: ignore[arg-type]
    )
    assert outlying_values(texts, "pay", k=5) == 0
    assert counted([None, None], k=5) == 0


def test_records_of_one_person_do_not_hide_each_other() -> None:
    many = [*SPREAD, 300, 300, 300]
    whose = [*range(len(SPREAD)), 500, 500, 500]
    assert counted(many, k=3, people=whose) == 3
    assert counted(many, k=3, people=[*whose[:-2], 501, 502]) == 0


@settings(max_examples=examples_of(80))
@given(
    st.lists(
        st.tuples(st.integers(0, 12).map(lambda one: 2.0**one), st.integers(0, 9)), min_size=1, max_size=50
    ),
    st.integers(2, 5),
)
def test_a_plain_loop_finds_the_same(rows: list[tuple[float, int]], k: int) -> None:
    values, people = [one for one, _ in rows], [who for _, who in rows]
    low, high = outer_fences(np.array(values))
    found = 0
    for value in values:
        above = {who for other, who in rows if other >= value}
        below = {who for other, who in rows if other <= value}
        found += (value > high and len(above) < k) or (value < low and len(below) < k)
    assert counted(values, k=k, people=people) == found


def test_counts_of_rare_events_lie_within_the_fences() -> None:
    """Their quartiles are closer by up to a step than those of a normal column of this deviation."""
    random = np.random.default_rng(21)
    columns = [random.poisson(mean, 1_000).astype(float) for mean in (0.3, 1, 2, 4, 9, 20) for _ in range(20)]
    assert sum(counted([*one], k=10) > 0 for one in columns) <= 2  # of 120; without the step 20


def test_normal_numbers_lie_within_the_fences_whatever_their_number() -> None:
    random = np.random.default_rng(20)
    beyond = {
        n: sum(
            int(np.count_nonzero((drawn < low) | (drawn > high)))
            for drawn in (random.normal(120, 15, n) for _ in range(tables))
            for low, high in [outer_fences(drawn)]
        )
        for n, tables in ((500, 40), (20_000, 10), (1_000_000, 3))
    }
    assert beyond == {500: 0, 20_000: 0, 1_000_000: 0}


def ranges(rows: list[tuple[str | None, int]], people: list[int] | None = None) -> Evidence:
    """Make classes of these texts and sizes."""
    texts = [text for text, size in rows for _ in range(size)]
    labels = np.repeat(np.arange(len(rows)), [size for _, size in rows])
    frame = pd.DataFrame({"pay": pd.array(texts, dtype="str")})
    own = np.arange(len(frame))
    behind = Originals(frame, labels, own, np.empty((len(frame), 0)), np.array(people or own))
    classes = EquivalenceClasses(labels, np.bincount(labels))
    return Evidence(frame, classes, behind if people is not None else None, hierarchies=None)  # type: ignore[arg-type]


NEAR = [(f"[{i}, {i + 9}]", 10) for i in range(0, 100, 10)]
"""Ten classes of ten: the quartiles may be 20 and 79, so that the fences are −160 and 259."""


@pytest.mark.parametrize(
    ("more", "k", "found"),
    [
        ([("[80, 400]", 10)], 5, 1),
        ([("[80, 259]", 10)], 5, 0),
        ([("[-400, 400]", 10)], 5, 2),
        ([("[80, 400]", 10), ("[70, 410]", 10)], 5, 2),
        ([("[80, 400]", 10), ("[70, 410]", 10)], 2, 1),  # two reach 400
        ([("400", 5)], 5, 0),  # all five have it
        ([("400", 4)], 5, 4),
        ([("[80, 400]", 10), ("[400, 410]", 4)], 5, 1),  # five reach 400: all of the last class
        ([("[80, 400]", 10), ("[400, 410]", 4)], 6, 5),
        ([("*", 10), (None, 10), ("n/a", 10)], 5, 0),
    ],
)
def test_ends_of_ranges_count_until_k_are_known_to_reach_them(
    more: list[tuple[str | None, int]], k: int, found: int
) -> None:
    assert outlying_ends(ranges([*NEAR, *more]), "pay", k=k) == found


def test_ends_of_ranges_of_days_are_judged_as_those_of_numbers_are() -> None:
    """NEAR in days from 2000 on, with and without a time of day; one day is far out, and one is none."""

    def day(number: int) -> str:
        return str(np.datetime64("2000-01-01") + number)

    def days(text: str, time: str = "") -> str:
        return f"[{', '.join(day(int(end)) + time for end in text[1:-1].split(', '))}]"

    near = [(days(text), size) for text, size in NEAR]
    for time in ("", " 13:45:00", "T13:45:00+01:00"):
        many = [(days(text, time), size) for text, size in NEAR]
        assert outlying_ends(ranges([*many, (days("[80, 400]", time), 10)]), "pay", k=5) == 1
        assert outlying_ends(ranges([*many, (days("[-400, 259]", time), 10)]), "pay", k=5) == 1
        assert outlying_ends(ranges([*many, (days("[80, 259]", time), 10)]), "pay", k=5) == 0
    assert outlying_ends(ranges([*near, (day(400), 5)]), "pay", k=5) == 0  # all five have it
    assert outlying_ends(ranges([*near, (day(400), 4)]), "pay", k=5) == 4
    assert outlying_ends(ranges([*near, ("[2000-02-30, 9000-01-01]", 10)]), "pay", k=5) == 0


def test_the_fences_of_ranges_are_the_farthest_that_originals_can_have() -> None:
    least, most = (np.repeat([float(text[1:-1].split(", ")[end]) for text, _ in NEAR], 10) for end in (0, 1))
    assert outer_fences(least, most) == (20 - 3 * (79 - 20 + 1), 79 + 3 * (79 - 20 + 1))
    inside = np.linspace(least, most, 7)
    assert all(outer_fences(one)[1] <= outer_fences(least, most)[1] for one in inside)


def test_a_person_with_many_records_of_a_class_is_one() -> None:
    rows = [*NEAR, ("400", 10)]
    assert outlying_ends(ranges(rows, [*range(110)]), "pay", k=5) == 0
    assert outlying_ends(ranges(rows, [*range(100), *[100] * 7, 101, 102, 103]), "pay", k=5) == 4


def test_a_release_without_ranges_counts_nothing() -> None:
    assert outlying_ends(ranges([("*", 5), ("a", 5)]), "pay", k=5) == 0
    assert range_ends(pd.Series(["[1e3, 2.5]", "-7", "[a, b]", "[1, 2", "1]"])).tolist()[:2] == [
        [1000.0, 2.5],
        [-7.0, -7.0],
    ]


@settings(max_examples=examples_of(150))
@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 3), st.integers(1, 6)), min_size=1, max_size=25),
    st.integers(2, 5),
)
def test_a_plain_loop_over_classes_finds_the_same(rows: list[tuple[int, int, int]], k: int) -> None:
    classes = [(2.0**low, 2.0 ** (low + wide), size) for low, wide, size in rows]
    records = [ends for *ends, size in classes for _ in range(size)]
    low, high = outer_fences(*(np.array(side) for side in zip(*records, strict=True)))
    found = 0
    for least, most, size in classes:
        above = sum(n if lo >= most else hi >= most for lo, hi, n in classes)
        below = sum(n if hi <= least else lo <= least for lo, hi, n in classes)
        found += (size if least == most else 1) * (most > high and above < k)
        found += (size if least == most else 1) * (least < low and below < k)
        if least < most:  # the other records of the class reach its other end
            above = sum(n if lo >= least else hi >= least for lo, hi, n in classes)
            below = sum(n if hi <= most else lo <= most for lo, hi, n in classes)
            found += (size - 1) * (least > high and above < k) + (size - 1) * (most < low and below < k)
    texts = [(f"[{lo:.0f}, {hi:.0f}]" if lo < hi else f"{lo:.0f}", size) for lo, hi, size in classes]
    assert outlying_ends(ranges(list(texts)), "pay", k=k) == found


def halves(table: np.ndarray, k: int) -> list[np.ndarray]:
    """Cut a table at medians while both halves have k records, as Mondrian does."""
    for column in np.argsort(-np.ptp(table, axis=0), kind="stable"):
        left = table[:, column] <= np.sort(table[:, column])[(len(table) - 1) // 2]
        if k <= left.sum() <= len(table) - k:
            return [*halves(table[left], k), *halves(table[~left], k)]
    return [table]


def test_ranges_of_ordinary_columns_end_within_the_fences_and_those_of_millionaires_do_not() -> None:
    """Of 200 tables none, and 50 of 50: in classes of 3 to 30, cut by one to four columns."""
    random = np.random.default_rng(22)

    def found(numbers: np.ndarray, table: int) -> bool:
        k, others = 3 + table % 28, random.normal(size=(len(numbers), table % 4))
        scaled = (numbers - numbers.mean()) / numbers.std()
        cut = halves(np.column_stack([scaled, others, numbers]), k)
        rows = [(f"[{one[:, -1].min()}, {one[:, -1].max()}]", len(one)) for one in cut]
        return outlying_ends(ranges(list(rows)), "pay", k=k) > 0

    for table in range(200):
        n = (60, 300, 1000)[table % 3]
        drawn = (
            random.normal(120, 15, n),
            random.gamma(6, 8, n).round().clip(18, 95),
            random.poisson(2, n).astype(float),
            np.where(random.random(n) < 0.5, 0.0, random.normal(10, 2, n)),
        )
        assert not found(drawn[table % 4], table)
    for table in range(50):
        pay = np.append(random.normal(50_000, 15_000, 998), [4_784_861, 3_100_000])
        assert found(pay, table)
