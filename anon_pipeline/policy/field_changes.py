"""What differs between two policies, field by field, and what each difference does to protection.

Belongs here: walking over two policies, and columns that come, go or get another role. Does not belong here:
what a single field means (its mark, see `policy.protection`), and the limits of the gate (`limits.changes`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.cleaning_changes import cleaning_changes
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.columns import Identifier
from anon_pipeline.policy.marks import OPEN, Marks, field_marks, sections_in
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.protection import NEUTRAL, Effect, protection_of

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two policies.

    where: key of the policy, such as ``anonymize.k``; of a limit its name.
    effect: what it does to protection.
    before, after: the policies' values, for display; texts of unmarked fields, such as paths, are not shown.
    of: ``field`` or ``limit``.
    note: what else a reader should know; empty where before and after say it all.
    path: the same as ``where`` in parts, to find the field again.
    """

    where: str
    effect: Effect
    before: str
    after: str
    of: str = "field"
    note: str = ""
    path: tuple[str, ...] = field(default=(), compare=False)

    def as_text(self) -> str:
        """Say the change in one line."""
        what = f"the limit {self.where}" if self.of == "limit" else self.where
        return f"{what}: {self.before} → {self.after}: {_WORDS[self.effect]}" + (
            f" ({self.note})" if self.note else ""
        )

    def to_json(self) -> dict[str, str]:
        """Return it as JSON types, as `anon-pipeline diff --json` prints it."""
        return {
            "of": self.of,
            "where": self.where,
            "effect": str(self.effect),
            "before": self.before,
            "after": self.after,
            "note": self.note,
        }


_WORDS = {
    Effect.STRENGTHENS: "strengthens protection",
    Effect.WEAKENS: "weakens protection",
    Effect.NEUTRAL: "does not change protection",
    Effect.UNKNOWN: "cannot be compared",
}


def field_changes(before: Policy, after: Policy) -> Iterator[Change]:
    """Yield what differs, in the order of the fields.

    Of a field without a mark of `policy.protection` the difference cannot be compared. Every difference is
    yielded: two policies of which nothing is yielded are equal.
    """
    yield from _walk(before, after, (), OPEN)


def _walk(before: BaseModel, after: BaseModel, path: tuple[str, ...], above: Marks) -> Iterator[Change]:
    for name, declared in type(before).model_fields.items():
        old, new, here = getattr(before, name), getattr(after, name), (*path, name)
        if old == new:
            continue
        mark, marks = protection_of(declared), field_marks(type(before), name)
        within = marks.below(above) if marks.marked else above
        if here == ("clean",) and isinstance(before, Policy) and isinstance(after, Policy):
            yield from _changes_of_cleaning(before, after)
        elif isinstance(old, BaseModel) and type(old) is type(new) and mark is not NEUTRAL:
            yield from _walk(old, new, here, within)
        elif here == ("columns",):
            yield from _columns(old, new, within)
        else:
            effect = Effect.UNKNOWN if mark is None else mark.compare(old, new)
            told = marks.below(above).shown == "whole" and all(map(_is_public, (old, new)))
            yield Change(".".join(here), effect, _text(old, told=told), _text(new, told=told), path=here)


def _changes_of_cleaning(before: Policy, after: Policy) -> Iterator[Change]:
    """Yield what differs in how columns are cleaned, and at least that the section does."""
    found = cleaning_changes(before, after)
    for one in found:
        old, new = (_text(value, told=False) for value in (one.before, one.after))
        note = f"{', '.join(one.columns)}{f'; {one.note}' if one.note else ''}"
        yield Change(f"clean.{one.key}", one.effect, old, new, note=note, path=("clean", one.key))
    if not found:
        old, new = (_text(policy.clean, told=False) for policy in (before, after))
        note = "no column that both policies have is cleaned differently"
        yield Change("clean", Effect.NEUTRAL, old, new, note=note, path=("clean",))


def _is_public(value: Any) -> bool:
    """Tell whether all sections in a value may be public as they are."""
    return all(
        field_marks(type(section), name).shown == "whole" and _is_public(getattr(section, name))
        for _, section in sections_in(value, "")
        for name in type(section).model_fields
    )


def _text(value: Any, *, told: bool) -> str:
    """Write a value for people: numbers, and what the policy's marks let be shown."""
    if value is None or value in ((), {}):
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if not told or isinstance(value, BaseModel):
        return "set"
    text = ", ".join(map(str, value)) if isinstance(value, (tuple, Mapping)) else str(value)
    return text if len(text) <= _LONGEST else "set"


def _columns(before: Mapping[str, Any], after: Mapping[str, Any], above: Marks) -> Iterator[Change]:
    """Yield what differs of columns: those that came, those that went, those of another role, the others."""
    for name in dict.fromkeys([*before, *after]):
        old: Any = before.get(name)
        new: Any = after.get(name)
        here = ("columns", name)
        if old == new:
            continue
        if old is not None and type(old) is type(new):
            yield from _walk(old, new, here, above)
            continue
        effect, note = _role_change(old, new)
        yield Change(".".join(here), effect, _role(old), _role(new), note=note, path=here)


def _role(column: Any) -> str:
    return "not named" if column is None else str(column.role)


def _role_change(old: Any, new: Any) -> tuple[Effect, str]:
    """Say what another role does: what is released of a column without noise, and what is not released."""
    was, will_be = _is_released(old), _is_released(new)
    if not will_be:
        return (Effect.STRENGTHENS, "no longer released") if was else (Effect.NEUTRAL, "not released")
    if not was:
        return Effect.WEAKENS, "released in addition"
    if isinstance(new, Coarsened) and not isinstance(old, Coarsened):
        return Effect.WEAKENS, "released without classes and noise"
    return Effect.UNKNOWN, "released in another role"


def _is_released(column: Any) -> bool:
    if isinstance(column, Identifier):
        return IDENTIFIER_ACTIONS[column.action].released
    return column is not None
