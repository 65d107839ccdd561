"""Hierarchies that somebody wrote down: a table file, or a taxonomy tree in the policy."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import (
    HIERARCHY_BYTES,
    HIERARCHY_LEVELS,
    HIERARCHY_LINE,
    HIERARCHY_ROWS,
    BoundedLines,
    file_size,
    limit_error,
)
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.policy.hierarchies import Order, Table, Tree


def read_table(path: Path, *, separator: str = ";") -> list[NDArray[np.object_]]:
    """Read a hierarchy table without header: ``leaf;level 1;…;top``, a line per leaf.

    Args:
        path: UTF-8 CSV file; lines that are empty are passed over.
    Returns:
        One array (D,) per level.
    Raises:
        InputError: unreadable, empty, too large, lines of different length, or fields without a value.
    """
    with withhold_text(f"{path.name}: must be a readable UTF-8 table", OSError, ValueError, csv.Error):
        size = file_size(path)
        if size > HIERARCHY_BYTES:
            raise limit_error(path.name, "of a hierarchy's bytes", HIERARCHY_BYTES, got=size)
        rows = list(_rows(path, separator))
    if not rows:
        raise InputError(f"{path.name}: must have at least one line, got none")
    width = len(rows[0])
    ragged = sum(len(row) != width for row in rows)
    if ragged or width < 2:
        raise InputError(
            f"{path.name}: every line must have the same number of fields, at least two (leaf and top), "
            f"got {width} in the first and {ragged} lines that differ"
        )
    empty = sum("" in row for row in rows)
    if empty:
        raise InputError(f"{path.name}: every field must have a value, got {empty} lines with an empty one")
    return [np.array([row[level] for row in rows], dtype=object) for level in range(width)]


def _rows(path: Path, separator: str) -> Iterator[list[str]]:
    """Yield a table's lines as fields; stop at the limits of a hierarchy."""
    too_long = limit_error(path.name, "of a hierarchy's line", HIERARCHY_LINE)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = BoundedLines(file, HIERARCHY_LINE, too_long)
        for count, row in enumerate(csv.reader(lines, delimiter=separator)):
            lines.next_record()
            if count >= HIERARCHY_ROWS:
                raise limit_error(path.name, "of a hierarchy's rows", HIERARCHY_ROWS)
            if len(row) > HIERARCHY_LEVELS:
                raise limit_error(path.name, "of a hierarchy's levels", HIERARCHY_LEVELS, got=len(row))
            if row:
                yield [field.strip() for field in row]


def table_leaves(column: str, spec: Table, folder: Path) -> list[str]:
    """Return the leaves of a hierarchy table, in its order; see `read_table`."""
    return list(read_table(folder / spec.table, separator=spec.separator)[0])


def tree_leaves(column: str, spec: Tree, folder: Path) -> list[str]:
    """Return the leaves of a taxonomy, in its order; see `tree_levels`."""
    return list(tree_levels(column, spec.tree)[0])


def order_leaves(column: str, spec: Order, folder: Path) -> list[str]:
    """Return the values that an order lists, the lowest first."""
    return list(spec.order)


def tree_levels(column: str, tree: Mapping[str, Any]) -> list[NDArray[np.object_]]:
    """Flatten a taxonomy: nested mappings, lists of leaves at the bottom; ``*`` is added on top.

    Args:
        tree: name → subtree, or name → list of leaves.
    Returns:
        One array (D,) per level, leaves first.
    Raises:
        InputError: leaves at different depths, or something that is neither mapping, list nor name.
    """
    paths = list(_paths(column, tree, ()))
    depths = sorted({len(path) for path in paths})
    if len(depths) != 1:
        raise InputError(
            f"{column}: all leaves of a tree must be at the same depth, got depths {depths or 'none'}"
        )
    levels = [np.array([path[depth] for path in paths], dtype=object) for depth in reversed(range(depths[0]))]
    return [*levels, np.full(len(paths), TOP, dtype=object)]


def _paths(column: str, tree: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(tree, Mapping) and tree:
        for name, below in tree.items():
            yield from _paths(column, below, (*above, str(name)))
    elif _is_list(tree) and all(isinstance(leaf, (str, int, float)) for leaf in tree):
        yield from ((*above, str(leaf)) for leaf in tree)
    else:
        raise InputError(
            f"{column}: a tree must be made of mappings with lists of leaves, none of them empty"
        )


def _is_list(tree: Any) -> bool:
    return isinstance(tree, (list, tuple)) and bool(tree)
