"""People linked by known columns: against a twin in plain loops with all lots."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anon_pipeline.perturb.mechanisms import Noise, pmf
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.known_cells import Cells, Hidden, cells_of, most_linked, right_guesses
from anon_pipeline.risk.known_people import (
    CellPeople,
    Guesses,
    chance_linked,
    commonest_people,
    likeliest_people,
    most_people,
    people_of_cells,
)

MECHANISMS = ("discrete_laplace", "uniform", "staircase")
TABLES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 6), st.integers(-2, 2)),
    min_size=1,
    max_size=6,
)
"""Known value, person, original and noise of each record; all in one class."""
LAW = {name: (name, Fraction(2)) for name in MECHANISMS}


def arrays(records: list[tuple[int, int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    codes, people, x, noise = np.array(records, np.int64).T
    return codes, np.unique(people, return_inverse=True)[1], x, x + noise


def law_of(x: np.ndarray, mechanism: str, bounds: tuple[int, int] | None = None) -> NoiseLaw:
    return NoiseLaw(np.array([[float(np.ptp(x))]]), [bounds], [Noise(*LAW[mechanism])])


def chance(y: float, x: float, law: NoiseLaw) -> float:
    """Sum the law's probabilities of all outputs that are released as y."""
    (noise,), (bound,), wide = law.drawn, law.bounds, int(law.scales[0, 0])
    if bound is None or bound[0] < y < bound[1]:
        return float(pmf(noise, np.array([y - x]), np.array([wide]))[0])
    beyond = np.arange(0, 400) * (1 if y >= bound[1] else -1)
    return math.fsum(pmf(noise, y - x + beyond, np.full(400, wide)).tolist())


def likeliest(y: float, cell: list[int], x: np.ndarray, people: np.ndarray, law: NoiseLaw) -> frozenset[int]:
    """Return the people of a cell whose originals together are likeliest."""
    sums = {int(people[row]): 0.0 for row in cell}
    for row in cell:
        sums[int(people[row])] += chance(y, x[row], law)
    return frozenset(p for p, likely in sums.items() if likely >= max(sums.values()) * (1 - 1e-9))


def slow(y: np.ndarray, codes: np.ndarray, people: np.ndarray, x: np.ndarray, law: NoiseLaw) -> np.ndarray:
    """Draw every lot in every way, and count how often each person has a record that is linked."""
    guessed = []
    for row, code in enumerate(codes):
        cell = np.flatnonzero(codes == code).tolist()
        guessed.append((int(code), likeliest(y[row], cell, x, people, law)))
    sets = sorted(set(guessed), key=str)
    linked, ways = np.zeros(int(people.max()) + 1), list(itertools.product(*(sorted(s) for _, s in sets)))
    for named in ways:
        lots = dict(zip(sets, named, strict=True))
        linked[list({int(people[row]) for row, of in enumerate(guessed) if lots[of] == people[row]})] += 1
    return linked / len(ways)


def fast(y: np.ndarray, codes: np.ndarray, people: np.ndarray, x: np.ndarray, law: NoiseLaw) -> np.ndarray:
    of, rows = people_in(codes, people), np.arange(len(x))
    guesses = likeliest_people(y[:, None].astype(float), rows, of, Hidden(x[:, None].astype(float), law))
    return chance_linked([(rows, guesses)], of)


def people_in(codes: np.ndarray, people: np.ndarray) -> CellPeople:
    return people_of_cells(cells_of(np.zeros(len(codes), np.int64), codes), people)


def test_the_people_of_a_cell_lie_together() -> None:
    codes, people = np.array([0, 0, 0, 1, 1]), np.array([2, 0, 2, 1, 2])
    of = people_in(codes, people)
    assert of.cells.order.tolist() == [1, 0, 2, 3, 4]
    assert (of.records.tolist(), of.sizes.tolist(), of.whose.tolist()) == ([1, 2, 1, 1], [2, 2], [0, 2, 1, 2])
    assert (of.parts.tolist(), of.most_records.tolist()) == ([1, 0, 1, 2, 3], [2, 1])


@given(TABLES, st.sampled_from(MECHANISMS), st.sampled_from([None, (1, 5)]))
@example([(0, 0, 1, 1), (0, 0, 1, 1), (0, 1, 1, 0)], "discrete_laplace", None)
def test_chances_are_those_of_plain_loops(
    records: list[tuple[int, int, int, int]], mechanism: str, bounds: tuple[int, int] | None
) -> None:
    codes, people, x, y = arrays(records)
    law = law_of(x, mechanism, bounds)
    y = law.clamp(y[:, None].astype(float))[:, 0]
    made = np.array([chance(*pair, law) > 0 for pair in zip(y, x, strict=True)])
    y = np.where(made, y, law.clamp(x[:, None].astype(float))[:, 0])  # what the law makes, no other value
    assert fast(y, codes, people, x, law).tolist() == pytest.approx(slow(y, codes, people, x, law).tolist())


@given(TABLES, st.sampled_from(MECHANISMS))
def test_with_one_record_each_people_are_linked_as_records(
    records: list[tuple[int, int, int, int]], mechanism: str
) -> None:
    codes, _, x, y = arrays(records)
    law, rows = law_of(x, mechanism), np.arange(len(x))
    cells = cells_of(np.zeros(len(x), np.int64), codes)
    alone = right_guesses(y[:, None].astype(float), rows, cells, Hidden(x[:, None].astype(float), law))
    assert fast(y, codes, rows, x, law).tolist() == pytest.approx(alone.tolist())


@given(TABLES, st.sampled_from(MECHANISMS))
def test_whoever_has_all_records_is_linked(records: list[tuple[int, int, int, int]], mechanism: str) -> None:
    codes, people, x, y = arrays(records)
    assert fast(y, codes, np.zeros_like(people), x, law_of(x, mechanism)).tolist() == [1.0]


@given(TABLES)
def test_what_people_are_called_does_not_matter(records: list[tuple[int, int, int, int]]) -> None:
    codes, people, x, y = arrays(records)
    law, turned = law_of(x, "discrete_laplace"), people.max() - people
    assert fast(y, codes, people, x, law).tolist() == pytest.approx(
        fast(y, codes, turned, x, law)[::-1].tolist()
    )


@given(TABLES)
def test_where_all_are_equally_likely_one_of_those_with_the_most_records_is_named(
    records: list[tuple[int, int, int, int]],
) -> None:
    """Without noise, each cell links one person on average, whatever records the others have."""
    codes, people, x, _ = arrays(records)
    of, rows, x = people_in(codes, people), np.arange(len(codes)), np.zeros_like(x)
    common = commonest_people(rows, of)
    found = chance_linked([(rows, common)], of)
    assert found.tolist() == pytest.approx(slow(x, codes, people, x, law_of(x, "uniform")).tolist())
    assert found.sum() <= len(np.unique(codes)) + 1e-9
    hidden = Hidden(x[:, None] * 1.0, law_of(x, "uniform"))
    compared = likeliest_people(x[:, None].astype(float), rows, of, hidden)
    assert (common.own.tolist(), common.ties.tolist()) == (compared.own.tolist(), compared.ties.tolist())


def right(guesses: Guesses) -> np.ndarray:
    return guesses.own / guesses.ties


def sums(records: list[tuple[int, int, int, int]], people: np.ndarray, mechanism: str) -> tuple[float, float]:
    """Return rightly guessed records, on average over all outputs, by who guesses people, and originals."""
    _, _, x, _ = arrays(records)
    law, codes = law_of(x, mechanism), np.zeros(len(x), np.int64)
    outputs = np.arange(-60, 67)
    rows, values = np.repeat(np.arange(len(x)), len(outputs)), np.tile(outputs, len(x))[:, None] * 1.0
    (noise,), wide = law.drawn, np.full(len(rows), int(np.ptp(x)))
    weights = pmf(noise, values[:, 0] - x[rows], wide)
    hidden, of = Hidden(x[:, None].astype(float), law), people_in(codes, people)
    by_person = right(likeliest_people(values, rows, of, hidden))
    return float(weights @ by_person), float(weights @ right_guesses(values, rows, of.cells, hidden))


@given(TABLES, st.sampled_from(MECHANISMS))
def test_who_guesses_people_names_more_records_rightly_the_fewer_people_there_are(
    records: list[tuple[int, int, int, int]], mechanism: str
) -> None:
    people = arrays(records)[1]
    named, originals = sums(records, people, mechanism)
    assert named >= originals - 1e-9
    merged = sums(records, np.where(people == people.max(), 0, people), mechanism)[0]
    assert merged >= named - 1e-9


@given(TABLES, st.sampled_from(MECHANISMS))
def test_the_bound_is_never_below_the_mean_over_all_outputs(
    records: list[tuple[int, int, int, int]], mechanism: str
) -> None:
    """More people cannot be linked than records are named rightly."""
    _, people, x, _ = arrays(records)
    codes = np.zeros(len(x), np.int64)
    of: CellPeople = people_in(codes, people)
    cells: Cells = of.cells
    (bound,) = most_people(of, most_linked(cells, Hidden(x[:, None].astype(float), law_of(x, mechanism))))
    assert bound == of.sizes[0] or bound >= sums(records, people, mechanism)[0] - 1e-9
    assert bound <= of.sizes[0]
