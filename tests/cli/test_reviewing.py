"""`review`: the questions, and a section that makes the policy reviewed when it is added."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
import yaml
from jsonschema import validate

from anon_pipeline import Policy, load_policy
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.limits.review_questions import review_questions
from tests.cli.projects import Folder, write_policy

Folders = Callable[..., Folder]
WHO = 'The "second" office: Åse'


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give answers on standard input, a letter each."""
    return lambda letters: monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{a}\n" for a in letters)))


def test_the_printed_section_reviews_the_policy(folder: Folders, answer: Callable[[str], None]) -> None:
    made = folder()
    file = made.path / "policy.yaml"
    document = yaml.safe_load(file.read_text())
    asked = len([*review_questions(load_policy(file))])
    answer("y" * asked)
    done = made.call("review", "policy.yaml", "--who", WHO)
    assert done.code == 0
    document["attributes"] |= yaml.safe_load(done.out[done.out.index("  reviewed:") :])
    file.write_text(yaml.safe_dump(document))
    assert load_policy(file).is_reviewed
    again = made.call("review", "policy.yaml", "--who", WHO)
    assert f"Reviewed by {WHO} on" in again.out
    assert "reviewed:" not in again.out
    document["attributes"]["anonymize"]["k"] = 7
    file.write_text(yaml.safe_dump(document))
    answer("y" * asked)
    assert "  reviewed:" in made.call("review", "policy.yaml", "--who", WHO).out


@pytest.mark.parametrize("answers", ["n", "yyn", "yy", ""])
def test_without_a_yes_to_each_question_there_is_no_section(
    folder: Folders, answer: Callable[[str], None], answers: str
) -> None:
    made = folder()
    digest = load_policy(made.path / "policy.yaml").review_digest
    answer(answers)
    done = made.call("review", "policy.yaml", "--who", WHO)
    no = answers.endswith("n")
    assert done.code == (1 if no else 2)
    assert ("standard input ended before all questions were answered" in done.err) == (not no)
    said = f"Question {len(answers)} was answered with no. Change the policy, and review it again."
    assert (said in done.out) == no
    assert digest not in done.out + done.err


def test_the_questions_can_be_read_before(folder: Folders) -> None:
    made = folder()
    policy = load_policy(made.path / "policy.yaml")
    done = made.call("review", "policy.yaml")
    assert done.code == 0
    assert all(question in done.out for question in review_questions(policy))
    assert policy.review_digest not in done.out


def test_nobody_reviews_nothing(folder: Folders) -> None:
    done = folder().call("review", "policy.yaml", "--who", "the author")
    assert done.code == 2
    assert "--who must name a person or an office" in done.err


def test_as_json(folder: Folders, small_policy: Callable[..., Policy]) -> None:
    made = folder()
    write_policy(made.path / "policy.yaml", small_policy())
    document = json.loads(made.call("review", "policy.yaml", "--json").out)
    validate(document, schema_of("review"))
    assert document["is_reviewed"] is False
    assert document["columns"]["insensitive, released as they are"] == ["note"]
