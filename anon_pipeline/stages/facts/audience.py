"""Facts as each audience sees them: the vault keeps all, others get what is declared for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from anon_pipeline.base.audience import CURATORS, POLICY, Audience, Number, declaration_of
from anon_pipeline.stages.facts.records import (
    DeidentifiedFacts,
    Facts,
    KAnonymizedFacts,
    PerturbedFacts,
    RawFacts,
    ShuffledFacts,
    SuppressedFacts,
)

STAGE_FACTS = (RawFacts, DeidentifiedFacts, KAnonymizedFacts, PerturbedFacts, ShuffledFacts, SuppressedFacts)
_MADE_BY = "made_by"

DECLARED: Mapping[str, Mapping[str, Number | Mapping[str, Number]]] = {
    kind.stage: {
        **{one.name: declaration_of(one.metadata) for one in fields(kind)},
        _MADE_BY: POLICY,
    }
    for kind in STAGE_FACTS
}
"""What each field of each stage's facts declares; a field of parts declares each of them."""


def fact_numbers() -> Iterator[tuple[str, Number]]:
    """Yield every fact, by the keys that lead to it, with its declaration."""
    for stage, numbers in DECLARED.items():
        for name, number in numbers.items():
            if isinstance(number, Number):
                yield f"facts.{stage}.{name}", number
            else:
                of_each = ".*" if name == "columns" else ""
                yield from ((f"facts.{stage}.{name}{of_each}.{part}", one) for part, one in number.items())


def facts_seen_by(facts: Facts, audience: Audience) -> dict[str, dict[str, Any]]:
    """Return what an audience sees of facts; what nobody declared is the curator's."""
    return {stage: stage_seen_by(stage, values, audience) for stage, values in facts.items()}


def stage_seen_by(stage: str, values: Mapping[str, Any], audience: Audience) -> dict[str, Any]:
    """Return what an audience sees of one stage's facts."""
    if audience is Audience.CURATOR:
        return dict(values)
    numbers, seen = DECLARED.get(stage, {}), {}
    for name, value in values.items():
        number = numbers.get(name, CURATORS)
        if isinstance(number, Mapping):
            seen[name] = _parts(value, number, audience)
        elif audience.sees(number):
            seen[name] = value
    return seen


def _parts(value: Any, numbers: Mapping[str, Number], audience: Audience) -> Any:
    """Return what is seen of a mapping of parts, or of a mapping of names to such mappings."""
    if not isinstance(value, Mapping):
        return None
    return {
        name: _parts(below, numbers, audience) if isinstance(below, Mapping) else below
        for name, below in value.items()
        if isinstance(below, Mapping) or audience.sees(numbers.get(name, CURATORS))
    }
