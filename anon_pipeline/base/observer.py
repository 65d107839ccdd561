"""How whoever waits learns what is done: one observer, called with each event. Names and counts, no data."""

from __future__ import annotations

import warnings
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


def observer_of(told: Callable[[str], None] | None, searching: Callable[[Progress], None] | None) -> Observer:
    """Return one observer for the two callbacks of 0.1.0, with a warning that names what replaces them."""
    warnings.warn(
        "told and searching are deprecated: pass observe, which is called with each Step and Progress.",
        DeprecationWarning,
        stacklevel=3,
    )

    def observe(event: Step | Progress) -> None:
        if isinstance(event, Step):
            if told is not None:
                told(event.name)
        elif searching is not None:
            searching(event)

    return observe
