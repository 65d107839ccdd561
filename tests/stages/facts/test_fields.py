"""Every field of every stage's facts has a rule, and the public is told what is declared for it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from anon_pipeline.base.audience import Audience, Number
from anon_pipeline.stages.facts import records
from anon_pipeline.stages.facts.audience import DECLARED
from anon_pipeline.stages.facts.fields import FIELDS, PUBLIC_FIELDS
from anon_pipeline.stages.private import STAGES


def test_every_field_of_every_stage_has_a_rule() -> None:
    kinds = [kind for kind in vars(records).values() if is_dataclass(kind) and hasattr(kind, "stage")]
    assert {stage: set(rules) for stage, rules in FIELDS.items()} == {
        kind.stage: {field.name for field in fields(kind)} for kind in kinds
    }
    assert set(FIELDS) == set(STAGES)


def test_the_public_is_told_what_it_may_see_and_parts_of_what_has_parts() -> None:
    assert list(PUBLIC_FIELDS) == list(FIELDS)
    for stage, rules in FIELDS.items():
        numbers = {name: DECLARED[stage][name] for name in rules}
        whole = {name for name, one in numbers.items() if isinstance(one, Number)}
        told = {name for name in whole if Audience.PUBLIC.sees(numbers[name])}
        assert set(PUBLIC_FIELDS[stage]) == told | (set(rules) - whole)
        assert all(PUBLIC_FIELDS[stage][name] is rules[name] for name in told)
    assert "information_loss" not in PUBLIC_FIELDS["k_anonymized"]
