"""Questions: each can be answered from its words, and says what follows."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.detectors.forms import NumberForm
from anon_pipeline.draft.profile import questions

TEXTS = {name: text for name, text in vars(questions).items() if name.isupper()}


@pytest.mark.parametrize("name", TEXTS)
def test_it_begins_with_a_question_and_says_what_to_write_or_keep(name: str) -> None:
    question, _, follows = TEXTS[name].partition("?")
    assert question[:1].islower()
    assert any(word in follows for word in ("write", "keep", "Edit", "under clean"))
    for riddle in ("public", "secret", "Taken as", "meanwhile"):
        assert riddle not in TEXTS[name]


@pytest.mark.parametrize("name", TEXTS)
def test_questions_that_were_put_together_are_told_apart(name: str) -> None:
    several = questions.several_records("customer", 7, 0.034)
    assert questions.questions_of(TEXTS[name]) == [TEXTS[name]]
    assert questions.questions_of(f"{TEXTS[name]} {several}") == [TEXTS[name], several]


def test_it_says_what_an_unclear_mark_was_taken_for() -> None:
    assert "taken for a sign of thousands" in questions.decimal_or_thousands(NumberForm(thousands=","))
    assert "taken for the decimal sign" in questions.decimal_or_thousands(NumberForm())


def test_it_says_what_a_secret_with_many_empty_cells_needs() -> None:
    assert questions.known_to_others("wage", many_empty=False) == questions.KNOWN_TO_OTHERS
    asked = questions.known_to_others("wage", many_empty=True)
    assert "needs missing: suppress" in asked and "--answer wage=secret" in asked
    assert "--answer" not in questions.known_to_others("wage", many_empty=True, offered=False)


def test_a_secret_with_gaps_is_released_by_an_answer_that_can_be_given() -> None:
    assert "--answer salary=secret and --to" in questions.needed_with_gaps("salary")
    assert "--answer 'net pay=secret' and --to" in questions.needed_with_gaps("net pay")
    assert "--answer" not in questions.MOSTLY_EMPTY


def test_it_names_the_key_for_people_with_several_records() -> None:
    asked = questions.several_records("customer", 7, 0.034)
    assert "--answer customer=person and --to ANOTHER_FILE, or write person: customer below" in asked
    asked = questions.several_records("customer", 7, 0.034, offered=False)
    assert "--answer" not in asked and "first complete the records without a value" in asked
    assert "rows_per_person: 7, " in asked
    assert "at most 7 records; 3.4% of the records are beyond that" in asked


def test_it_names_the_detectors_to_allow() -> None:
    assert "allow: {telephone: the reason}" in questions.some_identifiers("telephone numbers", ["telephone"])


def test_on_a_terminal_only_what_asks_is_shown() -> None:
    text = f"{questions.TABLE} {questions.DAY_OR_MONTH}"
    assert questions.asked_in(text) == (
        "do the groups in its table suit your readers? does the day come first in its dates, or the month?"
    )
