"""The written policy: it loads as what was tuned, every column has its reason, and no value stands in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.attributes import Place
from anon_pipeline.draft.choice import Fitted, fit
from anon_pipeline.draft.policy_text import policy_text
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.policy.load import parse_policy

PLACE = Place("people", "data/people.csv")
N = 400
CANARY = "CANARY-7f3a"


@pytest.fixture(scope="module")
def made() -> tuple[Profile, Fitted, str]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"{CANARY} {i}" for i in range(N)],
            "sex": rng.choice([f"{CANARY} f", f"{CANARY} m"], N),
            "town: old": rng.choice([f"{CANARY}-{x}" for x in "abcdefghij"], N),
            "yes": rng.choice(["7771", "7772", "-"], N),
            "diagnosis": rng.choice([f"{CANARY} flu", f"{CANARY} cold"], N),
        }
    )
    found = profile_table(frame, layout=Layout("csv", ";", "cp1252", 1.0, True))
    fitted = fit(found, frame, PLACE)
    return found, fitted, policy_text(found, fitted, PLACE)


def test_it_loads_as_the_policy_that_was_tuned(made: tuple[Profile, Fitted, str]) -> None:
    _, fitted, text = made
    policy = parse_policy(text)
    assert policy.digest == fitted.policy.digest
    assert list(policy.columns) == ["name", "sex", "town: old", "yes", "diagnosis"]
    assert policy.acknowledged == ()


def test_each_column_and_section_has_its_reason_and_each_question_stands_there(
    made: tuple[Profile, Fitted, str],
) -> None:
    _, fitted, text = made
    lines = text.splitlines()
    for proposal in fitted.proposals:
        assert proposal.reason.split(";")[0] in " ".join(line.strip(" #") for line in lines)
    for section in ("source", "clean", "columns", "anonymize", "gate"):
        place = next(i for i, line in enumerate(lines) if line.startswith(f"  {section}:"))
        assert lines[place - 1].startswith("  # ")
    questions = [line for line in lines if line.strip().startswith("# QUESTION: ")]
    assert len(questions) >= sum(proposal.question is not None for proposal in fitted.proposals) + 1


def test_no_value_stands_in_it(made: tuple[Profile, Fitted, str]) -> None:
    text = made[2]
    assert CANARY not in text
    assert "777" not in text


def test_lines_are_no_longer_than_a_screen(made: tuple[Profile, Fitted, str]) -> None:
    assert max(map(len, made[2].splitlines())) <= 112
