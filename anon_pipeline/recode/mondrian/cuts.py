"""The cuts of a finished division as a tree: it finds the class of leaf codes that are not in memory yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """The p − 1 cuts between p parts, in the order of the parts.

    axes: (p − 1,) axis of each cut.
    bounds: (p − 1,) greatest position on its left.
    numbers: (p − 1,) order in which the cuts were made: a cut came before those within its halves.
    """

    axes: NDArray[np.int64] = field(repr=False)
    bounds: NDArray[np.int64] = field(repr=False)
    numbers: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class CutClasses:
    """Classes by cuts of number lines; a record goes left or right at each until it is in a part.

    positions: q arrays (D,): position of each leaf on its column's axis.
    axes, bounds: of `Cuts`.
    lower, upper: (p − 1,) where it goes on from each cut: the next cut, or −1 − a part.
    root: the first cut, or −1 for the only part.
    classes: (p,) class of each part.
    """

    positions: tuple[NDArray[np.int64], ...] = field(repr=False)
    axes: NDArray[np.int64] = field(repr=False)
    bounds: NDArray[np.int64] = field(repr=False)
    lower: NDArray[np.int64] = field(repr=False)
    upper: NDArray[np.int64] = field(repr=False)
    root: int
    classes: NDArray[np.int64] = field(repr=False)

    def find(self, leaves: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the class of each record, (b,); nothing is suppressed.

        Args:
            leaves: (b, q) leaf codes.
        """
        own = np.empty((len(self.positions), len(leaves)), np.int64)
        for column, positions in enumerate(self.positions):
            own[column] = positions[leaves[:, column]]
        parts = np.empty(len(leaves), np.int64)
        _descend(own, (self.axes, self.bounds), (self.lower, self.upper), self.root, parts)
        return self.classes[parts]


def cut_classes(
    cuts: Cuts, positions: tuple[NDArray[np.int64], ...], classes: NDArray[np.int64]
) -> CutClasses:
    """Make the classes of a division findable.

    Args:
        positions: q arrays (D,): position of each leaf on its column's axis.
        classes: (p,) class of each part.
    """
    lower, upper = np.empty(len(cuts.axes), np.int64), np.empty(len(cuts.axes), np.int64)
    root = int(_link(cuts.numbers, lower, upper))
    return CutClasses(positions, cuts.axes, cuts.bounds, lower, upper, root, classes)


@kernel
def _link(numbers: NDArray[np.int64], lower: NDArray[np.int64], upper: NDArray[np.int64]) -> int:
    """Link cuts to the tree whose every cut comes before those below it; return the first of all, or −1.

    Args:
        numbers: (c,) order in which the cuts were made, each its own.
        lower, upper: (c,) out: the next cut, or −1 − a part.
    """
    above, depth = np.empty(len(numbers), np.int64), 0
    for cut in range(len(numbers)):
        # The cuts on the right edge that came later hang below this one, to its left.
        last = -1 - cut
        while depth > 0 and numbers[above[depth - 1]] > numbers[cut]:
            depth -= 1
            last = above[depth]
        lower[cut], upper[cut] = last, -2 - cut
        if depth > 0:
            upper[above[depth - 1]] = cut
        above[depth] = cut
        depth += 1
    return above[0] if depth > 0 else -1


@kernel
def _descend(
    positions: NDArray[np.int64],
    cuts: tuple[NDArray[np.int64], NDArray[np.int64]],
    following: tuple[NDArray[np.int64], NDArray[np.int64]],
    root: int,
    parts: NDArray[np.int64],
) -> None:
    """Write the part of every record.

    Args:
        positions: (q, b) of each record on each axis.
        cuts: (c,) axes, (c,) greatest positions on the left.
        following: (c,) lower, (c,) upper.
        root: of `CutClasses`.
        parts: (b,) out.
    """
    axes, bounds = cuts
    lower, upper = following
    for record in range(len(parts)):
        at = root
        while at >= 0:
            at = lower[at] if positions[axes[at], record] <= bounds[at] else upper[at]
        parts[record] = -1 - at
