"""`rehearse`: what `run` would say, and nothing is published."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from jsonschema import validate

from anon_pipeline import Policy
from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Folder, write_policy

Folders = Callable[..., Folder]


def test_a_rehearsal_in_words_and_as_json(folder: Folders) -> None:
    made = folder()
    said = made.call("rehearse", "policy.yaml")
    assert said.code == 0
    assert "Nothing was published, and no ε was spent." in said.out
    assert "What would be left:" in said.out
    assert "To publish: anon-pipeline run policy.yaml" in said.out
    assert "for the curator" in said.err
    done = made.call("rehearse", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("rehearse"))
    assert document["published"] is False
    assert document["records"] > 0
    assert {verdict["value"] for verdict in document["verdicts"]} == {None}
    assert not any("band" in verdict for verdict in document["verdicts"])
    assert not (made.path / "out").exists()


def test_what_helps_against_hidden_columns_was_tried(
    folder: Folders, small_policy: Callable[..., Policy]
) -> None:
    people = [
        f"p{i},{20 + i % 40},{'Cork' if i % 2 else 'Kerry'},{170 + i % 9},{i % 7},flu{i % 4},a"
        for i in range(300)
    ]
    rare = [f"r{i},30,village{i},170,3,flu1,a" for i in range(24)]
    made = folder("\n".join(["person,age,city,height,income,illness,note", *people, *rare, ""]))
    own = small_policy(
        anonymize={"suppression_limit": 0.01, "k": 3},
        gate={"suppression": 0.4},
        one_record_per_person=True,  # ages, heights and illnesses follow from the number of the record
    )
    write_policy(made.path / "policy.yaml", own)
    done = made.call("rehearse", "policy.yaml")
    assert done.code == 0, done.err
    assert "utility_fully_generalized" in done.out and "tries what helps" not in done.out
    advice = [line for line in done.out.splitlines() if line.startswith("advice")]
    kept = "city would no longer be hidden entirely."
    assert any("anonymize.suppression_limit: " in line and line.endswith(kept) for line in advice), done.out
    told = json.loads(made.call("rehearse", "policy.yaml", "--json").out)["advice"]
    assert [f"advice    {line}" for line in told] == advice


@pytest.mark.parametrize("as_json", [False, True])
def test_a_refusal_has_the_code_of_run(
    folder: Folders, small_policy: Callable[..., Policy], as_json: bool
) -> None:
    made = folder()
    write_policy(made.path / "policy.yaml", small_policy(gate={"linking_risk": 0.0}))
    done = made.call("rehearse", "policy.yaml", *(["--json"] if as_json else []))
    assert done.code == 1
    if as_json:
        document = json.loads(done.out)
        validate(document, schema_of("rehearse"))
        assert document["advice"]
    else:
        assert "refused by linking_risk" in done.err


def test_questions_of_init_that_are_left_are_a_warning_and_nothing_is_published(folder: Folders) -> None:
    made = folder()
    file = made.path / "policy.yaml"
    assert "questions of init" not in made.call("rehearse", "policy.yaml").err
    file.write_text(file.read_text() + "# `# QUESTION:` stands where\n    # QUESTION: one\n# QUESTION: two\n")
    rehearsed, run = (made.call(command, "policy.yaml") for command in ("rehearse", "run"))
    assert (rehearsed.code, run.code) == (0, 2)
    assert "warning: 2 questions of init stand in the policy" in rehearsed.err
    assert "2 questions of init stand in the policy" in run.err
    assert "Until then nothing is published" in run.err
    assert not (made.path / "releases").exists()
