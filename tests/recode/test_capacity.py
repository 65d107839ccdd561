"""Searches of more records than a loss adds up are refused, or counted in larger units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Task, cell_losses, choose, loss
from anon_pipeline.recode.capacity import most_records, refuse_overflow
from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.fulldomain import cover, search
from anon_pipeline.recode.loss import information, information_bits
from anon_pipeline.recode.tuples import distinct_tuples
from anon_pipeline.risk.capacity import MOST_SQUARED

LOOKUPS = (np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, np.int64))
VALUES = tuple(np.arange(lookup[-1] + 1).astype(object) for lookup in LOOKUPS)
HIERARCHIES = (Hierarchy("x", LOOKUPS, VALUES), Hierarchy("y", LOOKUPS, VALUES))
CODES = np.random.default_rng(3).integers(0, 8, (500, 2))
LOSSES = ("precision", "granularity", "entropy", "average_class_size", "discernibility")


def chosen(loss: Any, records: int, recoder: str = "optimal") -> Choice:
    """Choose for 500 records, each so many times that these are ``records``; k grows with them."""
    times = records // 500
    table, _ = distinct_tuples(CODES, HIERARCHIES, weights=np.full(500, times))
    return choose(Task(HIERARCHIES, Constraints(8 * times, 20 * times), recoder, loss), table)


@pytest.mark.parametrize("recoder", ["optimal", "mingen"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_optimum_does_not_depend_on_how_often_every_record_is_there(name: str, recoder: str) -> None:
    want = chosen(name, 500, recoder)
    for records in (10**9, 2_200_000_000, 3_000_000_000, 10**10, 10**12):
        if name == "discernibility" and records > MOST_SQUARED:
            with pytest.raises(InputError) as raised:
                chosen(name, records, recoder)
            assert str(raised.value) == (
                f"anonymize.loss: discernibility must have at most 3,037,000,499 records, got {records:,}: "
                "its sums would not be exact. Take another loss, or a part of the table."
            )
            continue
        found = chosen(name, records, recoder)
        assert (found.levels, found.suppressed) == (want.levels, want.suppressed * (records // 500))
        assert found.loss == pytest.approx(want.loss, rel=1e-5)


@pytest.mark.parametrize("recoder", ["optimal", "mingen"])
def test_without_the_check_discernibility_was_wrong(recoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    want = chosen("discernibility", 500, recoder)
    monkeypatch.setattr(search, "refuse_overflow", lambda *given: None)
    found = chosen("discernibility", 10**10, recoder)
    assert found.loss < 0 < want.loss
    assert found.levels != want.levels


@pytest.mark.parametrize("recoder", ["optimal", "mingen"])
def test_in_units_of_a_table_of_2_to_the_28_entropy_was_wrong(
    recoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = chosen("entropy", 500, recoder)
    monkeypatch.setattr(search, "refuse_overflow", lambda *given: None)
    for module in (cell_losses, cover):
        monkeypatch.setattr(module, "information_bits", lambda records: 30)
    assert chosen("entropy", 3 * 10**8, recoder).loss == pytest.approx(want.loss)
    assert chosen("entropy", 10**9, recoder).loss < want.loss / 10
    assert chosen("entropy", 10**10, recoder).levels != want.levels


def test_mondrian_measures_entropy_of_any_number_of_records() -> None:
    from anon_pipeline.recode.joint import join_counts

    losses = []
    for times in (1, 2 * 10**7):
        joint = join_counts(CODES, (), np.full(500, times), HIERARCHIES)
        losses.append(choose(Task(HIERARCHIES, Constraints(8 * times, 0), "mondrian", "entropy"), joint).loss)
    assert losses[1] == pytest.approx(losses[0], rel=1e-7)


def test_an_information_never_adds_up_to_more_than_63_bits() -> None:
    """The finest unit, and not finer than until now; all records may cost the most."""
    assert {information_bits(n) for n in (0, 1, 2, 10**6, 2**28, 304_788_810)} == {30}
    for records in (304_788_811, 2**30, 10**9, 10**10, 10**12):
        bits = information_bits(records)
        assert bits < 30
        assert records * int(information(np.array([records]), bits)[0]) < 2**63
        assert records * (int(information(np.array([records]), bits + 1)[0]) + 1) >= 2**63
        halves = np.array([records // 2, records - records // 2])
        total = int(halves @ information(halves, bits))
        assert total == sum(int(half) * int(information(np.array([half]), bits)[0]) for half in halves)


def test_cells_that_cost_too_much_for_so_many_records_are_refused() -> None:
    task = Task(HIERARCHIES, Constraints(2, 0), "optimal", "granularity")
    costs = [[np.array([0, 3]), np.array([2**40])], [np.array([7])]]
    assert most_records(task, costs) == (2**63 - 1) // 2**40
    refuse_overflow(task, 2**23 - 1, costs)
    with pytest.raises(InputError, match="granularity must have at most 8,388,607 records, got 8,388,608"):
        refuse_overflow(task, 2**23, costs)
    assert most_records(task, [[np.array([0])]]) is None


def test_records_gone_before_count_where_classes_are_looked_at() -> None:
    task = Task(HIERARCHIES, Constraints(2, 0), "optimal", "discernibility", gone=500)
    refuse_overflow(task, MOST_SQUARED - 500, [])
    with pytest.raises(InputError, match=r"at most 3,037,000,499 records, got 3,037,000,500"):
        refuse_overflow(task, MOST_SQUARED - 499, [])
    assert loss.class_loss("average_class_size").most_records is None
