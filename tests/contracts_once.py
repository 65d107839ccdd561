"""Proving the judges of a contract once in a process, instead of before each of thousands of tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from anon_pipeline.stages.contracts import stages, witness
from anon_pipeline.stages.contracts.shape import Contract
from anon_pipeline.stages.contracts.witness import list_missed_breaks

if TYPE_CHECKING:
    import pytest


def prove_contracts_once(patch: pytest.MonkeyPatch) -> None:
    """Remember which contracts are proven; every table is still judged by both judges.

    The proof depends on the contract and on the judges alone. It is asked again for a contract of other
    columns, types, rules or values that must be refused, and always after it has failed. Tests that switch
    judges off, or break them, undo this (`tests/stages/contracts/test_witness.py`).

    Our own judge is asked for each content. Pandera, which takes nearly all of the time, only runs the same
    functions, in one column for each kind of rule: it is asked again for another combination of kinds.
    """
    proven, ran = set(), set()
    probes, here = witness.breaks_of_each_kind, threading.local()

    def probes_once(contract: Contract) -> Iterator[tuple[pd.DataFrame, set[str]]]:
        known = getattr(here, "once", False) and _kinds(contract) in ran
        return iter(()) if known else probes(contract)

    def once(contract: Contract) -> list[str]:
        content = _content(contract)
        if content in proven:
            return []
        here.once = True
        try:
            missed = list_missed_breaks(contract)
        finally:
            here.once = False
        if not missed:
            proven.add(content)
            ran.add(_kinds(contract))
        return missed

    patch.setattr(witness, "breaks_of_each_kind", probes_once)
    patch.setattr(stages, "list_missed_breaks", once)


def _kinds(contract: Contract) -> Any:
    """Return which kinds of columns a contract has: type, whether values may be missing, names of rules."""
    return frozenset(
        (shape.dtype, shape.nullable, tuple(rule.name for rule in shape.rules))
        for shape in contract.columns.values()
    )


def _content(contract: Contract) -> Any:
    """Return all that the proof is about, as a key."""
    return tuple(
        (name, shape.dtype, shape.nullable, tuple((rule.name, _values(rule.bad)) for rule in shape.rules))
        for name, shape in contract.columns.items()
    )


def _values(columns: Any) -> Any:
    return tuple((str(column.dtype), *map(repr, column.tolist())) for column in columns)
