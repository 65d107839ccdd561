"""What a change of policy does to protection: of its fields, and of what its limits demand.

Limits are compared by the table: which demand came or went, and to which side of its sense a bound moved.
Decisions: docs/adr/0052-a-change-of-policy-in-words.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.meanings import is_free
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.field_changes import Change, field_changes
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.protection import Effect, by_number, protection_of, together

_GATE = "gate"
LARGER = {"at least": Effect.STRENGTHENS, "at most": Effect.WEAKENS, "below": Effect.WEAKENS}


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes from one policy to another, those of fields first.

    changes: empty if, and only if, the policies are equal.
    """

    changes: tuple[Change, ...]

    @property
    def effect(self) -> Effect:
        """What they do together: one that weakens decides, then one that cannot be compared."""
        found = {change.effect for change in self.changes}
        order = (Effect.WEAKENS, Effect.UNKNOWN, Effect.STRENGTHENS)
        return next((effect for effect in order if effect in found), Effect.NEUTRAL)

    def with_effect(self, effect: Effect) -> tuple[Change, ...]:
        """Return the changes with one effect."""
        return tuple(change for change in self.changes if change.effect is effect)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types, as `anon-pipeline diff --json` prints it."""
        return {"effect": str(self.effect), "changes": [change.to_json() for change in self.changes]}


def compare_policies(before: Policy, after: Policy) -> Comparison:
    """Compare two policies: what each change does to protection.

    What the tables and files say that a policy names is not looked at. What no mark and no limit explains
    cannot be compared; it is never taken for neutral.

    Args:
        before: as it was.
        after: as it would be.
    """
    fields = [change for change in field_changes(before, after) if not _said_by_limits(change, before, after)]
    found = [*map(_judge, fields), *limit_changes(before, after)]
    if not found and before.digest != after.digest:  # equal in Python, written differently: -0.0 and 0
        found = [Change("policy", Effect.UNKNOWN, "one digest", "another")]
    return Comparison(tuple(found))


def limit_changes(before: Policy, after: Policy) -> Iterator[Change]:
    """Yield what differs between the demands of two policies, in the order in which they are judged."""
    old, new = _by_name(before), _by_name(after)
    moved = {
        name
        for name in (*before.columns, *after.columns)
        if type(before.columns.get(name)) is not type(after.columns.get(name))
    }
    for name in dict.fromkeys([*old, *new]):
        was, will_be = old.get(name), new.get(name)
        if was != will_be:
            effect, note = _effect(was, will_be, moved=bool(moved))
            yield Change(name, effect, _demand_text(was), _demand_text(will_be), of="limit", note=note)


def weaker_than(demand: Demand, floor: float) -> bool | None:
    """Tell whether a demand is weaker than a bound; None: it has no number to compare.

    Args:
        floor: the weakest bound that is accepted.
    """
    larger = LARGER.get(demand.sense)
    if demand.bound is None or larger is None or demand.sense != demand.limit.judged.sense:
        return None
    return by_number(floor, demand.bound, larger=larger) is Effect.WEAKENS


def _by_name(policy: Policy) -> dict[str, Demand]:
    """Return the demands of a policy; not what it accepts, which the changed key itself says."""
    return {demand.name: demand for demand in demands(policy) if not demand.limit.of_policy}


def _effect(was: Demand | None, will_be: Demand | None, *, moved: bool) -> tuple[Effect, str]:
    """Say what another demand of one limit does."""
    if was is None or will_be is None:
        there, found = (will_be, Effect.STRENGTHENS) if was is None else (was, Effect.WEAKENS)
        assert there is not None  # noqa: S101 - one of them is there, for mypy
        if there.limit.usefulness:
            return Effect.NEUTRAL, _USEFUL
        if there.advised:
            return Effect.NEUTRAL, "it only warns"
        if is_free(there.limit, there.bound, there.sense):
            return Effect.NEUTRAL, "it limits nothing"
        if found is Effect.WEAKENS and there.of and moved:
            return Effect.UNKNOWN, "it went with a change of columns"
        return found, ""
    return (Effect.NEUTRAL, _USEFUL) if was.limit.usefulness else _other_demand(was, will_be)


def _other_demand(was: Demand, will_be: Demand) -> tuple[Effect, str]:
    """Say what another demand of the same limit does, which both policies have."""
    if will_be.advised and not was.advised:
        return Effect.WEAKENS, "it only warns from now on"
    advice = by_number(-was.advised, -will_be.advised)
    found = together(advice, _wanted_effect(was, will_be))
    return found, "" if advice is Effect.NEUTRAL else "a limit that refuses, and one that only warns"


_USEFUL = "it limits what a release loses, not what it reveals"


def _wanted_effect(was: Demand, will_be: Demand) -> Effect:
    """Say to which side of its sense a demand moved, and what else of it has changed."""
    if was.wanted == will_be.wanted:
        return Effect.NEUTRAL
    if isinstance(was.wanted, BaseModel):
        if type(was.wanted) is not type(will_be.wanted):
            return Effect.UNKNOWN
        return together(*_parts(was, will_be))
    return _by_sense(was, will_be)


def _parts(was: Demand, will_be: Demand) -> Iterator[Effect]:
    """Yield what each key of a demand does that has several: by its mark, or as the bound by its sense."""
    for name, declared in type(was.wanted).model_fields.items():
        old, new = getattr(was.wanted, name), getattr(will_be.wanted, name)
        if old == new:
            continue
        mark, alone = protection_of(declared), was.wanted.model_copy(update={name: new})
        if mark is not None:
            yield mark.compare(old, new)
        elif was.limit.judged.bound(alone) == will_be.bound != was.bound:
            yield _by_sense(was, replace(was, wanted=alone))
        else:
            yield Effect.UNKNOWN


def _by_sense(was: Demand, will_be: Demand) -> Effect:
    larger = LARGER.get(was.sense)
    if larger is None or was.sense != will_be.sense or was.bound is None or will_be.bound is None:
        return Effect.UNKNOWN
    return by_number(was.bound, will_be.bound, larger=larger)


def _demand_text(demand: Demand | None) -> str:
    """Write a demand for people: its bound, and the keys of the policy that the bound does not say."""
    if demand is None:
        return "not judged"
    said = (
        ("" if demand.advised else "demanded") if demand.bound is None else f"{demand.sense} {demand.bound:g}"
    )
    if isinstance(demand.wanted, BaseModel):
        keys = demand.wanted.model_dump(exclude_none=True)
        rest = [
            f"{key} {one}" for key, one in keys.items() if one != demand.bound and not isinstance(one, tuple)
        ]
        said += f" ({', '.join(rest)})" if rest else ""
    return "advised" + (f": {said}" if said else "") if demand.advised else said


def _said_by_limits(change: Change, before: Policy, after: Policy) -> bool:
    """Return whether a change of the gate is completely covered by the limits, and reported there.

    It is if one of the policies would demand other things with the other's value of this field.
    """
    if change.path[:1] != (_GATE,):
        return False
    pairs = ((after, before), (before, after))
    return any(
        _by_name(_with(one, change.path, _at(other, change.path))) != _by_name(one) for one, other in pairs
    )


def _judge(change: Change) -> Change:
    """Say of a field that only spells out what is demanded anyhow that nothing changes."""
    neutral = change.path[:1] == (_GATE,) and change.effect is Effect.NEUTRAL
    return replace(change, note="the limits are the same") if neutral else change


def _at(model: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        model = getattr(model, name)
    return model


def _with(model: BaseModel, path: tuple[str, ...], value: Any) -> Any:
    """Return a copy of a section, or policy, in which one field has another value; it is not validated."""
    name, *rest = path
    inner = _with(getattr(model, name), tuple(rest), value) if rest else value
    return model.model_copy(update={name: inner})
