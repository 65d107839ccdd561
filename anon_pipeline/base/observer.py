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
        ``compiling`` one; ``searching`` a lattice; ``dividing`` records into classes.
    counted: kernels compiled, the one at work among them; nodes, or records that are in a class.
    left: nodes that are not ruled out yet, an upper bound; or the other records.
    """

    doing: Literal["loading", "compiling", "searching", "dividing"]
    counted: int = 0
    left: int = 0

    def as_text(self) -> str:
        """Say it in words, no closer than how long it takes says: counts to a power of two.

        The exact counts depend on the data; a bar on a terminal has them, a log has not.
        """
        if self.doing == "loading":
            return "loading kernels; compiling them takes a while, once on a machine"
        if self.doing == "compiling":
            return f"compiling kernels, once on a machine: {self.counted}"
        if self.doing == "dividing":
            return f"more than {_power_below(self.counted):,} records in classes"
        if not _power_below(self.counted):
            return "comparing combinations of levels (nodes)"
        return f"more than {_power_below(self.counted):,} nodes counted (combinations of levels)"


def _power_below(count: int) -> int:
    """Return the largest power of two below a count; 0 for none."""
    return 0 if count < 2 else 1 << ((count - 1).bit_length() - 1)


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
        """Pass a step's name to one callback, progress to the other."""
        if isinstance(event, Step):
            if told is not None:
                told(event.name)
        elif searching is not None:
            searching(event)

    return observe
