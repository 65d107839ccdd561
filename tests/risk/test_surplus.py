"""Groups that make a value nearly certain: by hand, against loops, and against values dealt anew."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from anon_pipeline.risk import surplus
from anon_pipeline.risk.certainty import COMMON, ODDS
from anon_pipeline.risk.surplus import (
    hypergeometric_tails,
    is_beyond_chance,
    marked_surplus,
    surplus_share,
)
from tests.example_counts import examples_of

_ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 9)),
    min_size=1,
    max_size=60,
)


def needed(size: int, share: float, most: float, gain: float) -> float:
    """Return how many of a group must have a value."""
    if share > COMMON:
        return math.inf
    certain = math.ceil(most * size - 1e-9)
    if share < 1 / gain:
        return max(certain, math.floor(gain * share * size + 1e-9) + 1)
    odds = ODDS * share / (1 - share)
    return max(certain, math.ceil((odds * (size + 0.5) - 0.5) / (1 + odds) - 1e-9))


def slow(
    rows: Sequence[tuple[int, int, int, int]], most: float, gain: float, *, without: int | None = None
) -> float:
    """Look at each group, with the chance of each value of its stratum; rows: value, group, stratum, who.

    Nobody has anything in common by the value ``without``.
    """
    everybody = {whose for *_, whose in rows}
    share = {value: len({row[3] for row in rows if row[0] == value}) / len(everybody) for value, *_ in rows}
    beyond = total = 0.0
    for group in {row[1:3] for row in rows}:
        inside = [row for row in rows if row[1:3] == group]
        stratum = [row for row in rows if row[2] == group[1]]
        size, whole = len({row[3] for row in inside}), len({row[3] for row in stratum})
        sure, chance = False, 0.0
        for value in {row[0] for row in stratum} - {without}:
            least = needed(size, share[value], most, gain)
            sure |= len({row[3] for row in inside if row[0] == value}) >= least
            owners = len({row[3] for row in stratum if row[0] == value})
            chance += float(hypergeom.sf(least - 1, whole, owners, size)) if least <= size else 0.0
        chance = min(chance, 1.0)
        beyond += size * (sure - chance)
        total += size
    return beyond / total


@settings(max_examples=examples_of(150), deadline=None)
@given(
    rows=_ROWS,
    most=st.sampled_from([0.6, 0.9, 1.0]),
    counted=st.booleans(),
)
def test_it_is_what_loops_find(rows: list[tuple[int, int, int, int]], most: float, counted: bool) -> None:
    if not counted:
        rows = [(*row[:3], i) for i, row in enumerate(rows)]
    values, groups, strata, people = np.array(rows).T
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(surplus, "is_beyond_chance", lambda *_: True)
        found = surplus_share(values, groups, strata, most=most, gain=2, people=people if counted else None)
    assert found == pytest.approx(slow(rows, most, 2), abs=1e-9)


def test_a_building_of_one_illness_by_hand() -> None:
    """Ten of forty are in a building in which all have one of four illnesses.

    By chance nine or ten of the ten have one: 4 · (10 · 30 + 1) of C(40, 10) ways.
    """
    illness = np.repeat([0, 1, 2, 3], 10)
    building = np.repeat([0, 1, 1, 1], 10)
    found = surplus_share(illness, building, np.zeros(40, int), most=0.9, gain=2)
    assert found == pytest.approx(10 * (1 - 4 * 301 / math.comb(40, 10)) / 40, rel=1e-12)


def test_pairs_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty classes of four, two with each of two illnesses; the column splits them by illness, or never.

    Half of all have each of two illnesses: no group of two makes one likelier by `ODDS`. Of three illnesses
    half have one, a quarter each of the others, and a pair of four has such one with 2/4 · 1/3 by chance.
    """
    monkeypatch.setattr(surplus, "is_beyond_chance", lambda *_: True)
    strata, halves = np.repeat(np.arange(20), 4), np.tile([0, 0, 1, 1], 20)
    assert surplus_share(halves, halves, strata, most=0.9, gain=2) == 0
    illness = halves + np.repeat(np.arange(20) % 2, 4)  # 0 and 1, or 1 and 2: half have 1
    found = surplus_share(illness, halves, strata, most=0.9, gain=2)
    assert found == pytest.approx((0.5 * 80 - 80 * 1 / 6) / 80)  # of the rare two, 1/6 each, by chance
    assert surplus_share(illness, np.tile([0, 1, 0, 1], 20), strata, most=0.9, gain=2) == pytest.approx(
        -1 / 6
    )


def test_of_groups_of_one_and_of_classes_of_one_value_nothing_counts() -> None:
    values = np.arange(600) % 6
    assert surplus_share(values, np.arange(600), np.zeros(600, int), most=0.9, gain=2) == 0
    assert surplus_share(values, np.arange(600) % 5, values, most=0.9, gain=2) == 0
    assert surplus_share(np.zeros(0), np.zeros(0), np.zeros(0), most=0.9, gain=2) == 0


def test_a_value_that_nearly_all_have_anyway_says_nothing() -> None:
    """All of the second half are not pregnant, of the first nine in ten."""
    values = np.where(np.arange(1000) % 20 == 0, 1, 0)
    values[500:] = 0
    found = surplus_share(values, np.arange(1000) // 500, np.zeros(1000, int), most=0.9, gain=2)
    assert found == 0


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_of_400_tables_without_a_connection_hardly_any_say_anything(counted: bool, within: bool) -> None:
    """In classes, and in the whole table; also of tables of sixty records and of classes of three."""
    random, found = np.random.default_rng(3), 0
    for table in range(400):
        n, k = (60, 600, 3000)[table % 3], (3, 5, 10, 40)[table % 4]
        values = random.choice(8, n, p=random.dirichlet(np.full(8, 2.0)))
        people = random.integers(0, n // 3, n) if counted else np.arange(n)
        strata = people // k if within else np.zeros(n, np.int64)
        groups = random.integers(0, (2, 6, 30)[table % 5 % 3], n)
        share = surplus_share(values, groups, strata, most=0.9, gain=2, people=people if counted else None)
        found += share > 0.05
    assert found <= 4


@pytest.mark.parametrize("classes", [5, 10, 40])
def test_a_building_of_one_illness_in_five_is_found(classes: int) -> None:
    """In 100 of 100 tables of a thousand records: a tenth has the illness, and is treated there alone."""
    random, found = np.random.default_rng(4), 0
    for _ in range(100):
        illness = random.choice(5, 1000, p=[0.1, 0.3, 0.3, 0.2, 0.1])
        building = np.where(illness == 0, 9, random.integers(0, 6, 1000))
        shares = [
            surplus_share(illness, building, strata, most=0.9, gain=2)
            for strata in (np.arange(1000) // classes, np.zeros(1000, int))
        ]
        found += max(shares) > 0.05
    assert found == 100


def test_the_chance_is_that_of_values_dealt_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surplus, "is_beyond_chance", lambda *_: True)
    random = np.random.default_rng(5)
    values, groups = random.integers(0, 4, 240), random.integers(0, 4, 240)
    strata = np.repeat(np.arange(24), 10)
    shares = []
    for _ in range(400):
        dealt = np.lexsort((random.random(240), strata))
        shares.append(surplus_share(values[dealt], groups, strata, most=0.9, gain=2))
    assert abs(np.mean(shares)) < 4 * np.std(shares) / math.sqrt(400)
    assert np.std(shares) > 0


@settings(max_examples=examples_of(100), deadline=None)
@given(st.data())
def test_tails_are_those_of_scipy(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 300))
    marked, drawn = (data.draw(st.integers(0, population)) for _ in range(2))
    least = data.draw(st.integers(0, min(marked, drawn)))
    (found,) = hypergeometric_tails(*(np.array([one]) for one in (population, marked, drawn, least)))
    assert found == pytest.approx(float(hypergeom.sf(least - 1, population, marked, drawn)), abs=1e-10)


def test_one_class_that_is_certain_by_chance_once_in_a_million_tables_says_something() -> None:
    """By hand: so many groups or more, of a Poisson number of them; at most one in 10,000 tables speaks."""
    for size, groups, expected in ((5, 80, 2.4), (20, 20, 1e-5), (3, 1000, 30)):
        weights, chance = np.full(groups, float(size)), np.full(groups, expected / groups)
        mean = expected * (1 - expected / groups)  # a Poisson number with the variance of the binomial one
        for many in range(1, 60):
            above = 1 - sum(math.exp(-mean) * mean**i / math.factorial(i) for i in range(many))
            beyond = is_beyond_chance(size * (many - mean), weights, chance)
            assert beyond == (above < 1e-4 if abs(above - 1e-4) > 1e-9 else beyond), (size, many)


def test_without_any_chance_all_that_is_certain_counts() -> None:
    assert is_beyond_chance(3.0, np.ones(3), np.zeros(3))
    assert not is_beyond_chance(0.0, np.ones(3), np.zeros(3))
    assert not is_beyond_chance(-1.0, np.ones(3), np.full(3, 0.5))


@settings(max_examples=examples_of(150), deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0, 0, 1, 2]), st.integers(0, 4), st.integers(0, 9)),
        min_size=1,
        max_size=60,
    ),
    most=st.sampled_from([0.6, 0.9, 1.0]),
    counted=st.booleans(),
)
def test_marks_are_values_of_which_one_is_none(
    rows: list[tuple[int, int, int]], most: float, counted: bool
) -> None:
    marks, groups, people = np.array(rows).T
    labels = np.unique(groups, return_inverse=True)[1]
    people = people if counted else np.arange(len(rows))
    alike = [(*map(int, row),) for row in zip(marks, labels, 0 * marks, people, strict=True)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(surplus, "is_beyond_chance", lambda beyond, *_: beyond > 0)
        found = marked_surplus(marks, labels, most=most, gain=2, people=people if counted else None)
    assert found == pytest.approx(max(slow(alike, most, 2, without=0), 0.0), abs=1e-9)


def test_marks_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of twenty are marked, all in one of five classes of four: by chance it is one of C(20, 4) ways."""
    marks, labels = np.repeat([1, 0, 0, 0, 0], 4), np.arange(20) // 4
    assert marked_surplus(marks, labels, most=0.9, gain=2) == 0  # one such table in 969
    monkeypatch.setattr(surplus, "is_beyond_chance", lambda *_: True)
    expected = (4 - 20 / math.comb(20, 4)) / 20
    assert marked_surplus(marks, labels, most=0.9, gain=2) == pytest.approx(expected, rel=1e-12)
    assert marked_surplus(marks * 0, labels, most=0.9, gain=2) == 0
