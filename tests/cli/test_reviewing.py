"""`review`: the questions, and a section that makes the policy reviewed when it is added."""

from __future__ import annotations

import json
from collections.abc import Callable

import yaml
from jsonschema import validate

from anon_pipeline import Policy, load_policy
from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Folder, write_policy


def test_the_printed_section_reviews_the_policy(
    folder: Callable[..., Folder], small_policy: Callable[..., Policy]
) -> None:
    made = folder()
    file = made.path / "policy.yaml"
    done = made.call("review", "policy.yaml", "--who", 'The "second" office: Åse')
    assert done.code == 0
    assert "Questions (after a no, change the policy)" in done.out
    document = yaml.safe_load(file.read_text())
    document["attributes"] |= yaml.safe_load(done.out[done.out.index("  reviewed:") :])
    file.write_text(yaml.safe_dump(document))
    assert load_policy(file).is_reviewed
    again = made.call("review", "policy.yaml")
    assert 'Reviewed by The "second" office: Åse on' in again.out
    assert "reviewed:" not in again.out
    document["attributes"]["anonymize"]["k"] = 7
    file.write_text(yaml.safe_dump(document))
    assert "  reviewed:" in made.call("review", "policy.yaml").out


def test_as_json(folder: Callable[..., Folder], small_policy: Callable[..., Policy]) -> None:
    made = folder()
    policy = small_policy()
    write_policy(made.path / "policy.yaml", policy)
    document = json.loads(made.call("review", "policy.yaml", "--json").out)
    validate(document, schema_of("review"))
    assert document["is_reviewed"] is False
    assert document["reviewed"]["digest"] == policy.review_digest
    assert document["columns"]["insensitive, released as they are"] == ["note"]


def test_the_name_that_is_not_given_reviews_nothing(folder: Callable[..., Folder]) -> None:
    made = folder()
    file = made.path / "policy.yaml"
    done = made.call("review", "policy.yaml")
    document = yaml.safe_load(file.read_text())
    document["attributes"] |= yaml.safe_load(done.out[done.out.index("  reviewed:") :])
    file.write_text(yaml.safe_dump(document))
    refused = made.call("review", "policy.yaml")
    assert refused.code == 2
    assert "reviewed.who: must name a person or an office" in refused.err
