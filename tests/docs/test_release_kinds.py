"""The first example of each kind's page is the policy that the package brings along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from anon_pipeline.catalog.release_kinds import RELEASE_KINDS, ReleaseKind
from anon_pipeline.declared.parts import parts_of
from anon_pipeline.policy.load_declared import declared_from, policy_model
from anon_pipeline.policy.templates import declared_template

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_the_first_example_is_the_template(kind: ReleaseKind) -> None:
    page = (ROOT / kind.page).read_text("utf-8")
    (example, *_) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    shown, written = yaml.safe_load(example), yaml.safe_load(declared_template(kind, f"patients_{kind.name}"))
    assert shown["type"] == kind.type
    assert declared_from(shown["attributes"], kind) == declared_from(written["attributes"], kind)


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_the_page_names_each_limit_and_each_key(kind: ReleaseKind) -> None:
    page = (ROOT / kind.page).read_text("utf-8")
    named = set(re.findall(r"[a-z_]+", page))
    assert set(parts_of(kind).meanings) - named == set()
    assert set(policy_model(kind).model_fields) - named == set()
