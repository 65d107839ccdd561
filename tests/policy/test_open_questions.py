"""A policy in whose file questions of `init` stand publishes nothing, whoever read the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Locations, anonymize, make_release
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import Policy, load_policy, policy_from
from anon_pipeline.policy.open_questions import describe_questions, questions_in, refuse_open_questions
from anon_pipeline.publish.rehearsal import rehearse
from tests.cli.projects import write_policy

Small = Callable[..., Policy]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", 0),
        ("# QUESTION: who?\n", 1),
        ("\n  # QUESTION: who?\n\t# QUESTION: who else?", 2),
        ("# `# QUESTION:` stands where\nname: a  # QUESTION: here\n# question: who?\n", 0),
    ],
)
def test_lines_that_begin_with_the_mark_count(text: str, asked: int) -> None:
    assert questions_in(text) == asked


def test_how_many_is_said_in_words(small_policy: Small) -> None:
    policy = small_policy()
    assert describe_questions(policy) is None
    refuse_open_questions(policy)
    assert "1 question of init stands" in str(describe_questions(policy.with_open_questions(1)))
    with pytest.raises(PolicyError, match=r"2 questions of init stand.* Until then nothing is published"):
        refuse_open_questions(policy.with_open_questions(2))


def test_they_change_no_digest_and_go_along_with_copies(small_policy: Small) -> None:
    policy = small_policy()
    asked = policy.with_open_questions(3)
    assert (asked.digest, asked.making) == (policy.digest, policy.making)
    assert asked.model_copy(update={"dataset": "other"}).open_questions == 3
    assert policy_from(asked).open_questions == 3
    assert policy.open_questions == 0


def test_a_release_is_refused_and_a_rehearsal_is_not(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    people, file = small_people(), tmp_path / "policy.yaml"
    people.to_csv(tmp_path / "people.csv", index=False)
    write_policy(file, small_policy())
    places = Locations.of(tmp_path, {})
    assert load_policy(file).open_questions == 0
    file.write_text(f"# QUESTION: who?\n{file.read_text()}")
    asked = load_policy(file)
    assert rehearse(asked, places).report.passed
    for made in (lambda: make_release(asked, places), lambda: anonymize(asked, people)):
        with pytest.raises(PolicyError, match="1 question of init stands"):
            made()
    assert not places.release(asked).exists()
    assert make_release(asked.with_open_questions(0), replace(places, ledger="off")).report.passed
