"""What a change of a policy's field does to protection: the mark of a field that says it, and its kinds.

The mark is part of the field's declaration, as those of `policy.marks` are. Of a field without it nobody has
said what a change does: it cannot be compared, and is never taken for neutral.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from pydantic.fields import FieldInfo

from anon_pipeline.catalog.mechanisms import MECHANISMS


class Effect(StrEnum):
    """What a change does to protection."""

    STRENGTHENS = "strengthens"
    WEAKENS = "weakens"
    NEUTRAL = "neutral"
    UNKNOWN = "cannot be compared"

    @property
    def safe(self) -> bool:
        """Whether the change certainly weakens nothing."""
        return self in (Effect.STRENGTHENS, Effect.NEUTRAL)


Compare = Callable[[Any, Any], Effect]


@dataclass(frozen=True, slots=True)
class Protects:
    """How two values of the field compare.

    compare: from the value before and the value after, which differ, to what the change does.
    floor: whether an organization can say which value is the weakest that it accepts, see `limits.floor`.
    """

    compare: Compare
    floor: bool = False


def together(*effects: Effect) -> Effect:
    """Return what several changes of one thing do: opposite ones cannot be compared.

    >>> str(together(Effect.NEUTRAL, Effect.WEAKENS)), str(together(Effect.STRENGTHENS, Effect.WEAKENS))
    ('weakens', 'cannot be compared')
    """
    found = set(effects) - {Effect.NEUTRAL}
    if not found:
        return Effect.NEUTRAL
    return found.pop() if len(found) == 1 else Effect.UNKNOWN


def by_number(before: float, after: float, *, larger: Effect = Effect.STRENGTHENS) -> Effect:
    """Compare two numbers, of which the larger one protects more, or less if ``larger`` says so."""
    if before == after:
        return Effect.NEUTRAL
    opposite = {Effect.STRENGTHENS: Effect.WEAKENS, Effect.WEAKENS: Effect.STRENGTHENS}[larger]
    return larger if after > before else opposite


def _number(larger: Effect, absent: Effect, floor: bool = True) -> Protects:
    """Compare numbers; what setting one does that was absent, ``absent`` says."""
    opposite = {Effect.STRENGTHENS: Effect.WEAKENS, Effect.WEAKENS: Effect.STRENGTHENS}

    def compare(before: Any, after: Any) -> Effect:
        """Compare two numbers, either of which may be absent."""
        if before is None or after is None:
            return absent if before is None else opposite.get(absent, absent)
        return by_number(before, after, larger=larger)

    return Protects(compare, floor)


MORE = _number(Effect.STRENGTHENS, absent=Effect.STRENGTHENS)
"""The larger number protects more; none protects least."""

LESS = _number(Effect.WEAKENS, absent=Effect.STRENGTHENS)
"""The smaller number protects more; none protects least."""

LESS_IF_SET = _number(Effect.WEAKENS, absent=Effect.WEAKENS)
"""The smaller number protects more; none protects most."""

MORE_IF_SET = _number(Effect.STRENGTHENS, absent=Effect.WEAKENS)
"""The larger number protects more; none protects most: a time that never ends."""

NEUTRAL = Protects(lambda before, after: Effect.NEUTRAL)
"""The field decides nothing of what is promised to people."""

JUDGED = Protects(lambda before, after: Effect.NEUTRAL)
"""What the field decides is all in the demands of limits; where these are equal, nothing has changed."""


def by_rank(*weakest_first: Any) -> Protects:
    """Compare by the place in a list; what is not in it cannot be compared."""

    def compare(before: Any, after: Any) -> Effect:
        """Compare two values by their places in the list."""
        if before not in weakest_first or after not in weakest_first:
            return Effect.UNKNOWN
        return by_number(weakest_first.index(before), weakest_first.index(after))

    return Protects(compare, floor=True)


def rank_by(rank: Callable[[Any], float | None], *, equal: Effect = Effect.UNKNOWN) -> Protects:
    """Compare by a number that an entry's traits give; None, of either, cannot be compared.

    Args:
        equal: of different values with one rank.
    """

    def compare(before: Any, after: Any) -> Effect:
        """Compare two values by their ranks."""
        ranks = rank(before), rank(after)
        if ranks[0] is None or ranks[1] is None:
            return Effect.UNKNOWN
        return equal if ranks[0] == ranks[1] else by_number(ranks[0], ranks[1])

    return Protects(compare)


def _set_or_not(before: Any, after: Any) -> Effect:
    if (before is None) == (after is None):
        return Effect.UNKNOWN
    return Effect.STRENGTHENS if before is None else Effect.WEAKENS


PRESENT = Protects(_set_or_not)
"""That it is set protects, and that it is not set does not; two values of it cannot be compared."""


def _fewer(before: Collection[Any], after: Collection[Any]) -> Effect:
    """Compare exceptions: the fewer, the better; a mapping's texts are reasons, which protect nobody."""
    kept, found = (set(one) if isinstance(one, Mapping) else {*one} for one in (before, after))
    if kept == found:
        return Effect.NEUTRAL
    if found < kept:
        return Effect.STRENGTHENS
    return Effect.WEAKENS if kept < found else Effect.UNKNOWN


FEWER = Protects(_fewer)
"""A collection of exceptions, of which each less protects more."""


def _wider(before: tuple[float, float] | None, after: tuple[float, float] | None) -> Effect:
    if before is None or after is None:
        return Effect.UNKNOWN
    if after[0] <= before[0] and before[1] <= after[1]:
        return Effect.STRENGTHENS
    return Effect.WEAKENS if before[0] <= after[0] and after[1] <= before[1] else Effect.UNKNOWN


WIDER = Protects(_wider)
"""Bounds between which noise hides every difference: the wider, the more noise."""


def _proportion(before: Any, after: Any) -> Effect:
    if not before or not after or len(before) != len(after):
        return Effect.UNKNOWN
    one, other = ([Fraction(repr(float(each))) for each in shares] for shares in (before, after))
    same = all(x * sum(other) == y * sum(one) for x, y in zip(one, other, strict=True))
    return Effect.NEUTRAL if same else Effect.UNKNOWN


PROPORTION = Protects(_proportion)
"""Shares, of which only the proportion counts."""


def _coarser(before: float | None, after: float | None) -> Effect:
    if before is None or after is None:
        return _set_or_not(before, after)
    if before == after:
        return Effect.NEUTRAL
    ratio = max(before, after) / min(before, after)
    if abs(ratio - round(ratio)) > 1e-9:
        return Effect.UNKNOWN
    return by_number(before, after)


COARSER = Protects(_coarser)
"""A step to which values are rounded: a multiple of it is coarser, other steps cannot be compared."""


def _sooner(before: Any, after: Any) -> Effect:
    """Compare how long private tables stay: days, or until the next release, which may be at any time."""
    if "none" in (before, after):
        return Effect.WEAKENS if before == "none" else Effect.STRENGTHENS
    if "last" in (before, after):
        return Effect.UNKNOWN
    return by_number(before, after, larger=Effect.WEAKENS)


SOONER = Protects(_sooner)
"""How long something private stays: the sooner it goes, the better."""

_PROMISES = ("nothing", "epsilon and delta", "epsilon")  # weakest first
BY_PROMISE = rank_by(lambda name: _PROMISES.index(MECHANISMS[name].promises))
"""Kinds of noise for numbers by what they promise; those that promise the same cannot be compared."""


def protection_of(field: FieldInfo) -> Protects | None:
    """Return the mark of a field; None where nobody has said what a change of it does."""
    return next((mark for mark in field.metadata if isinstance(mark, Protects)), None)
