"""A policy in whose file questions of `init` stand publishes nothing, whoever read the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import Locations, anonymize, make_release
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.release_kinds import RELEASE_KINDS, ReleaseKind
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.policy import Policy, load_policy, policy_from
from anon_pipeline.policy.load_declared import load_declared
from anon_pipeline.policy.open_questions import describe_questions, questions_in, refuse_open_questions
from anon_pipeline.policy.templates import declared_template
from anon_pipeline.publish.rehearsal import rehearse
from tests.cli.projects import write_policy

Small = Callable[..., Policy]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", ()),
        ("# QUESTION: who?\n", (1,)),
        ("\n  # QUESTION: who?\n\t# QUESTION: who else?", (2, 3)),
        ("# `# QUESTION:` stands where\nname: a  # QUESTION: here\n# question: who?\n", ()),
        (
            "\ufeff# QUESTION: who?\r#QUESTION: what?\r\n## QUESTION : how?\x85#\u00a0QUESTION: why?",
            (1, 2, 3, 4),
        ),
    ],
)
def test_lines_that_begin_with_the_mark_ask(text: str, asked: tuple[int, ...]) -> None:
    assert questions_in(text) == asked


def test_how_many_there_are_and_where_is_said() -> None:
    assert describe_questions(()) is None
    refuse_open_questions(())
    assert "1 question of init stands in the policy (line 7)." in str(describe_questions((7,)))
    with pytest.raises(PolicyError, match=r"2 questions of init .* \(lines 3, 18\).* Until then nothing is"):
        refuse_open_questions((3, 18))
    assert "9 questions of init stand in the policy (lines 1, 2, 3, 4, 5 …)" in str(
        describe_questions(range(1, 10))
    )


def test_they_change_no_digest_and_go_along_with_copies(small_policy: Small) -> None:
    policy = small_policy()
    asked = policy.with_open_questions((3, 4))
    assert (asked.digest, asked.making) == (policy.digest, policy.making)
    assert asked.model_copy(update={"dataset": "other"}).open_questions == (3, 4)
    assert policy_from(asked).open_questions == (3, 4)
    assert policy.open_questions == ()


def test_a_release_is_refused_and_a_rehearsal_is_not(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    people, file = small_people(), tmp_path / "policy.yaml"
    people.to_csv(tmp_path / "people.csv", index=False)
    write_policy(file, small_policy())
    places = Locations.of(tmp_path, {})
    assert load_policy(file).open_questions == ()
    file.write_text(f"# QUESTION: who?\n{file.read_text()}")
    asked = load_policy(file)
    assert rehearse(asked, places).report.passed
    for made in (lambda: make_release(asked, places), lambda: anonymize(asked, people)):
        with pytest.raises(PolicyError, match="1 question of init stands"):
            made()
    assert not places.release(asked).exists()
    assert make_release(asked.with_open_questions(()), replace(places, ledger="off")).report.passed


@pytest.mark.parametrize("kind", RELEASE_KINDS.values(), ids=lambda kind: kind.name)
def test_so_is_a_release_of_another_kind(kind: ReleaseKind, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(f"{declared_template(kind, 'visitors')}\n  # QUESTION: who?\n")
    asked = load_declared(file, kind)
    with pytest.raises(PolicyError, match="1 question of init stands"):
        make_declared_release(asked, Locations.of(tmp_path, {}))
    assert not Locations.of(tmp_path, {}).release(asked).exists()
