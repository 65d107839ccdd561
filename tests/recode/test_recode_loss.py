"""Information loss: the definitions with fractions, the sources' examples, and exactness at any size."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.model import Hierarchy
from anon_pipeline.recode.fulldomain.lattice import lattice
from anon_pipeline.recode.fulldomain.nodes import count_node, node_tables
from anon_pipeline.recode.loss import cell_costs, loss_units, lower_bounds, suppressed_cost
from anon_pipeline.recode.table import distinct_tuples


def ladder(column: str, leaves: int, height: int = 2) -> Hierarchy:
    """A hierarchy of `height` levels, all but the top one the value itself."""
    lookups = (*(np.arange(leaves) for _ in range(height - 1)), np.zeros(leaves, np.int64))
    values = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in lookups)
    return Hierarchy(column, lookups, values)


@pytest.mark.parametrize("loss", ["precision", "granularity"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_node_scores_as_the_definition_says(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    k = data.draw(st.integers(1, 5))
    table, costs = distinct_tuples(codes, hierarchies), [cell_costs(h, loss) for h in hierarchies]
    units, tables = loss_units(hierarchies, len(codes), loss), node_tables(table, hierarchies, costs)
    for node in brute.nodes(codes, hierarchies, k):
        count = count_node(tables, node.levels, k=k)
        assert units.loss(units.score(count.sums, count.suppressed)) == getattr(node, loss)


@pytest.mark.parametrize("loss", ["precision", "granularity"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_bound_is_the_loss_without_suppression_and_is_never_beaten(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace, loss: Any
) -> None:
    codes, hierarchies = data.draw(drawn.tables())
    table, costs = distinct_tuples(codes, hierarchies), [cell_costs(h, loss) for h in hierarchies]
    units = loss_units(hierarchies, len(codes), loss)
    bounds = lower_bounds(units, lattice(tuple(h.height for h in hierarchies)), table, costs).reshape(-1)
    for k in (1, 3):
        for bound, node in zip(bounds, brute.nodes(codes, hierarchies, k), strict=True):
            assert (units.loss(int(bound)) == getattr(node, loss)) if k == 1 else True
            assert units.loss(int(bound)) <= getattr(node, loss)


def test_a_six_level_zip_on_level_two_loses_two_fifths(golden: dict[str, Any]) -> None:
    for example in golden["precision"]:
        hierarchy = ladder("zip", 9, example["levels"])
        units = loss_units([hierarchy], 1, "precision")
        cost = int(cell_costs(hierarchy, "precision")[example["level"]][0])
        assert float(units.loss(units.score([cost], 0))) == example["loss"]


def test_a_suppressed_record_loses_everything() -> None:
    for loss in ("precision", "granularity"):
        units = loss_units([ladder("a", 5, 3), ladder("b", 8, 2)], 4, loss)
        assert units.loss(units.score([0, 0], 4)) == 1
        assert units.loss(units.score([0, 0], 1)) == Fraction(1, 4)


def test_a_column_with_one_value_loses_nothing_even_if_suppressed() -> None:
    one = Hierarchy("one", (np.zeros(1, np.int64),), (np.array(["x"], object),))
    for loss in ("precision", "granularity"):
        assert suppressed_cost(one, loss) == 0
        units = loss_units([one, ladder("b", 3)], 10, loss)
        assert units.loss(units.score([0, 0], 10)) == Fraction(1, 2)
        assert loss_units([one], 10, loss).loss(0) == 0


def test_granularity_counts_leaves_that_the_data_do_not_have(from_rows) -> None:
    hierarchy = from_rows("x", [("a", "ab", "*"), ("b", "ab", "*"), ("c", "c", "*")])
    assert [cost.tolist() for cost in cell_costs(hierarchy, "granularity")] == [
        [0, 0, 0],
        [1, 1, 0],
        [2, 2, 2],
    ]
    table = distinct_tuples(np.array([[0], [0]]), [hierarchy])
    units = loss_units([hierarchy], 2, "granularity")
    bounds = lower_bounds(units, lattice((3,)), table, [cell_costs(hierarchy, "granularity")])
    assert [units.loss(int(bound)) for bound in bounds] == [0, Fraction(1, 2), 1]


def test_scores_stay_exact_where_they_outgrow_64_bits() -> None:
    primes = [10_007, 10_009, 10_037, 10_039, 10_061]
    hierarchies = [ladder(f"c{prime}", prime + 1) for prime in primes]
    table = distinct_tuples(np.zeros((3, len(primes)), np.int64), hierarchies)
    units = loss_units(hierarchies, 3, "granularity")
    assert units.denominator > 2**62
    nodes = lattice((2,) * len(primes))
    bounds = lower_bounds(units, nodes, table, [cell_costs(h, "granularity") for h in hierarchies])
    assert bounds.dtype == object
    got = [units.loss(bound) for bound in bounds.reshape(-1).tolist()]
    assert got == [Fraction(int(total), len(primes)) for total in nodes.totals().reshape(-1)]
