"""Proving the judges of a contract once in a process, instead of before each of thousands of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anon_pipeline.stages.contracts import stages
from anon_pipeline.stages.contracts.shape import Contract
from anon_pipeline.stages.contracts.witness import list_missed_breaks

if TYPE_CHECKING:
    import pytest


def prove_contracts_once(patch: pytest.MonkeyPatch) -> None:
    """Remember which contracts are proven; every table is still judged by both judges.

    The proof depends on the contract and on the judges alone. It is asked again for a contract of other
    columns, types, rules or values that must be refused, and always after it has failed. Tests that switch
    judges off, or break them, undo this (`tests/stages/contracts/test_witness.py`).
    """
    proven = set()

    def once(contract: Contract) -> list[str]:
        content = _content(contract)
        if content in proven:
            return []
        missed = list_missed_breaks(contract)
        if not missed:
            proven.add(content)
        return missed

    patch.setattr(stages, "list_missed_breaks", once)


def _content(contract: Contract) -> Any:
    """Return all that the proof is about, as a key."""
    return tuple(
        (name, shape.dtype, shape.nullable, tuple((rule.name, _values(rule.bad)) for rule in shape.rules))
        for name, shape in contract.columns.items()
    )


def _values(columns: Any) -> Any:
    return tuple((str(column.dtype), *map(repr, column.tolist())) for column in columns)
