"""Full-domain search against brute force over all nodes: the optimum and its ties."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.fulldomain.ola import minimal_nodes, ola
from anon_pipeline.recode.fulldomain.optimal import optimal
from anon_pipeline.recode.fulldomain.search import Search, count
from tests.example_counts import examples_of
from tests.recode.fulldomain.questions import LOSSES, begin, draw_question, least


@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_optimal_is_the_least_of_all_anonymous_nodes(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    codes, hierarchies, k, limit = draw_question(data, drawn)
    search = begin(codes, hierarchies, k=k, limit=limit, loss=loss)
    got = optimal(search)
    want = least(brute.anonymous(brute.nodes(codes, hierarchies, k), limit, len(codes)), loss)
    assert (search.nodes.levels(got.node), got.suppressed) == (want.levels, want.suppressed)
    assert search.units.loss(got.score) == getattr(want, loss)


def random_question(seed: int) -> tuple[np.ndarray, list[Hierarchy]]:
    """Sixty skewed records in five columns: lattices of some hundred nodes, where pruning has work to do."""
    rng = np.random.default_rng(seed)
    hierarchies, columns = [], []
    for column in "vwxyz":
        leaves = int(rng.integers(2, 9))
        lookups = [np.arange(leaves)]
        for _ in range(int(rng.integers(0, 3))):
            merged = np.cumsum(rng.random(lookups[-1][-1] + 1) < 0.6)
            lookups.append((merged - merged[0])[lookups[-1]])
        lookups.append(np.zeros(leaves, np.int64))
        values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
        hierarchies.append(Hierarchy(column, tuple(lookups), values))
        columns.append(rng.choice(leaves, 60, p=rng.dirichlet(np.full(leaves, 0.5))))
    return np.stack(columns, axis=1), hierarchies


@pytest.mark.parametrize("seed", range(30))
def test_pruning_never_loses_the_optimum(seed: int) -> None:
    codes, hierarchies = random_question(seed)
    for loss in LOSSES:
        for k, limit in ((2, 6), (3, 20), (5, 40)):
            search = begin(codes, hierarchies, k=k, limit=limit, loss=loss)
            scored = [
                (*_score(search, levels), sum(levels), levels) for levels in np.ndindex(*search.nodes.shape)
            ]
            want = min(node for node in scored if node[1] <= limit)
            got = optimal(search)
            assert (search.units.loss(got.score), got.suppressed, got.total) == want[:3]
            assert search.nodes.levels(got.node) == want[3]


def test_ties_go_to_fewer_suppressed_then_lower_then_lexicographic(from_rows) -> None:
    """Two columns, symmetric in each other: (0, 1) and (1, 0) tie in all but the order of their levels."""
    hierarchies = [from_rows(name, [("a", "*"), ("b", "*")]) for name in ("x", "y")]
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    for loss in LOSSES:
        search = begin(codes, hierarchies, k=2, limit=0, loss=loss)
        for recoder in (optimal, ola):
            assert search.nodes.levels(recoder(search).node) == (0, 1)


def test_equal_loss_prefers_fewer_suppressed(from_rows) -> None:
    """Suppressing half of the records costs what one of two levels costs all of them."""
    hierarchy = from_rows("x", [("a1", "a", "*"), ("a2", "a", "*"), ("b1", "b", "*"), ("b2", "b", "*")])
    search = begin(np.array([[0], [0], [2], [3]]), [hierarchy], k=2, limit=2, loss="precision")
    assert [_score(search, (level,)) for level in range(3)] == [(0.5, 2), (0.5, 0), (1.0, 0)]
    assert search.nodes.levels(optimal(search).node) == (1,)
    assert search.nodes.levels(ola(search).node) == (0,)  # the only k-minimal node


def test_suppressing_everything_is_no_answer(from_rows) -> None:
    """It would tie with the top in loss and win by its level."""
    hierarchy = from_rows("x", [("a", "a", "*"), ("b", "b", "*")])
    search = begin(np.array([[0], [1]]), [hierarchy], k=2, limit=2, loss="precision")
    assert [_score(search, (level,)) for level in range(3)] == [(2, 2), (2, 2), (1, 0)]
    assert search.nodes.levels(optimal(search).node) == (2,)
    assert minimal_nodes(search) == [(2,)]


def _score(search: Search, levels: tuple[int, ...]) -> tuple[Fraction, int]:
    found = count(search, search.nodes.index(levels)).final
    return search.units.loss(search.units.score(found)) if found.sums else Fraction(2), found.suppressed


def test_the_optimum_need_not_be_minimal(from_rows) -> None:
    """A minimal node that suppresses much can lose more than one above it."""
    rows = [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*"), ("d", "d", "*"), ("e", "e", "*")]
    codes = np.array([[0]] + [[1]] * 1 + [[2]] * 2)
    search = begin(codes, [from_rows("x", rows)], k=2, limit=2, loss="granularity")
    assert minimal_nodes(search) == [(0,)]
    assert search.nodes.levels(ola(search).node) == (0,)
    assert search.nodes.levels(optimal(search).node) == (1,)


def test_only_what_can_win_is_counted(from_rows) -> None:
    """Everything anonymous at the bottom: one node is counted, not the lattice."""
    hierarchies = [from_rows(f"c{column}", [("a", "ab", "*"), ("b", "ab", "*")]) for column in range(5)]
    search = begin(np.zeros((10, 5), np.int64), hierarchies, k=5, limit=0, loss="precision")
    assert optimal(search).node == 0
    assert len(search.seen) <= 6 < search.nodes.size
    assert ola(search).node == 0


@pytest.mark.parametrize("recoder", [optimal, ola])
def test_scores_beyond_64_bits_are_searched_exactly(recoder: Any, from_rows) -> None:
    primes = [10_007, 10_009, 10_037, 10_039, 10_061]
    hierarchies = [from_rows(f"c{prime}", [(leaf, "*") for leaf in range(prime + 1)]) for prime in primes]
    codes = np.zeros((6, len(primes)), np.int64)
    codes[:3, 2] = 1
    codes[:1, 4] = 1
    search = begin(codes, hierarchies, k=3, limit=0, loss="granularity")
    assert search.units.denominator > 2**62
    assert search.nodes.levels(recoder(search).node) == (0, 0, 0, 0, 1)


def test_no_columns_is_one_node() -> None:
    search = begin(np.zeros((4, 0), np.int64), [], k=4, limit=0, loss="precision")
    assert (optimal(search).node, ola(search).node, minimal_nodes(search)) == (0, 0, [()])
