"""What a policy allows although it looks like an identifier: by column, detector and reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.detectors import NAMES
from anon_pipeline.policy import Policy, json_schema, parse_policy, policy_from
from anon_pipeline.policy.version_1 import digest_1, making_1

Small = Callable[..., Policy]
HOTLINE = {"telephone": "hotline numbers, public"}


def test_what_is_allowed_is_listed_by_column_detector_and_reason(small_policy: Small) -> None:
    policy = small_policy(
        columns={"note": {"allow": {"telephone": "hotline", "email": "ours"}}, "age": {"allow": {"nhs": "x"}}}
    )
    assert policy.allowed == [
        {"column": "age", "detector": "nhs", "reason": "x"},
        {"column": "note", "detector": "email", "reason": "ours"},
        {"column": "note", "detector": "telephone", "reason": "hotline"},
    ]
    assert small_policy().allowed == []


@pytest.mark.parametrize("column", ["age", "height", "income", "illness", "note"])
def test_every_released_column_may_allow(small_policy: Small, column: str) -> None:
    assert small_policy(columns={column: {"allow": HOTLINE}}).allowed[0]["column"] == column


def test_an_identifier_may_not(small_policy: Small) -> None:
    with pytest.raises(PolicyError, match=r"columns\.person\.allow: is not known here"):
        small_policy(columns={"person": {"allow": HOTLINE}})


@pytest.mark.parametrize(
    ("allow", "says"),
    [
        (
            {"telefone": "x"},
            r"columns.note: allow must name detectors, got 'telefone'. There are email, tele",
        ),
        ({"*": "x"}, "allow must name detectors, got '\\*'"),
        ({"telephone": ""}, "columns.note.allow.telephone: "),
        ({"telephone": "   "}, "allow must give a reason for each detector, got none for telephone"),
        ({"telephone": None}, "columns.note.allow.telephone: "),
        ({"telephone": True}, "columns.note.allow.telephone: "),
        ({"telephone": "x" * 201}, "at most 200 characters"),
        ({"telephone": "a\x1b[31mb"}, "must not hold control characters"),
        ({"telephone": "a\nb"}, "must not hold control characters"),
        ({"telephone": "a\u202eb"}, "must not hold control characters"),
        (["telephone"], "columns.note.allow: "),
        ("telephone", "columns.note.allow: "),
    ],
)
def test_what_must_not_stand_there(small_policy: Small, allow: Any, says: str) -> None:
    with pytest.raises(PolicyError, match=says) as caught:
        small_policy(columns={"note": {"allow": allow}})
    assert all(problem.isprintable() for problem in caught.value.problems)


def test_a_policy_that_allows_nothing_has_the_digest_that_it_always_had(small_policy: Small) -> None:
    """So that releases of before are still those of their policy."""
    policy = small_policy()
    assert digest_1(policy).startswith("2a1be9615b3c6f66")  # 0.1.0 computed it
    for name in ("age", "height", "income", "illness", "note"):
        other = small_policy(columns={name: {"allow": {}}})
        assert (other.digest, other.making) == (policy.digest, policy.making)
        assert (digest_1(other), making_1(other)) == (digest_1(policy), making_1(policy))
    assert "allow" not in json.dumps(policy.model_dump(mode="json"))


def test_what_is_allowed_changes_what_the_tables_are(small_policy: Small) -> None:
    one, other = (small_policy(columns={"note": {"allow": {"email": why}}}) for why in ("a", "b"))
    assert len({one.digest, other.digest, small_policy().digest}) == 3
    assert one.making != small_policy().making
    assert policy_from(one.model_dump(mode="json")) == one


def test_it_cannot_be_changed(small_policy: Small) -> None:
    for policy in (small_policy(columns={"note": {"allow": HOTLINE}}), small_policy()):
        with pytest.raises(TypeError):
            policy.columns["note"].allow["email"] = "x"  # type: ignore[union-attr]


def test_it_is_read_from_yaml(small_policy: Small) -> None:
    import yaml

    document = small_policy().model_dump(mode="json")
    document["columns"]["note"]["allow"] = HOTLINE
    text = yaml.safe_dump({"type": "anon_pipeline.AnonymizedRelease", "attributes": document})
    assert parse_policy(text).allowed == [
        {"column": "note", "detector": "telephone", "reason": "hotline numbers, public"}
    ]


def test_the_schema_names_the_detectors() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    field = json_schema()["$defs"]["Insensitive"]["properties"]["allow"]
    assert field["propertyNames"] == {"enum": list(NAMES)}
    valid = jsonschema.Draft202012Validator(field).is_valid
    assert valid(HOTLINE)
    assert not valid({"telefone": "x"})
    assert not valid({"telephone": ""})
    assert not valid({"telephone": "x" * 201})
