"""What the table of recoders times: tables in memory, the policies that ask for their recoding.

Belongs here: data and policies, by the case's name. Does not belong here: timing (`recoder_rows`), targets
(`recoders`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.encode.codes import GIVEN, accept
from anon_pipeline.policy import Policy, policy_from
from benchmarks.adult import (
    SET_A,
    SET_B,
    adult_census,
    adult_folder,
    adult_numbers,
    adult_table,
    table_columns,
)

Shape = tuple[tuple[int, tuple[int, ...]], ...]
"""Columns of a generated table: values, and the widths of the intervals between the value and ``*``."""


def nodes_of(shape: Shape) -> int:
    """Count the nodes of a table's lattice.

    >>> nodes_of(((100, (5, 10, 20)), (2, ())))
    10
    """
    return int(np.prod([2 + len(widths) for _, widths in shape], dtype=np.int64))


_SHAPES: Final[tuple[Shape, ...]] = (
    (  # 23,040 nodes
        *((100, (5, 10, 20)), (16, (2, 4)), (40, (5, 20)), (8, (2, 4))),
        *((16, (2, 8)), (8, (2,)), (6, (2,)), (2, ())),
    ),
    (  # 40,960
        *((100, (5, 10, 20)), (16, (2, 4)), (40, (5, 20)), (8, (2, 4))),
        *((16, (2, 8)), (8, (2, 4)), (12, (2, 4)), (2, ())),
    ),
    (  # 25,920, nine columns
        *((100, (5, 10, 20)), (16, (2, 4)), (40, (5, 20)), (8, (2,)), (14, (2,))),
        *((8, (2,)), (6, (2,)), (2, ()), (12, ())),
    ),
)
_GROWING: Final[Shape] = (
    *((96, (2, 4, 8, 24)), (48, (2, 4, 8, 24)), (40, (2, 4, 20)), (16, (2, 4, 8))),
    *((16, (2, 4, 8)), (8, (2, 4)), (8, (2, 4)), (4, (2,))),
)
_STEPS: Final = ((0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 3), (4, 4))


def _growing(first: int, last: int) -> Shape:
    """Keep so many of the widest intervals of the first four and of the last four columns of one table."""
    most = [first] * 4 + [last] * 4
    return tuple(
        (values, widths[max(len(widths) - m, 0) :])
        for (values, widths), m in zip(_GROWING, most, strict=True)
    )


LATTICES: Final = {nodes_of(shape): shape for shape in (*_SHAPES, *(_growing(*step) for step in _STEPS))}
"""Generated tables by the nodes of their lattices; those of growth differ in their hierarchies alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One question to a recoder.

    policy: what is asked.
    frame: accepted data.
    folder: of hierarchy tables.
    """

    policy: Policy
    frame: pd.DataFrame = field(repr=False)
    folder: Path = Path()


def _case(
    columns: Mapping[str, Any], wanted: Mapping[str, Any], frame: pd.DataFrame, folder: Path = Path()
) -> Case:
    policy = policy_from(
        {"name": "case", "source": {"path": "-"}, "columns": dict(columns), "anonymize": dict(wanted)}
    )
    return Case(policy, unpack_table(accept(frame[list(columns)], policy)), folder)


def _adult(names: tuple[str, ...], **wanted: Any) -> Case:
    """Ask for Adult by its hierarchy tables, salary sensitive; k = 5, at most 5 % suppressed."""
    folder = adult_folder()
    columns = {**table_columns(names), "salary-class": {"role": "sensitive"}}
    return _case(columns, {"k": 5, **wanted}, adult_table(folder), folder)


def _given() -> Case:
    """Ask for classes of ten records of Adult that follow each other, sorted by its columns."""
    asked = _adult(SET_B, recoder="given", classes="class", loss="granularity")
    order = asked.frame[list(SET_B)].astype(str).sort_values(list(SET_B)).index
    classes = pd.Series(np.arange(len(order)) // 10, index=order)
    return Case(asked.policy, asked.frame.assign(**{GIVEN: classes}), asked.folder)


def _eight(**wanted: Any) -> Case:
    """Ask for three numbers and five categories of Adult."""
    folder, widths = (
        adult_folder(),
        {"age": [5, 10, 20], "education-num": [2, 4, 8], "hours-per-week": [5, 10, 20]},
    )
    columns = {
        name: {"role": "generalize", "hierarchy": {"intervals": steps}} for name, steps in widths.items()
    }
    columns |= table_columns(("sex", "race", "marital-status", "workclass", "occupation"))
    return _case(columns, wanted, adult_census(folder), folder)


_NUMBER: Final = {"role": "generalize", "hierarchy": {"numbers": True}}


def _numbers(names: tuple[str, ...], *, hours: bool = False, **wanted: Any) -> Case:
    """Ask for numbers of Adult; k = 5; the hours of work sensitive and ordered, t = 0.15, if asked for."""
    columns: dict[str, Any] = dict.fromkeys(names, _NUMBER)
    if hours:
        columns["hours-per-week"] = {"role": "sensitive", "distance": "ordered"}
        wanted["t_closeness"] = {"hours-per-week": 0.15}
    return _case(columns, {"k": 5, "loss": "granularity", **wanted}, adult_numbers(adult_folder()))


def _tree(values: int, widths: tuple[int, ...]) -> dict[str, Any]:
    """Return the taxonomy whose names cover so many words, level by level."""
    if not widths:
        return {"suppress": True}
    nodes: list[tuple[str, Any]] = [(f"word {value}", None) for value in range(values)]
    for finer, width in itertools.pairwise((1, *widths)):
        step = width // finer
        blocks = [nodes[start : start + step] for start in range(0, len(nodes), step)]
        below: list[Any] = [dict(block) if finer > 1 else [name for name, _ in block] for block in blocks]
        nodes = [(f"{width} words, {number}", block) for number, block in enumerate(below)]
    return {"tree": dict(nodes)}


def generated(records: int, shape: Shape, *, seed: int = 0) -> tuple[dict[str, Any], pd.DataFrame]:
    """Make a table of independent columns, low values frequent: numbers and texts in turn.

    Args:
        records: at least 1.
        shape: of the columns.
        seed: of the values; tables of one shape begin with the same distribution whatever their length.
    Returns:
        The columns' roles and hierarchies; (records, columns) the table.
    """
    columns, data = {}, {}
    for i, (values, widths) in enumerate(shape):
        drawn = np.random.default_rng([seed, i]).exponential(values / 4, records)
        codes = np.minimum(drawn.astype(np.int64), values - 1)
        if i % 2:
            words = pd.array([f"word {value}" for value in range(values)], dtype="str")
            data[f"words {i}"] = pd.Series(words.take(codes))
            columns[f"words {i}"] = {"role": "generalize", "hierarchy": _tree(values, widths)}
        else:
            data[f"numbers {i}"] = pd.Series(codes)
            steps = {"intervals": list(widths)} if widths else {"numbers": True}
            columns[f"numbers {i}"] = {"role": "generalize", "hierarchy": steps}
    return columns, pd.DataFrame(data)


def _distinct(records: int, columns: int, **wanted: Any) -> Case:
    """Ask for normal numbers, nearly all records distinct."""
    values = np.random.default_rng(0).normal(0, 1000, (records, columns)).round().astype(np.int64)
    frame = pd.DataFrame(values, columns=[f"numbers {i}" for i in range(columns)])
    return _case(dict.fromkeys(frame.columns, _NUMBER), {"k": 5, "loss": "granularity", **wanted}, frame)


def grown(recoder: str, records: int, nodes: int, loss: str = "precision") -> Case:
    """Ask for a generated table.

    Args:
        recoder: by its name; microaggregation gets four numeric columns instead.
        records: at least 5.
        nodes: one of `LATTICES`.
        loss: by its name.
    """
    if recoder in ("mdav", "vmdav"):
        return _distinct(records, 4, recoder=recoder)
    return _generated(records, nodes, recoder=recoder, loss=loss)


def _generated(records: int, nodes: int, **wanted: Any) -> Case:
    columns, frame = generated(records, LATTICES[nodes])
    return _case(columns, {"k": 5, **wanted}, frame)


_FOUR: Final = ("age", "fnlwgt", "education-num", "hours-per-week")
_LOSSES: Final = (
    *("precision", "granularity", "discernibility", "average_class_size", "entropy", "classification"),
)
_LIMITS: Final[dict[str, dict[str, Any]]] = {
    "t": {"t_closeness": {"salary-class": 0.2}},
    "entropy_l": {"l_diversity": {"salary-class": {"kind": "entropy", "l": 1.3}}},
    "recursive_l": {"l_diversity": {"salary-class": {"kind": "recursive", "l": 2, "c": 4}}},
}
_DECADES: Final = {name: 2 if name == "age" else 0 for name in SET_B}
_BEST: Final = dict(zip(SET_B, (0, 3, 0, 1, 2, 1, 1, 1), strict=True))  # what optimal finds by granularity
_LATTICE: Final = ("ola", "incognito", "samarati", "datafly", "mingen")
_OTHERS: Final = (*_LATTICE, "top_down", "annealing", "genetic", "k_optimize", "mondrian", "mondrian_relaxed")

CASES: Final[dict[str, Callable[[], Case]]] = {
    "set_a": partial(_adult, SET_A, recoder="optimal"),
    **{
        f"b_{loss}": partial(
            _adult,
            SET_B,
            recoder="optimal",
            loss=loss,
            **({"target": "salary-class"} if loss == "classification" else {}),
        )
        for loss in _LOSSES
    },
    "b_cells": partial(_adult, SET_B, recoder="optimal", loss="granularity", suppress="cells"),
    **{f"b_{name}": partial(_adult, SET_B, recoder=name, loss="granularity") for name in _OTHERS},
    "b_local_suppression": partial(
        _adult, SET_B, recoder="fixed", loss="granularity", levels=_DECADES, suppress="cells"
    ),
    "b_fixed": partial(_adult, SET_B, recoder="fixed", loss="granularity", levels=_BEST),
    "b_given": _given,
    **{
        f"{limit}_{loss}": partial(_adult, SET_B, recoder="optimal", loss=loss, **wanted)
        for limit, wanted in _LIMITS.items()
        for loss in ("granularity", "average_class_size")
    },
    **{
        f"t_{name}": partial(_adult, SET_B, recoder=name, loss="granularity", **_LIMITS["t"])
        for name in _OTHERS
    },
    "eight": partial(_eight, k=10, recoder="mondrian", loss="granularity"),
    "million_mondrian": partial(_generated, 1_000_000, 23_040, recoder="mondrian", loss="granularity"),
    **{
        name: partial(_numbers, _FOUR, recoder=name)
        for name in ("mdav", "vmdav", "k_member", "one_pass", "local", "forest")
    },
    "b_local": partial(_adult, SET_B, recoder="local", loss="granularity"),
    "b_forest": partial(_adult, SET_B, recoder="forest", loss="granularity"),
    "t_local": partial(_adult, SET_B, recoder="local", loss="granularity", **_LIMITS["t"]),
    "t_forest": partial(_adult, SET_B, recoder="forest", loss="granularity", **_LIMITS["t"]),
    "numbers_mondrian": partial(_numbers, _FOUR, recoder="mondrian"),
    "univariate": partial(_numbers, ("fnlwgt",), recoder="univariate"),
    **{
        name: partial(_numbers, _FOUR[:3], hours=True, recoder=name)
        for name in ("merge", "kanon_first", "tclose_first")
    },
    "hours_mondrian": partial(_numbers, _FOUR[:3], hours=True, recoder="mondrian"),
    **{
        f"{name}_{loss}": partial(_generated, records, nodes, recoder="optimal", loss=loss)
        for name, nodes, records in (("23k", 23_040, 60_000), ("41k", 40_960, 100_000))
        for loss in _LOSSES[:4]
    },
    **{
        f"million_{loss}": partial(
            _generated, 1_000_000, 25_920, recoder="optimal", loss=loss, suppression_limit=0
        )
        for loss in ("precision", "granularity")
    },
}
"""Each case by its name; calling an entry makes the data."""
