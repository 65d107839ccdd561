"""The rule of every field that stages write, and of those that a manifest contains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anon_pipeline.base.audience import Audience
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.columns import Perturb, PerturbCategories
from anon_pipeline.policy.recoding import Anonymize
from anon_pipeline.policy.sections import PerturbSection
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.audience import DECLARED
from anon_pipeline.stages.facts.records import (
    COMPOSITION_NUMBERS,
    NOISE_NUMBERS,
    DeidentifiedFacts,
    KAnonymizedFacts,
    PerturbedFacts,
    RawFacts,
    ShuffledFacts,
    SuppressedFacts,
)

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
_WHOLE_COLUMN: dict[str, must.Rule] = {
    "mechanism": must.one_of(PerturbSection, "mechanism"),
    "amount": must.or_none(must.number),
    "resolution": must.number,
}
_CATEGORIES: dict[str, must.Rule] = {
    "mechanism": must.one_of(PerturbCategories, "mechanism"),
    "epsilon": must.number,
    "values": must.count,
    "least_kept": must.share,
    "most_kept": must.share,
    "mean_distance": must.share,
}
_CHANGED_CATEGORIES: dict[str, must.Rule] = {
    "mechanism": must.one_of(PerturbCategories, "mechanism"),
    "amount": must.or_none(must.number),
    "values": must.count,
}
_NOISY = (_NOISE, _WHOLE_COLUMN, _CATEGORIES, _CHANGED_CATEGORIES)
_COMPOSITION: dict[str, must.Rule] = {
    "releases_before": must.count,
    "values_reused": must.values,
    "values_drawn": must.values,
    "epsilon_spent": must.is_fraction_text,
}

FIELDS: Mapping[str, Mapping[str, must.Rule]] = {
    RawFacts.stage: {
        "records": must.count,
        "columns": must.count,
        "incomplete_records": must.records,
        "repeated": must.list_of(must.column),
        "value_maps": must.mapping_of(must.column, must.digest),
    },
    DeidentifiedFacts.stage: {
        **dict.fromkeys((one.fact for one in IDENTIFIER_ACTIONS.values()), must.list_of(must.column)),
        "people": must.or_none(must.records),
        "excess_records": must.records,
        "following": must.list_of(must.column),
        "holding": must.mapping_of(must.column, must.column),
        "listing": must.list_of(must.column),
        "clipped": must.mapping_of(must.column, must.share),
    },
    KAnonymizedFacts.stage: {
        "recoder": must.one_of(Anonymize, "recoder"),
        "k": must.count,
        "smallest_class": must.records,
        "classes": must.records,
        "levels": must.or_none(must.mapping_of(must.column, must.level)),
        "hierarchies": must.mapping_of(must.column, must.digest),
        "loss": must.one_of(Anonymize, "loss"),
        "information_loss": must.share,
        "suppressed_incomplete": must.records,
        "suppressed_by_recoding": must.records,
        "suppressed_cells": must.cells,
        "suppression_limit": must.share,
        "nodes_checked": must.count,
        "equal_distance": must.list_of(must.column),
        "sse": must.or_none(must.share),
        "telling": must.mapping_of(must.column, must.either(must.column, must.list_of(must.column))),
        "lost": must.list_of(must.column),
    },
    PerturbedFacts.stage: {
        "passed_through": must.flag,
        "epsilon": must.or_none(must.number),
        "mechanism": must.or_none(must.one_of(PerturbSection, "mechanism")),
        "columns": must.mapping_of(must.column, must.either(*map(must.exactly, _NOISY))),
        "seeded": must.flag,
        "republish": must.one_of(PerturbSection, "republish"),
        "composition": must.or_none(must.exactly(_COMPOSITION)),
        "release_id": must.or_none(must.release_id),
    },
    ShuffledFacts.stage: {"records": must.records, "seeded": must.flag},
    SuppressedFacts.stage: {
        "passed_through": must.flag,
        "confidence": must.or_none(must.share),
        "released": must.records,
        "classes": must.records,
        "suppressed_unconfident": must.records,
        "suppressed_small_classes": must.records,
        "suppressed_by_limit": must.mapping_of(must.limit, must.records),
        "suppressed_in_all": must.records,
        "released_people": must.or_none(must.records),
        "people_with_gaps": must.or_none(must.records),
    },
}
"""The rule of every field of every stage's facts."""


def _public(rules: Mapping[str, must.Rule], numbers: Mapping[str, Any]) -> dict[str, must.Rule]:
    """Keep the rules of the fields that a manifest contains, part by part."""
    public = Audience.PUBLIC
    return {
        name: rule
        for name, rule in rules.items()
        if isinstance(numbers[name], Mapping) or public.sees(numbers[name])
    }


_PUBLIC_PARTS: Mapping[str, must.Rule] = {
    "columns": must.mapping_of(
        must.column,
        must.either(*(must.exactly(_public(one, NOISE_NUMBERS)) for one in _NOISY)),
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
"""The rule of every field that a manifest contains, see `base.audience`."""
