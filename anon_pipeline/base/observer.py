"""How whoever waits learns what is done: one observer, called with each event. Names and counts, no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple


class Step(NamedTuple):
    """A step of the work begins, such as a stage."""

    name: str


class Progress(NamedTuple):
    """How far a long search is.

    doing: ``loading`` while kernels are loaded, or compiled where that never happened on this machine;
        ``searching`` a lattice; ``dividing`` records into classes.
    counted: nodes, or records that are in a class.
    left: nodes that are not ruled out yet, an upper bound; or the other records.
    """

    doing: Literal["loading", "searching", "dividing"]
    counted: int = 0
    left: int = 0

    def as_text(self) -> str:
        """Say it in words."""
        if self.doing == "loading":
            return "loading kernels; compiling them takes a while, once on a machine"
        if self.doing == "dividing":
            return f"{self.counted:,} records in classes, {self.left:,} left"
        return f"{self.counted:,} nodes counted, at most {self.left:,} left"


Observer = Callable[[Step | Progress], None]


def ignore(event: Step | Progress) -> None:
    """Observe nothing."""
