"""Whether facts are of the kinds that stages write, where no policy is at hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anon_pipeline.base.size_bounds import POLICY_NODES
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.records import Facts


@dataclass(frozen=True, slots=True)
class _AnyPolicy:
    """Stands for the policy that is not at hand: what rules of one value ask of it."""

    columns: Collection[str]
    noisy: Collection[int] = range(POLICY_NODES)
    generalized: Collection[int] = range(POLICY_NODES)


def broken_kinds(facts: object, rules: Mapping[str, Mapping[str, must.Rule]]) -> Iterator[str]:
    """Yield the places of facts that lack, are unknown, or hold another kind of value.

    Every name that the facts use as a column's is taken for one.

    Args:
        facts: of all stages, or anything else.
    """
    if not isinstance(facts, dict) or not all(isinstance(values, dict) for values in facts.values()):
        yield "facts"
        return
    if facts.keys() - rules.keys():
        yield "facts: unknown stages"
    stand_in: Any = _AnyPolicy(_names(facts))  # has all that rules of one value ask of a policy
    known = must.Known(stand_in, must.MOST)
    for stage, fields in rules.items():
        if stage not in facts:
            yield f"facts.{stage}"
            continue
        values, whole = facts[stage], {**fields, "made_by": must.digest}
        if values.keys() - whole.keys():
            yield f"facts.{stage}: unknown fields"
        for name, rule in whole.items():
            if name not in values or not rule(values[name], known):
                yield f"facts.{stage}.{name}"


def _names(facts: Facts) -> frozenset[str]:
    """Return every text that stands where a column's name does."""
    found = [
        name for values in facts.values() for field, value in values.items() for name in _within(field, value)
    ]
    return frozenset(name for name in found if isinstance(name, str))


def _within(field: str, value: Any) -> list[Any]:
    if not isinstance(value, (dict, list)):
        return []
    return [str(name).partition(".")[2] if field == "suppressed_by_limit" else name for name in value]
