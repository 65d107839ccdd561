from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE, distinct_l, entropy_l, recursive_ratio

tables = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=30).map(
    lambda pairs: (np.array([v for _, v in pairs]), np.unique([c for c, _ in pairs], return_inverse=True)[1])
)


def of_counts(*counts):
    """One class with these counts of its values."""
    codes = np.repeat(np.arange(len(counts)), counts)
    return codes, np.zeros(len(codes), int)


def counts_of(codes, labels, label):
    return sorted(Counter(codes[labels == label].tolist()).values(), reverse=True)


@given(tables, st.integers(1, 5))
def test_equal_the_definitions(table, rank):
    codes, labels = table
    m = int(labels.max()) + 1
    found = distinct_l(*table, m=m), entropy_l(*table, m=m), recursive_ratio(*table, l=rank, m=m)
    for label in range(m):
        counts = counts_of(codes, labels, label)
        share = [count / sum(counts) for count in counts]
        rest = sum(counts[rank - 1 :])
        assert found[0][label] == len(counts)
        assert found[1][label] == pytest.approx(math.exp(-sum(p * math.log(p) for p in share)), abs=1e-12)
        assert found[2][label] == (counts[0] / rest if rest else math.inf)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(table, random):
    codes, labels = table
    m = int(labels.max()) + 1
    order = list(range(len(codes)))
    random.shuffle(order)
    for measure in (distinct_l, entropy_l):
        assert measure(codes[order], labels[order], m=m).tolist() == measure(codes, labels, m=m).tolist()


@pytest.mark.parametrize("values", [2, 3, 5, 7, 10, 100])
def test_entropy_of_equal_shares_is_not_truncated(values):
    found = entropy_l(*of_counts(*[3] * values), m=1)[0]
    assert found >= values - ENTROPY_TOLERANCE
    assert found == pytest.approx(values, abs=ENTROPY_TOLERANCE)


def test_entropy_between_whole_numbers_is_kept():
    assert entropy_l(*of_counts(3, 1), m=1)[0] == pytest.approx(1.754765350603323)


def test_recursive_divides_the_most_frequent_by_the_least_frequent():
    table = of_counts(1, 5, 3)
    assert recursive_ratio(*table, l=2, m=1).tolist() == [5 / 4]
    assert recursive_ratio(*table, l=3, m=1).tolist() == [5.0]
    assert recursive_ratio(*table, l=1, m=1).tolist() == [5 / 9]


def test_too_few_values_are_never_recursively_diverse():
    assert recursive_ratio(*of_counts(2, 2), l=3, m=1).tolist() == [math.inf]


def test_32_bit_input_does_not_overflow():
    n = 50_000
    codes, labels = np.arange(2 * n, dtype=np.int32) % n, np.repeat(np.arange(n, dtype=np.int32), 2)
    assert (distinct_l(codes, labels, m=n) == 2).all()
    assert recursive_ratio(*of_counts(n, n), l=2, m=1).tolist() == [1.0]


def test_a_rank_below_one_is_refused():
    with pytest.raises(ValueError, match="l must be at least 1"):
        recursive_ratio(*of_counts(1), l=0, m=1)


def test_nothing_released_is_refused():
    nothing = np.empty(0, int), np.empty(0, int)
    with pytest.raises(ValueError, match="Nothing is released"):
        distinct_l(*nothing, m=0)
