"""What each audience sees of facts."""

from __future__ import annotations

from dataclasses import fields

from anon_pipeline.base.audience import Audience, Number
from anon_pipeline.stages.facts.audience import STAGE_FACTS, fact_numbers, facts_seen_by, stage_seen_by


def test_what_nobody_declared_is_the_curators() -> None:
    facts = {"raw": {"records": 3, "new": 4}, "own_stage": {"mean": 2.5}}
    for audience in (Audience.PUBLIC, Audience.OPERATOR):
        assert facts_seen_by(facts, audience) == {"raw": {"records": 3}, "own_stage": {}}
    assert facts_seen_by(facts, Audience.CURATOR) == facts
    columns = {"columns": {"height": {"epsilon": 1.0, "mean_scale": 2.0, "new": 3.0}}}
    assert stage_seen_by("perturbed", columns, Audience.OPERATOR) == {"columns": {"height": {"epsilon": 1.0}}}


def test_every_field_of_every_stage_is_declared() -> None:
    for kind in STAGE_FACTS:
        undeclared = [one.name for one in fields(kind) if not one.metadata]
        assert undeclared == [], kind.stage


def test_every_fact_has_a_name_of_its_own() -> None:
    names = [name for name, _ in fact_numbers()]
    assert len(set(names)) == len(names)
    assert {"facts.perturbed.columns.*.mean_scale", "facts.raw.records"} <= set(names)
    assert all(isinstance(number, Number) for _, number in fact_numbers())
