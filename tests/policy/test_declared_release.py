"""What all policies with declared columns have in common; each has a schema that takes its template."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from anon_pipeline.catalog.release_kinds import RELEASE_KINDS, ReleaseKind
from anon_pipeline.policy.declared_release import declared_json_schema
from anon_pipeline.policy.load_declared import declared_from, policy_model
from anon_pipeline.policy.templates import declared_template


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_a_schema_takes_its_template_and_no_other_type(kind: ReleaseKind) -> None:
    schema = declared_json_schema(policy_model(kind))
    document = yaml.safe_load(declared_template(kind, "x"))
    jsonschema.validate(document, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "type": "anon_pipeline.AnonymizedRelease"}, schema)


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_public_parts_decide_the_digest_with_private_ones(kind: ReleaseKind) -> None:
    attributes = yaml.safe_load(declared_template(kind, "x"))["attributes"]
    policy = declared_from(attributes, kind)
    moved = declared_from({**attributes, "publish": {"to": "elsewhere"}}, kind)
    assert policy.digest != moved.digest
    assert set(policy.numeric) <= set(policy.columns)
    assert policy.fit_attributes(attributes) == (attributes, [])
