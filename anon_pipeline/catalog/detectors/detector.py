"""A detector: the forms that one kind of identifier has, and how likely other values have them by chance."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

_SLACK = 2  # digits of real columns are not random: twice the chance rate is still taken for chance


class Unlike(Protocol):
    """Tells of a column's different values that they are others, which merely have an identifier's form."""

    def __call__(self, texts: Sequence[str], *, numbers: bool) -> bool:
        """Judge values, (v,); ``numbers``: digits alone, none with zeros written in front."""
        ...


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an identifier.

    shape: what a candidate looks like, in normalized text.
    valid: whether a candidate is valid (check digit, structure); None: the shape is enough.
    chance: probability that a random candidate is valid; 0 where a candidate is not there by chance.
    alone: one match is enough, anywhere in a text. Else the whole cell must be a candidate, and the share of
        the valid ones must be more than chance.
    needs: of a form that is enough alone: an expression without looking around (RE2) that finds whatever the
        shape does, for a first, fast look.
    share: least share of a column's different values that must be valid; for forms without a check digit,
        which many other numbers have.
    """

    shape: re.Pattern[str]
    valid: Callable[[str], object] | None = None
    chance: float = 0.0
    alone: bool = False
    share: float = 0.0
    needs: str = ""
    counts: Callable[[str], object] | None = None
    others: re.Pattern[str] | None = None
    unlike: Unlike | None = None
    loose: bool = False

    @property
    def tolerated(self) -> float:
        """Share of valid candidates up to which a column is taken for one of other values."""
        return self.chance if self.share else min(1.0, _SLACK * self.chance)

    @property
    def enough(self) -> float:
        """Share of valid candidates from which on a form that is enough alone is not there by chance."""
        return self.share or 0.5

    def fits(self, candidate: str) -> bool:
        """Tell whether a candidate is an identifier; what the check cannot read is none."""
        return _answer(self.valid, candidate)

    def is_candidate(self, candidate: str) -> bool:
        """Tell whether chance may make a text of the shape valid."""
        return _answer(self.counts, candidate)


def _answer(question: Callable[[str], object] | None, text: str) -> bool:
    try:
        return question is None or bool(question(text))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of identifier.

    name: in a policy (`allow`) and a manifest.
    words: for people, in the plural.
    forms: each way to write it.
    examples: invented identifiers, of forms of which one is enough: a gate must refuse each.
    """

    name: str
    words: str
    forms: tuple[Form, ...]
    examples: tuple[str, ...] = ()
