"""Each kind of release has its policy, its parts, its component, its template, its page."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import anon_pipeline
from anon_pipeline.catalog.release_kinds import EPSILON_DP, RELEASE_KINDS, ReleaseKind, kind_of_type
from anon_pipeline.declared.parts import parts_of
from anon_pipeline.policy.load_declared import declared_from, policy_model
from anon_pipeline.policy.templates import declared_template

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_a_kind_is_whole(kind: ReleaseKind) -> None:
    assert policy_model(kind).kind is kind and parts_of(kind).meanings
    package, _, component = kind.type.partition(".")
    assert package == "anon_pipeline" and getattr(anon_pipeline, component).kind is kind
    document = yaml.safe_load(declared_template(kind, "other name"))
    assert document["type"] == kind.type
    policy = declared_from(document["attributes"], kind)
    assert policy.name == "other_name"
    parts_of(kind).refuses(policy, 20_000)
    assert (ROOT / kind.page).is_file() and parts_of(kind).section.is_file()


def test_kinds_are_known_by_their_types() -> None:
    assert kind_of_type("anon_pipeline.EpsilonDpRelease") is EPSILON_DP
    for other in ("anon_pipeline.AnonymizedRelease", None, 3, []):
        assert kind_of_type(other) is None
