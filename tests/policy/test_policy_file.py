"""The file of a policy: one YAML document within limits, each key once; a strange file is not quoted."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import load_policy, parse_policy
from anon_pipeline.policy.policy_file import check_policy_file, document_in, read_document, refuse_tables


def test_a_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("a: &one {b: 1}\nc: {<<: *one, d: 2}\n")
    assert read_document(path) == document_in(path.read_text()) == {"a": {"b": 1}, "c": {"b": 1, "d": 2}}
    assert document_in("") is None
    check_policy_file(path)


def test_each_of_several_documents_is_checked_for_somebody_elses_reader(tmp_path: Path) -> None:
    path = tmp_path / "defs.yaml"
    path.write_text("a: 1\n---\nb: 2\n")
    check_policy_file(path)
    path.write_text("a: 1\n---\nb: 2\nb: 3\n")
    with pytest.raises(PolicyError, match="line 3: keys must be unique, got twice: b"):
        check_policy_file(path)


def test_a_table_is_recognized_by_its_name_and_the_keys_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("name,age\nCANARY,3\n")
    with pytest.raises(PolicyError, match=r"got people\.csv. Is it a table\?") as refused:
        refuse_tables(path)
    assert "CANARY" not in str(refused.value)
    for name, text in (("people.yaml", "name,age\n"), ("policy.txt", "attributes: {}\n")):
        path.with_name(name).write_text(text)
        refuse_tables(path.with_name(name))
    refuse_tables(path.with_name("none.csv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "line 3: keys must be unique, got twice: c"),
        ("- 1", "the policy must be a mapping with type: anon_pipeline.AnonymizedRelease and attributes"),
        ("", "the policy must be a mapping with type: anon_pipeline.AnonymizedRelease and attributes"),
        ("a: 1\n---\nb: 2", "the policy must be one well-formed YAML document, line 2 is not"),
        ("a: [1", "the policy must be one well-formed YAML document, line 1 is not"),
        ("a: 1\nb: !!python/object/apply:os.getcwd []", "line 2 is not"),
        ("a: !secret x", "line 1 is not"),
        ("a: !!map scalar", "line 1 is not"),
        ("a: !!bool maybe", "line 1 is not"),
        ("a: !!int many", "line 1 is not"),
        ("a: !!timestamp never", "line 1: must be a date of the calendar"),
        ("x: 1\nstart: 2026-13-45", "line 2: must be a date of the calendar, got one that is not"),
        ("{? [a, b] : c}", "line 1 is not"),
        ("a: " + "9" * 5000, "line 1: a number must have at most 100 characters, got more"),
        ("a: \x00", "the policy must be one well-formed YAML document"),
        ("[" * 4_000, "the policy must be one well-formed YAML document"),
    ],
    ids=lambda value: value[:20],
)
def test_text_that_is_no_policy(text: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    assert message in str(caught.value)
    assert "Traceback" not in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert "During handling" not in shown
    assert "direct cause" not in shown


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00a", "directory"])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "policy.yaml"
    if content == "directory":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(
        PolicyError, match=r"the policy must be a readable UTF-8 file, policy\.yaml: "
    ) as caught:
        load_policy(path)
    assert str(tmp_path) not in str(caught.value)
