"""What facts may say: types, ranges, known names, and only words of this program or of the policy.

Facts come back from the vault, and what they say goes into the manifest. Who can write in a vault without a
key could write anything there: so whatever is not what a stage writes is refused, and no text gets through.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from anon_pipeline.base.audience import Audience
from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.encode.categories import category_facts
from anon_pipeline.encode.grids import epsilon_shares, noises
from anon_pipeline.facts import fact_rules as must
from anon_pipeline.facts.records import (
    COMPOSITION_NUMBERS,
    NOISE_NUMBERS,
    DeidentifiedFacts,
    Facts,
    KAnonymizedFacts,
    PerturbedFacts,
    RawFacts,
    ShuffledFacts,
    SuppressedFacts,
)
from anon_pipeline.facts.seen import DECLARED
from anon_pipeline.policy.columns import Perturb, PerturbCategories
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import Anonymize
from anon_pipeline.policy.sections import PerturbSection

_NOISE: dict[str, must.Rule] = {
    "mechanism": must.one_of(PerturbSection, "mechanism"),
    "epsilon": must.number,
    "delta": must.or_none(must.share),
    "sensitivity": must.one_of(Perturb, "sensitivity"),
    "resolution": must.number,
    "classes_without_noise": must.records,
    "mean_scale": must.or_none(must.number),
    "expected_relative_error": must.or_none(must.number),
}
_CATEGORIES: dict[str, must.Rule] = {
    "mechanism": must.one_of(PerturbCategories, "mechanism"),
    "epsilon": must.number,
    "values": must.count,
    "least_kept": must.share,
    "most_kept": must.share,
    "mean_distance": must.share,
}
_COMPOSITION: dict[str, must.Rule] = {
    "releases_before": must.count,
    "values_reused": must.values,
    "values_drawn": must.values,
    "epsilon_spent": must.spent,
}

_RULES: dict[type, dict[str, must.Rule]] = {
    RawFacts: {
        "records": must.count,
        "columns": must.count,
        "incomplete_records": must.records,
        "repeated": must.listed(must.column),
        "value_maps": must.mapping(must.column, must.digest),
    },
    DeidentifiedFacts: {
        **dict.fromkeys((one.fact for one in IDENTIFIER_ACTIONS.values()), must.listed(must.column)),
        "people": must.or_none(must.records),
        "excess_records": must.records,
        "following": must.listed(must.column),
        "holding": must.mapping(must.column, must.column),
        "listing": must.listed(must.column),
    },
    KAnonymizedFacts: {
        "recoder": must.one_of(Anonymize, "recoder"),
        "k": must.count,
        "smallest_class": must.records,
        "classes": must.records,
        "levels": must.or_none(must.mapping(must.column, must.level)),
        "hierarchies": must.mapping(must.column, must.digest),
        "loss": must.one_of(Anonymize, "loss"),
        "information_loss": must.share,
        "suppressed_incomplete": must.records,
        "suppressed_by_recoding": must.records,
        "suppressed_cells": must.cells,
        "suppression_limit": must.share,
        "nodes_checked": must.count,
        "equal_distance": must.listed(must.column),
        "sse": must.or_none(must.share),
        "telling": must.mapping(must.column, must.column),
    },
    PerturbedFacts: {
        "passed_through": must.flag,
        "epsilon": must.or_none(must.number),
        "mechanism": must.or_none(must.one_of(PerturbSection, "mechanism")),
        "columns": must.mapping(must.column, must.either(must.exactly(_NOISE), must.exactly(_CATEGORIES))),
        "seeded": must.flag,
        "republish": must.one_of(PerturbSection, "republish"),
        "composition": must.or_none(must.exactly(_COMPOSITION)),
        "release_id": must.or_none(must.release_id),
    },
    ShuffledFacts: {"records": must.records, "seeded": must.flag},
    SuppressedFacts: {
        "passed_through": must.flag,
        "confidence": must.or_none(must.share),
        "released": must.records,
        "classes": must.records,
        "suppressed_unconfident": must.records,
        "suppressed_small_classes": must.records,
        "suppressed_by_limit": must.mapping(must.limit, must.records),
        "suppressed_in_all": must.records,
        "released_people": must.or_none(must.records),
        "people_with_gaps": must.or_none(must.records),
    },
}
_STAGES: Mapping[str, type] = {kind.stage: kind for kind in _RULES}  # type: ignore[attr-defined]
FIELDS: Mapping[str, Mapping[str, must.Rule]] = {stage: _RULES[kind] for stage, kind in _STAGES.items()}
"""The rule of every field of every stage's facts."""


def _public(rules: Mapping[str, must.Rule], numbers: Mapping[str, Any]) -> dict[str, must.Rule]:
    """Keep the rules of what a manifest tells; of what has parts, those are told."""
    public = Audience.PUBLIC
    return {
        name: rule
        for name, rule in rules.items()
        if isinstance(numbers[name], Mapping) or public.sees(numbers[name])
    }


_PUBLIC_PARTS: Mapping[str, must.Rule] = {
    "columns": must.mapping(
        must.column,
        must.either(*(must.exactly(_public(one, NOISE_NUMBERS)) for one in (_NOISE, _CATEGORIES))),
    ),
    "composition": must.or_none(must.exactly(_public(_COMPOSITION, COMPOSITION_NUMBERS))),
}
PUBLIC_FIELDS: Mapping[str, Mapping[str, must.Rule]] = {
    stage: {
        name: _PUBLIC_PARTS[name] if isinstance(DECLARED[stage][name], Mapping) else rule
        for name, rule in _public(rules, DECLARED[stage]).items()
    }
    for stage, rules in FIELDS.items()
}
"""The rule of every field that a manifest tells, see `base.audience`."""


def checked_facts(
    policy: Policy, facts: Facts, fields: Mapping[str, Mapping[str, must.Rule]] = FIELDS
) -> Facts:
    """Return facts that are what the stages write, and nothing else.

    Args:
        policy: whose columns are the only names in them. Facts that claim to be made by it must say what it
            says: ε, recoder, which columns.
        facts: of some or all stages, as the vault has them.
        fields: the rule of every field; `PUBLIC_FIELDS` for facts of a manifest.
    Raises:
        InputError: naming stages and their fields, never what was found there.
    """
    if not isinstance(facts, Mapping) or not all(isinstance(values, Mapping) for values in facts.values()):
        raise InputError("the facts of a table must be a mapping of stages to their facts, got another thing")
    problems = list(_problems(policy, facts, fields))
    if problems:
        raise InputError(problems)
    return facts


def _problems(policy: Policy, facts: Facts, fields: Mapping[str, Mapping[str, must.Rule]]) -> Iterator[str]:
    """Yield a line for each stage whose facts are not its own."""
    strange = len(set(facts) - set(_STAGES))
    if strange:
        yield f"the facts of a table must be of the stages, got {strange} others"
    records = facts.get(RawFacts.stage, {}).get("records")
    known = must.Known(policy, must.MOST if records is None or not must.is_count(records) else records)
    for stage, kind in _STAGES.items():
        if stage in facts:
            broken = sorted(set(_broken(kind, facts[stage], known, fields[stage])))
            if broken:
                yield (
                    f"the facts of {stage} must be what that stage writes, got others: {', '.join(broken)}. "
                    f"Materialize {stage} again."
                )


def _broken(
    kind: type, values: Mapping[str, Any], known: must.Known, fields: Mapping[str, must.Rule]
) -> Iterator[str]:
    """Yield the fields that lack, or hold what does not belong there; what is unknown is not quoted."""
    rules = {**fields, "made_by": must.digest}
    if set(values) - set(rules):
        yield "fields that are not known"
    for name, rule in rules.items():
        if name not in values or not rule(values[name], known):
            yield name
    if values.get("made_by") == known.policy.making:
        for name, said in _said(kind, known.policy).items():
            if name in values and not _equal(values[name], said):
                yield name
        yield from (name for name in _PEOPLE.get(kind, ()) if _lacks(values, name) != _lacks_people(known))
        if kind is PerturbedFacts and not _same_noise(values.get("columns"), known.policy):
            yield "columns"
        if kind is PerturbedFacts and not _possible_spending(values.get("composition"), known.policy):
            yield "composition"


_PEOPLE: Mapping[type, tuple[str, ...]] = {
    DeidentifiedFacts: ("people",),
    SuppressedFacts: ("released_people", "people_with_gaps"),
}
"""Counts of people, which are there with the policy's ``person``, and only with it."""


def _lacks(values: Mapping[str, Any], name: str) -> bool:
    return values.get(name) is None


def _lacks_people(known: must.Known) -> bool:
    return known.policy.person is None


def decided_facts(policy: Policy) -> Iterator[tuple[str, ...]]:
    """Yield the facts that the policy alone decides, so that they are compared with it: the keys to each.

    A list among them is decided with all its items.
    """
    for stage, kind in _STAGES.items():
        for name in _said(kind, policy):
            yield from ((stage, name), (stage, name, "*"))
    for column, said in _noise_said(policy).items():
        yield from ((PerturbedFacts.stage, "columns", column, name) for name in said)
    if not policy.noisy:
        yield PerturbedFacts.stage, "columns"


def _equal(value: Any, said: Any) -> bool:
    """Compare a fact with what the policy says, where a tuple may have become a list."""
    return bool(value == said or (isinstance(value, tuple) and list(value) == said))


def _said(kind: type, policy: Policy) -> Mapping[str, Any]:
    """Return the facts of a stage that the policy alone decides."""
    wanted, noise, confidence = policy.anonymize, policy.perturb, policy.suppress.confidence
    if kind is RawFacts:
        return {"columns": len(policy.columns)}
    if kind is DeidentifiedFacts:
        return {action.fact: _with(policy, action.name) for action in IDENTIFIER_ACTIONS.values()}
    if kind is KAnonymizedFacts:
        return {name: getattr(wanted, name) for name in ("recoder", "k", "loss", "suppression_limit")}
    if kind is PerturbedFacts:
        return {
            "passed_through": not policy.noisy,
            "epsilon": None if noise is None else noise.epsilon,
            "mechanism": policy.mechanism_of_numbers,
            "republish": "fresh" if noise is None else noise.republish,
        }
    if kind is SuppressedFacts:
        return {"passed_through": confidence is None, "confidence": confidence}
    return {}


def _with(policy: Policy, action: str) -> list[str]:
    return [name for name, column in policy.identifiers.items() if column.action == action]


def _noise_said(policy: Policy) -> dict[str, dict[str, Any]]:
    """Return what the policy says of the noise of each perturb column."""
    return {
        name: {
            "mechanism": noise.mechanism,
            "epsilon": float(noise.epsilon),
            "delta": None if noise.delta is None else float(noise.delta),
            "sensitivity": column.sensitivity,
            "resolution": column.resolution,
        }
        for (name, column), noise in zip(policy.perturbed.items(), noises(policy), strict=True)
    } | category_facts(policy)


def _same_noise(columns: Any, policy: Policy) -> bool:
    """Tell whether facts name the policy's perturb columns, each with its noise and resolution."""
    said = _noise_said(policy)
    if not isinstance(columns, Mapping) or not all(isinstance(noise, Mapping) for noise in columns.values()):
        return False
    return set(said) == set(columns) and all(
        found.get(field) == value for name, found in columns.items() for field, value in said[name].items()
    )


def _possible_spending(composed: Any, policy: Policy) -> bool:
    """Tell whether the ε that facts say is spent can be a sum of the columns' shares: digits are text."""
    if policy.record_key is None or not isinstance(composed, Mapping):
        return policy.record_key is None and composed is None
    said, shares = composed.get("epsilon_spent"), epsilon_shares(policy)
    if not must.spent(said, must.Known(policy, must.MOST)):
        return False
    whole, spent = sum(shares, Fraction(0)), Fraction(str(said))
    return spent <= whole and math.lcm(*(share.denominator for share in shares)) % spent.denominator == 0
