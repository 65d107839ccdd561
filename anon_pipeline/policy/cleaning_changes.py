"""What a change of the section ``clean`` does to protection, key by key, of the columns that it is about.

Whatever a policy promises, it promises of the values after cleaning. So how a number or a day is written does
not matter; whether more texts become one value, or a missing one, does.

Belongs here: the comparison of two policies' cleaning. Does not belong here: how one column is cleaned
(`policy.column_cleaning`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.cleaning import Clean
from anon_pipeline.policy.column_cleaning import ColumnCleaning, column_cleaning
from anon_pipeline.policy.columns import Generalize, Identifier, Perturb
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.protection import LESS, Compare, Effect, by_number

_AS_WRITTEN = frozenset({"decimal", "thousands", "currency", "percent", "format"})
_BY_VALUE = _AS_WRITTEN | {"unicode"}
_UNICODE = {None: 0, "NFC": 1, "NFD": 1, "NFKC": 2, "NFKD": 2}
_MERGING = frozenset({"strip", "unicode", "case"})

AS_WRITTEN = "how numbers or days are written"
FEWER_VALUES = "more texts become one value, or none"
MORE_VALUES = "more texts stay different values"
NOT_RELEASED = "not released"
TELLS_APART = "tells people apart"
OTHER_VALUES = "what is generalized or rounded may then be another value"
BOTH = "a text is in missing and in values"
MAPPED = "the column's map of values then applies to other texts"


@dataclass(frozen=True, slots=True)
class CleaningChange:
    """One key by which columns are cleaned otherwise.

    key: as in the section ``clean``.
    before, after: values of the key.
    note: why it has this effect; empty where there is nothing to say.
    columns: which ones; all have the same values before and after.
    """

    key: str
    effect: Effect
    before: Any
    after: Any
    note: str
    columns: tuple[str, ...]


def cleaning_changes(before: Policy, after: Policy) -> list[CleaningChange]:
    """Say what differs in how the columns that both policies name are cleaned.

    Returns:
        One change for each key, its values and its effect, in the order of the keys.
    """
    found: list[CleaningChange] = []
    for name in before.columns:
        for one in _of_column(name, before, after) if name in after.columns else ():
            alike = (at for at, other in enumerate(found) if _same_but_columns(one, other))
            place = next(alike, None)
            if place is None:
                found.append(one)
            else:
                found[place] = CleaningChange(
                    one.key, one.effect, one.before, one.after, one.note, (*found[place].columns, name)
                )
    keys = [field.name for field in fields(ColumnCleaning)]
    return sorted(found, key=lambda one: keys.index(one.key))


def _same_but_columns(one: CleaningChange, other: CleaningChange) -> bool:
    return (one.key, one.effect, one.before, one.after, one.note) == (
        other.key,
        other.effect,
        other.before,
        other.after,
        other.note,
    )


def _of_column(name: str, before: Policy, after: Policy) -> Iterator[CleaningChange]:
    """Yield what differs in how one column is cleaned."""
    old, new = (
        column_cleaning(policy.clean or Clean(), name, policy.columns[name]) for policy in (before, after)
    )
    another_role = type(before.columns[name]) is not type(after.columns[name])
    for field in fields(ColumnCleaning):
        was, will_be = getattr(old, field.name), getattr(new, field.name)
        if was == will_be or field.name == "own" or (field.name == "type" and another_role):
            continue
        effect, note = _judge(field.name, (old, new), name, (before, after))
        shown = [getattr(one, "name", one) for one in (was, will_be)]
        yield CleaningChange(field.name, effect, shown[0], shown[1], note, (name,))


def _judge(
    key: str, cleaning: tuple[ColumnCleaning, ColumnCleaning], name: str, policies: tuple[Policy, Policy]
) -> tuple[Effect, str]:
    """Say what another value of a key does for one column, and why."""
    if any(name in (policy.record_key, policy.person) for policy in policies):
        return Effect.UNKNOWN, TELLS_APART
    columns = [policy.columns[name] for policy in policies]
    if not any(map(_is_released, columns)):
        return Effect.NEUTRAL, NOT_RELEASED
    return _judge_released(key, cleaning, columns)


def _judge_released(
    key: str, cleaning: tuple[ColumnCleaning, ColumnCleaning], columns: Sequence[Any]
) -> tuple[Effect, str]:
    """Say what another value of a key does for a released column, before and after, and why."""
    incomparable = _why_incomparable(key, cleaning, columns)
    if incomparable is not None:
        return Effect.UNKNOWN, incomparable
    if key in _AS_WRITTEN or (key in _MERGING and not _keeps_texts(cleaning)):
        return Effect.NEUTRAL, AS_WRITTEN
    before, after = (getattr(one, key) for one in cleaning)
    effect = (
        _COMPARED[key](before, after) if key in _COMPARED else Effect.UNKNOWN
    )  # a type, or a private file
    if key == "values" and any(getattr(column, "hierarchy", None) is not None for column in columns):
        effect = Effect.UNKNOWN  # a value has another place in the hierarchy under another name
    notes = {Effect.STRENGTHENS: FEWER_VALUES, Effect.WEAKENS: MORE_VALUES}
    return effect, notes.get(effect, "")


def _why_incomparable(
    key: str, cleaning: tuple[ColumnCleaning, ColumnCleaning], columns: Sequence[Any]
) -> str | None:
    """Say why two values of a key cannot be compared, whatever they are; None: they can."""
    if key in _MERGING and any(one.values or one.values_file for one in cleaning):
        return MAPPED
    of_texts = key not in _MERGING or _keeps_texts(cleaning)
    if key in _BY_VALUE and of_texts and any(map(_depends_on_values, columns)):
        return OTHER_VALUES
    if key in ("missing", "values") and _are_about_the_same(cleaning):
        return BOTH
    return None


def _keeps_texts(cleaning: tuple[ColumnCleaning, ColumnCleaning]) -> bool:
    return any(one.type.keeps_texts for one in cleaning)


def _depends_on_values(column: Any) -> bool:
    """Tell whether values are generalized, rounded or get noise: then it matters which ones they are."""
    names = ("hierarchy", "round", "bottom", "top", "level")
    coarser = any(getattr(column, name, None) is not None for name in names)
    return coarser or isinstance(column, Generalize | Perturb)


def _are_about_the_same(cleaning: tuple[ColumnCleaning, ColumnCleaning]) -> bool:
    """Tell whether a text that stands for a missing value is also in a map of values."""
    missing = {text.casefold() for one in cleaning for text in one.missing or ()}
    maps = [one.values or {} for one in cleaning]
    return not missing.isdisjoint(text.casefold() for own in maps for text in (*own, *own.values()))


def _is_released(column: Any) -> bool:
    return not isinstance(column, Identifier) or IDENTIFIER_ACTIONS[column.action].released


def _text_lists(before: Collection[str], after: Collection[str]) -> Effect:
    """Compare two lists of texts that stand for a missing value."""
    return _effect_of({*before} <= {*after}, {*after} <= {*before})


def _effect_of(strengthens: bool, weakens: bool) -> Effect:
    """Return what a change does that keeps, or undoes, all that was merged before; both: nothing."""
    if strengthens and weakens:
        return Effect.NEUTRAL
    if strengthens:
        return Effect.STRENGTHENS
    return Effect.WEAKENS if weakens else Effect.UNKNOWN


def _maps(before: Mapping[str, str], after: Mapping[str, str]) -> Effect:
    """Compare two maps of values: which texts become one value, under whatever name.

    >>> str(_maps({}, {"flu": "cold"})), str(_maps({"flu": "cold"}, {"cold": "flu"}))
    ('strengthens', 'neutral')
    >>> str(_maps({"m": "male"}, {"m": "man"}))  # the texts m and male were one, and now m and man are
    'cannot be compared'
    """
    texts = {*before, *before.values(), *after, *after.values()}
    old, new = {before.get(text, text) for text in texts}, {after.get(text, text) for text in texts}
    pairs = {(before.get(text, text), after.get(text, text)) for text in texts}
    return _effect_of(len(pairs) == len(old), len(pairs) == len(new))


_COMPARED: dict[str, Compare] = {
    "strip": by_number,
    "unicode": lambda before, after: by_number(_UNICODE[before], _UNICODE[after]),
    "case": lambda before, after: by_number(before is not None, after is not None),
    "missing": _text_lists,
    "values": lambda before, after: _maps(before or {}, after or {}),
    "truncate": LESS.compare,
}
"""How two values of a key compare, by how many texts become one value, or a missing one."""
