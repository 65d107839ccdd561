"""Information loss: the definitions with fractions, the sources' examples, and exactness at any size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints
from anon_pipeline.recode.fulldomain.search import prepare_search, score
from anon_pipeline.recode.loss import (
    cell_costs,
    cell_loss,
    exact_weights,
    information,
)
from tests.recode.asking import ask, counts_of


def ladder(column: str, leaves: int, height: int = 2) -> Hierarchy:
    """A hierarchy of `height` levels, all but the top one the value itself."""
    lookups = (*(np.arange(leaves) for _ in range(height - 1)), np.zeros(leaves, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    return Hierarchy(column, lookups, values)


def searched(codes: Any, hierarchies: Any, *, k: int = 1, limit: int | None = None, **how: Any) -> Any:
    codes = np.asarray(codes, np.int64)
    limits = Constraints(k, len(codes) if limit is None else limit)
    task = ask(codes, tuple(hierarchies), limits, "optimal", **how)
    return prepare_search(task, counts_of(task))


def test_a_six_level_zip_on_level_two_loses_two_fifths(golden: dict[str, Any]) -> None:
    for example in golden["precision"]:
        search = searched([[0]], [ladder("zip", 9, example["levels"])])
        assert float(search.units.loss(score(search, example["level"]).score)) == example["loss"]


@pytest.mark.parametrize("loss", ["precision", "granularity"])
def test_a_column_with_one_value_loses_nothing_even_if_suppressed(loss: Any) -> None:
    one = Hierarchy("one", (np.zeros(1, np.int64),), (np.array(["x"], object),))
    assert (kind := cell_loss(loss)) is not None and kind.suppressed(one, 10) == 0
    codes = [[0, 0], [0, 0], [0, 1], [0, 2]]
    search = searched(codes, [one, ladder("b", 3)], k=2, loss=loss)
    assert search.units.loss(score(search, 0).score) == Fraction(1, 4)


def test_granularity_counts_leaves_that_the_data_do_not_have(from_rows: Any) -> None:
    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    assert [cost.tolist() for cost in cell_costs(hierarchy, "granularity", np.ones(3, np.int64))] == [
        [0, 0, 0],
        [1, 0],
        [2],
    ]
    search = searched([[0], [0]], [hierarchy], loss="granularity")
    assert [search.units.loss(int(bound)) for bound in search.bounds.alone] == [0, Fraction(1, 2), 1]


def test_entropy_is_the_information_that_is_gone(from_rows: Any) -> None:
    """[UT 2.5.2]: a = 3, b = 1 of 6 below ab: 4 bits of H(3/4, 1/4), of all that six records hold."""
    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    search = searched([[0], [0], [0], [1], [2], [2]], [hierarchy], loss="entropy")
    shares = (3 / 4, 1 / 4)
    lost = -4 * sum(share * math.log2(share) for share in shares)
    most = -6 * sum(share * math.log2(share) for share in (3 / 6, 1 / 6, 2 / 6))
    got = [float(search.units.loss(score(search, node).score)) for node in range(3)]
    assert got == pytest.approx([0, lost / most, 1], abs=1e-8)


def test_information_adds_up() -> None:
    counts = np.array([0, 1, 2, 3, 8, 2**40])
    assert information(counts).tolist()[:3] == [0, 0, 2**30]
    assert (information(counts) / 2**30)[1:] == pytest.approx(np.log2(counts[1:]), abs=1e-9)


def test_weights_are_exact() -> None:
    assert exact_weights((0.1, 0.25), 2) == (2, 5)
    assert exact_weights((), 3) == (1, 1, 1)
    assert exact_weights((2.0, 4.0), 2) == (1, 2)
    assert exact_weights((), 0) == ()


def test_classes_are_weighed_as_their_sources_say(from_rows: Any) -> None:
    """Sizes 3 and 2, one record suppressed of six, two gone before: N = 8, s = 3."""
    hierarchy = from_rows("x", [(leaf, "*") for leaf in "abc"])
    codes, target = [[0]] * 3 + [[1]] * 2 + [[2]], np.array([5, 5, 7, 5, 7, 5])
    want = {
        "discernibility": Fraction(9 + 4 + 8 * 3, 64),
        "average_class_size": Fraction(1, 3),
        "classification": Fraction(2 + 3, 8),
    }
    for loss, value in want.items():
        search = searched(codes, [hierarchy], k=2, loss=loss, gone=2, target=target)
        assert search.units.loss(score(search, 0).score) == value


@pytest.mark.parametrize("loss", ["granularity", "entropy"])
def test_scores_stay_exact_and_bounds_below_them_where_they_outgrow_64_bits(loss: Any) -> None:
    primes = [10_007, 10_009, 10_037, 10_039, 10_061]
    hierarchies = [ladder(f"c{prime}", prime + 1) for prime in primes]
    codes = [[0] * 5, [1] * 5, [2] * 5]
    search = searched(codes, hierarchies, loss=loss, weights=(0.1234567891, 1, 1, 1, 1e9))
    assert search.units.denominator > 2**62 and search.bounds.shift > 0
    weights = [Fraction(str(weight)) for weight in search.task.weights]
    for index, bound in enumerate(search.bounds.alone.reshape(-1).tolist()):
        levels, got = search.nodes.levels(index), score(search, index).score
        lost = sum(w for w, level in zip(weights, levels, strict=True) if level)
        assert search.units.loss(got) == Fraction(lost) / sum(weights)
        assert 0 <= search.bounds.of(got) - bound <= len(primes) + 2
