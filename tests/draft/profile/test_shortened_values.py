"""Words that occur shortened and written out."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.roles import propose_role
from anon_pipeline.draft.profile.shortened_values import has_shortened


@pytest.mark.parametrize(
    ("texts", "shortened"),
    [
        (["m", "f", "male", "female"], True),
        (["w", "m", "weiblich", "männlich", "divers"], True),
        (["y", "n", "yes", "no"], True),
        (["gesch.", "geschieden", "ledig"], True),
        (["m", "f"], False),
        (["male", "female"], False),
        (["a", "b", "ab", "o"], False),
        (["s", "single", "separated"], False),  # which of both?
        (["no", "none", "normal"], False),
        (["1", "12 months", "123"], False),
        ([".", "male"], False),
        (["male.", "male"], False),  # another spelling: `spellings` warns of it
        ([], False),
    ],
)
def test_short_words_of_which_one_longer_word_begins_with_them(texts: list[str], shortened: bool) -> None:
    assert has_shortened(texts) is shortened


def test_a_column_of_many_names_is_not_looked_at() -> None:
    names = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}x" for i in range(120)]
    assert not has_shortened(["q", "quy", *names])
    assert has_shortened(["q", "quy", *names[:16]])


@pytest.mark.parametrize("name", ["sex", "answer"])
def test_it_is_asked_about_without_a_value_of_the_data(name: str) -> None:
    mixed = propose_role(look_at(pd.Series(["W", "weiblich", "männlich"] * 40, name=name)))
    assert mixed.question is not None and questions.SHORTENED in mixed.question
    assert "weiblich" not in mixed.question
    alike = propose_role(look_at(pd.Series(["weiblich", "männlich", "divers"] * 40, name=name)))
    assert questions.SHORTENED not in (alike.question or "")
