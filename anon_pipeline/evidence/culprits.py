"""Which single column to make coarser first, of combinations that single people out together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Culprit:
    """A column without which none of some combinations is left.

    name: of the column.
    sets: the combinations that hold it, and no culprit that stands before it; in their order.
    """

    name: str
    sets: tuple[tuple[str, ...], ...]

    @property
    def others(self) -> list[tuple[str, ...]]:
        """What the column is combined with, for each of the combinations."""
        return [tuple(name for name in columns if name != self.name) for columns in self.sets]


def culprits(
    sets: Sequence[tuple[str, ...]], different: Mapping[str, int], *, named: Collection[str] = ()
) -> list[Culprit]:
    """Find few columns so that every combination holds one of them, those in most combinations first.

    Args:
        sets: combinations of columns.
        different: how many different values each column has; of columns that are in as many combinations
            the one with the most is chosen.
        named: columns that must be changed anyway: they are chosen before others.
    Returns:
        Each combination under one culprit.

    >>> found = culprits([("a", "b"), ("b", "c"), ("b", "d", "e"), ("e", "f")], dict.fromkeys("abcdef", 2))
    >>> [(one.name, one.others) for one in found]
    [('b', [('a',), ('c',), ('d', 'e')]), ('e', [('f',)])]
    """
    left, found = list(sets), list[Culprit]()
    while left:
        names = list(dict.fromkeys(name for columns in left for name in columns))
        many = {name: sum(name in columns for columns in left) for name in names}
        first = max(names, key=lambda name: (name in named, many[name], different[name]))
        found.append(Culprit(first, tuple(columns for columns in left if first in columns)))
        left = [columns for columns in left if first not in columns]
    return found
