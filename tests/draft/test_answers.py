"""Answers to a question about a column: those that its values allow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.answers import possible_answers
from anon_pipeline.profile.looking import look_at


@pytest.mark.parametrize(
    ("values", "answers"),
    [
        (["a", "b"] * 50, {"leave out": "identifier", "known": "generalize", "secret": "sensitive"}),
        (
            np.arange(100) / 7,
            {"leave out": "identifier", "known": "generalize", "noise": "perturb", "secret": "sensitive"},
        ),
        ([f"x{i}y" for i in range(1200)], {"leave out": "identifier"}),
    ],
)
def test_answers(values: object, answers: dict[str, str]) -> None:
    found = possible_answers(look_at(pd.Series(values, name="x")))
    assert {answer: proposal.role for answer, proposal in found.items()} == answers
    assert all(proposal.question is None or "table" in proposal.question for proposal in found.values())
