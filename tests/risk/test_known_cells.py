"""Linking by known columns: against a twin in plain loops, and its bound against exact sums."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base import blocks
from anon_pipeline.perturb.mechanisms import Noise, pmf
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.known_cells import (
    Cells,
    Hidden,
    cells_of,
    choose_evenly,
    looked_records,
    most_linked,
    right_guesses,
)

LABELS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
CODES = np.array([2, 2, 0, 2, 0, 2, 2, 2, 2])
X = np.array([[4, 1], [4, 1], [5, 0], [9, 3], [0, 7], [3, 3], [6, 3], [6, 5], [8, 3]], np.float64)
MECHANISMS = ("discrete_laplace", "uniform", "staircase")
CATEGORIES = np.array([[0], [0], [2], [1], [2], [0], [1], [1], [2]])


def response(values: int, epsilon: float) -> np.ndarray:
    """Return P(value | original) of randomized response, (D, D)."""
    own, others = math.exp(epsilon), np.ones((values, values))
    return (others + np.eye(values) * (own - 1)) / (own + values - 1)


def law_of(mechanism: str = "discrete_laplace", bounds: tuple[int, int] | None = None) -> NoiseLaw:
    spans = np.array([np.ptp(X[label == LABELS], axis=0) for label in (0, 1)])
    return NoiseLaw(spans, [bounds, None], [Noise(mechanism, Fraction(2)), Noise(mechanism, Fraction(1))])


def slow(y: np.ndarray, row: int, law: NoiseLaw, drawn: np.ndarray | None = None) -> float:
    """Guess in plain loops, from probabilities and not from their logarithms."""
    found = {}
    for other in range(len(X)):
        if (LABELS[other], CODES[other]) == (LABELS[row], CODES[row]):
            chance = 1.0 if drawn is None else drawn[CATEGORIES[other, 0], int(y[-1])]
            for j, noise in enumerate(law.drawn):
                wide, bound = int(law.scales[LABELS[row], j]), law.bounds[j]
                if bound is None or bound[0] < y[j] < bound[1]:
                    chance *= float(pmf(noise, y[j] - X[other, j], wide))
                else:
                    beyond = np.arange(0, 400) * (1 if y[j] >= bound[1] else -1)
                    chance *= math.fsum(pmf(noise, y[j] - X[other, j] + beyond, wide).tolist())
            found[other] = chance
    best = [other for other, chance in found.items() if chance >= max(found.values()) * (1 - 1e-9)]
    return (row in best) / len(best)


def test_cells_are_records_of_a_class_with_equal_known_values() -> None:
    cells = cells_of(LABELS, CODES)
    assert cells.sizes.tolist() == [2, 3, 4]
    assert [sorted(part) for part in np.split(cells.order, cells.starts[1:-1])] == [
        [2, 4],
        [0, 1, 3],
        [5, 6, 7, 8],
    ]
    assert cells.labels.tolist() == [0, 0, 1]
    assert cells.own.tolist() == [1, 1, 0, 1, 0, 2, 2, 2, 2]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("bounds", [None, (2, 7)])
def test_guesses_are_those_of_plain_loops(mechanism: str, bounds: tuple[int, int] | None) -> None:
    law, cells = law_of(mechanism, bounds), cells_of(LABELS, CODES)
    rows = np.repeat(np.arange(len(X)), 12)
    values = law.clamp(X[rows] + np.random.default_rng(0).integers(-2, 3, (len(rows), 2)))
    fast = right_guesses(values, rows, cells, Hidden(X, law))
    assert fast.tolist() == pytest.approx([slow(y, row, law) for y, row in zip(values, rows, strict=True)])
    assert 0 < fast.mean() < 1


@pytest.mark.parametrize("epsilon", [0.3, 2, 30])
def test_guesses_from_numbers_and_categories_are_those_of_plain_loops(epsilon: float) -> None:
    law, cells, drawn, random = (
        law_of(),
        cells_of(LABELS, CODES),
        response(3, epsilon),
        np.random.default_rng(1),
    )
    rows = np.repeat(np.arange(len(X)), 12)
    values = np.hstack(
        [X[rows] + random.integers(-2, 3, (len(rows), 2)), random.integers(0, 3, (len(rows), 1))]
    )
    hidden = Hidden(X, law, CATEGORIES, (np.log(drawn),))
    fast = right_guesses(values, rows, cells, hidden)
    plain = [slow(y, row, law, drawn) for y, row in zip(values, rows, strict=True)]
    assert fast.tolist() == pytest.approx(plain)
    assert fast.tolist() != right_guesses(values, rows, cells, Hidden(X, law)).tolist()


@given(st.lists(st.integers(0, 12), min_size=1, max_size=6), st.integers(1, 8), st.sampled_from(MECHANISMS))
def test_the_bound_is_never_below_the_exact_sum(values: list[int], epsilon: int, mechanism: str) -> None:
    """Σ_y max_x P(y | x) is what the best guesser links of a cell on average."""
    x, wide = np.array(values, np.float64)[:, None], max(values) - min(values)
    noise = Noise(mechanism, Fraction(epsilon))
    law = NoiseLaw(np.array([[float(wide)]]), [None], [noise])
    cells = cells_of(np.zeros(len(x), np.int64), np.zeros(len(x), np.int64))
    outputs = np.arange(-900, 901)
    exact = pmf(noise, outputs[None] - x, np.array(wide)).max(axis=0).sum()
    (bound,) = most_linked(cells, Hidden(x, law))
    assert exact <= bound + 1e-9
    assert bound <= len(x)


def test_the_average_of_guesses_is_the_exact_sum() -> None:
    """Two ways to the mean: all guesses with their chances, and one right original for each output."""
    law, cells = law_of(), cells_of(LABELS, CODES)
    outputs = np.array(list(itertools.product(range(-40, 60), range(-40, 60))), np.float64)
    own = np.flatnonzero(cells.own == 2)
    chances = [
        np.prod(
            [pmf(n, outputs[:, j] - X[row, j], int(law.scales[1, j])) for j, n in enumerate(law.drawn)], 0
        )
        for row in own
    ]
    guessed = sum(
        float(chance @ right_guesses(outputs, np.full(len(outputs), row), cells, Hidden(X, law)))
        for row, chance in zip(own, chances, strict=True)
    )
    assert guessed == pytest.approx(float(np.max(chances, axis=0).sum()), abs=1e-4)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=6),
    st.integers(1, 6),
    st.floats(0, 8),
)
def test_numbers_and_categories_link_at_most_their_bound_and_at_least_each_alone(
    values: list[tuple[int, int]], epsilon: int, of_category: float
) -> None:
    """Σ over all outputs of both, in plain sums: what is drawn of one never hides the other."""
    x, codes = (np.array(part) for part in zip(*values, strict=True))
    wide, drawn = int(np.ptp(x)), response(3, of_category)
    noise = Noise("discrete_laplace", Fraction(epsilon))
    law, cells = (
        NoiseLaw(np.array([[float(wide)]]), [None], [noise]),
        cells_of(*np.zeros((2, len(x)), np.int64)),
    )
    outputs = np.arange(-700, 710)
    numbers = pmf(noise, outputs[None] - x[:, None], np.array(wide))
    exact = (numbers[:, :, None] * drawn[codes][:, None]).max(axis=0).sum()
    alone = [numbers.max(axis=0).sum(), drawn[codes].max(axis=0).sum()]
    hidden = Hidden(x[:, None].astype(np.float64), law, codes[:, None], (np.log(drawn),))
    (bound,) = most_linked(cells, hidden)
    assert max(alone) - 1e-9 <= exact <= bound + 1e-9
    y = np.stack(np.meshgrid(outputs, np.arange(3), indexing="ij"), axis=-1).reshape(-1, 2).astype(np.float64)
    guessed = sum(
        float((numbers[row][:, None] * drawn[codes[row]]).ravel() @ right)
        for row in range(len(x))
        for right in [right_guesses(y, np.full(len(y), row), cells, hidden)]
    )
    assert guessed == pytest.approx(float(exact), abs=1e-6)


@st.composite
def some_cells(draw: st.DrawFn) -> Cells:
    pairs = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60))
    labels, codes = np.array(pairs, np.int64).T
    return cells_of(labels, codes)


@given(some_cells(), st.integers(1, 20), st.integers(0, 2**32))
def test_the_bound_of_blocks_is_that_of_the_whole(cells: Cells, block: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    law = NoiseLaw(rng.integers(0, 9, (4, 2)).astype(np.float64), [None, None], law_of().drawn)
    hidden = Hidden(rng.integers(-100, 100, (len(cells.own), 2)).astype(np.int8), law)
    whole = most_linked(cells, hidden).tolist()
    with patch.object(blocks, "BLOCK", block):
        assert most_linked(cells, hidden).tolist() == whole


@given(some_cells(), st.integers(1, 20), st.integers(0, 2**32))
def test_records_of_blocks_are_chosen_as_those_of_the_whole(cells: Cells, block: int, seed: int) -> None:
    many = np.minimum(np.random.default_rng(seed).integers(0, 5, len(cells.labels)), cells.sizes)
    found = choose_evenly(cells, many, np.random.default_rng(seed))
    with patch.object(blocks, "BLOCK", block):
        assert choose_evenly(cells, many, np.random.default_rng(seed)).tolist() == found.tolist()
    chosen = np.bincount(cells.own[found], minlength=len(many))
    assert (np.abs(chosen - many) <= 1).all()


def test_fewer_records_are_looked_at_where_pairs_are_too_many() -> None:
    cells = cells_of(LABELS, CODES)
    everything, most = np.ones(3, np.bool_), np.full(3, 2.0)
    assert looked_records(cells, most, everything, 100).tolist() == [2, 3, 4]
    assert looked_records(cells, most, everything, 20).tolist() == [2, 2, 2]
    assert looked_records(cells, most, np.array([True, False, True]), 100).tolist() == [2, 0, 4]
    assert looked_records(cells, np.array([1.0, 2, 1]), everything, 100).tolist() == [0, 3, 0]
