from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.uniques import SampleUniques, minimal_uniques, sample_uniques


def twin(codes):
    """From the definition: every set of columns, every record."""
    rows, q = codes.tolist(), codes.shape[1]
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(range(q), size)]

    def alone(row, chosen):
        return sum(all(other[c] == row[c] for c in chosen) for other in rows) == 1

    counts = [[0, 0, 0] for _ in rows]
    for i, row in enumerate(rows):
        unique = {chosen for chosen in sets if alone(row, chosen)}
        for chosen in unique:
            if not any(set(other) < set(chosen) for other in unique):
                counts[i][len(chosen) - 1] += 1
    return counts, sum(alone(row, range(q)) for row in rows)


@st.composite
def tables(draw):
    q, n, high = draw(st.integers(1, 5)), draw(st.integers(1, 12)), draw(st.sampled_from([1, 2, 4, 2**40]))
    row = st.tuples(*[st.integers(0, high)] * q)
    return np.array(draw(st.lists(row, min_size=n, max_size=n)), np.int64).reshape(n, q)


@given(tables())
def test_equals_the_definition(codes):
    counts, uniques = twin(codes)
    found = minimal_uniques(codes)
    assert found.counts.tolist() == counts
    assert sample_uniques(codes) == SampleUniques(uniques, len(codes))
    assert sample_uniques(codes).share == uniques / len(codes)
    assert found.records == sum(map(any, counts))
    last = min(3, codes.shape[1])
    worth = [prod(codes.shape[1] - i for i in range(size, last)) for size in (1, 2, 3)]
    assert found.scores.tolist() == [sum(map(prod, zip(row, worth, strict=True))) for row in counts]


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_records_and_columns_does_not_matter(codes, random):
    rows, columns = list(range(codes.shape[0])), list(range(codes.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    found = minimal_uniques(codes).counts
    assert minimal_uniques(codes[rows][:, columns]).counts.tolist() == found[rows].tolist()


def test_wide_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2**62, (300, 4))
    assert minimal_uniques(codes).counts[:, 0].tolist() == [4] * 300
    assert sample_uniques(np.repeat(codes, 2, axis=0)) == SampleUniques(0, 600)


def test_smaller_sets_can_be_asked_for_alone():
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert minimal_uniques(codes, size=1).records == 0
    assert minimal_uniques(codes, size=2).counts.tolist() == [[0, 1, 0]] * 4
    assert minimal_uniques(codes).share == 1.0


@pytest.mark.parametrize("codes", [np.empty((0, 2), int), np.empty((2, 0), int), np.array([[-1, 0]])])
def test_what_has_no_uniques_is_refused(codes):
    for measure in (minimal_uniques, sample_uniques):
        with pytest.raises(ValueError, match="codes must"):
            measure(codes)
    with pytest.raises(ValueError, match="size must be 1 to 3"):
        minimal_uniques(np.ones((2, 2), int), size=4)
