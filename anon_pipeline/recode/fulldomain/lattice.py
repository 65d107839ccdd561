"""The generalization lattice: a node is a level per attribute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.recode.task import MOST_NODES


@dataclass(frozen=True, slots=True)
class Lattice:
    """All nodes of the lattice; arrays over the nodes have this ``shape``.

    The flat index counts in C order, so it sorts nodes as their levels sort lexicographically.

    shape: (h1, …, hq), levels of each attribute.
    steps: distance between the flat indices of a node and its successor along each attribute.
    """

    shape: tuple[int, ...]
    steps: tuple[int, ...]

    @property
    def size(self) -> int:
        """Nodes."""
        return math.prod(self.shape)

    def levels(self, index: int) -> tuple[int, ...]:
        """Return the levels of a node."""
        return tuple(index // step % height for step, height in zip(self.steps, self.shape, strict=True))

    def index(self, levels: tuple[int, ...]) -> int:
        """Return the flat index of a node."""
        return sum(level * step for level, step in zip(levels, self.steps, strict=True))

    def down(self, levels: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the numpy index of a node and everything less general."""
        return (*(slice(0, level + 1) for level in levels), ...)

    def up(self, levels: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the numpy index of a node and everything more general."""
        return (*(slice(level, None) for level in levels), ...)

    def successors(self, index: int) -> list[int]:
        """Return the nodes one level above along each attribute that has such a level."""
        return [
            index + step
            for step, height in zip(self.steps, self.shape, strict=True)
            if index // step % height < height - 1
        ]

    def predecessors(self, index: int) -> list[int]:
        """Return the nodes one level below along each attribute that has such a level."""
        return [
            index - step
            for step, height in zip(self.steps, self.shape, strict=True)
            if index // step % height > 0
        ]

    def totals(self) -> NDArray[np.int64]:
        """Return the total level of every node, in ``shape``."""
        total = np.zeros(self.shape, np.int64)
        for attribute, height in enumerate(self.shape):
            total += along(self, attribute, np.arange(height))
        return total


class Axes(NamedTuple):
    """A lattice for kernels: (q,) levels of each attribute, (q,) distance of a node's successor along it."""

    heights: NDArray[np.int64]
    steps: NDArray[np.int64]


def axes_of(nodes: Lattice) -> Axes:
    """Lay out a lattice for kernels."""
    return Axes(np.array(nodes.shape, np.int64), np.array(nodes.steps, np.int64))


def along(nodes: Lattice, attribute: int, values: NDArray[Any]) -> NDArray[Any]:
    """Shape a value per level of one attribute so that it broadcasts over the lattice."""
    return values.reshape([-1 if axis == attribute else 1 for axis in range(len(nodes.shape))])


def lattice(shape: tuple[int, ...], *, most: int = MOST_NODES) -> Lattice:
    """Make the lattice over attributes with these numbers of levels.

    Raises:
        InputError: more than ``most`` nodes; a search keeps an array over all of them.

    >>> nodes = lattice((2, 3))
    >>> nodes.size, nodes.levels(4), nodes.index((1, 1)), nodes.successors(1)
    (6, (1, 1), 4, [4, 2])
    """
    nodes = math.prod(shape)
    if nodes > most:
        raise InputError(
            f"The lattice of the hierarchies must have at most {most:,} nodes, got {nodes:,}. "
            "Use fewer levels, fewer columns to generalize, or a Mondrian recoder."
        )
    return Lattice(shape, tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape))))
