"""Answers to a question about a column: those that its values allow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.answers import (
    MEANINGS,
    NOT_KNOWN,
    answer_columns,
    as_proposed,
    columns_left_out,
    possible_answers,
    prompt_of,
)
from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.profile_table import profile_table
from anon_pipeline.draft.profile.proposals import drop_instead
from anon_pipeline.draft.profile.record_owners import asks_for_owners
from anon_pipeline.draft.profile.roles import propose_role


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
    assert all(proposal.question is None for proposal in found.values())


def test_nobody_answers_by_a_role_whether_people_have_several_records() -> None:
    values = [f"P{number // 2:05d}" for number in range(1_000)]
    proposed = propose_role(look_at(pd.Series(values, name="customer_id")))
    several = questions.several_records("customer_id", 2, 0.0)
    assert proposed.question is not None and several in proposed.question
    assert as_proposed(proposed).question == several


def test_a_column_may_say_whose_record_it_is() -> None:
    look = look_at(pd.Series([f"P{number // 2:05d}" for number in range(1_000)], name="customer_id"))
    found = possible_answers(look, person=asks_for_owners(propose_role(look)))
    assert [*found] == ["leave out", "known", "person"]
    owner = found["person"]
    assert (owner.person, owner.dropped, owner.question) == (True, True, None)
    assert {*found} < {*MEANINGS}
    lacking = look_at(
        pd.Series([None, *(f"P{number // 2:05d}" for number in range(999))], name="customer_id")
    )
    assert not asks_for_owners(propose_role(lacking))  # a record without a person is an error


@pytest.mark.parametrize(
    ("empty", "offered", "said"),
    [
        (0.01, True, ""),
        (0.1, True, "secret also needs missing: suppress, and an anonymize.suppression_limit"),
        (0.6, False, "secret is not offered: 60.0% of its cells are empty"),
    ],
)
def test_a_secret_with_empty_cells_is_offered_and_said_what_it_does(
    empty: float, offered: bool, said: str
) -> None:
    numbers = np.random.default_rng(0).lognormal(8, 1, 500).round(2)
    look = look_at(pd.Series(np.where(np.arange(500) < 500 * empty, None, numbers), name="salary"))
    answers, proposed = possible_answers(look), propose_role(look)
    assert ("secret" in answers) == offered
    prompt = prompt_of(replace(proposed, question=proposed.question or "is it?"), look, answers)
    assert said in prompt
    assert "keep this line" not in prompt and "role:" not in prompt
    assert ("secret" in prompt) == bool(said)


def test_an_answer_about_the_role_leaves_what_is_unclear_about_the_cells() -> None:
    look = look_at(
        pd.Series([f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/19{i % 40 + 50}" for i in range(100)], name="x")
    )
    found = possible_answers(look)
    assert found["known"].question == questions.DAY_OR_MONTH
    assert found["leave out"].question is None
    kept = as_proposed(propose_role(look))
    assert kept.question == questions.DAY_OR_MONTH  # no role says which it is
    assert kept.reason.endswith("whoever ran init took it as proposed")


def test_columns_that_are_left_out_against_an_answer_are_named() -> None:
    looks = [look_at(pd.Series(["a", "b"] * 50, name=name)) for name in ("known", "taken", "unasked", "out")]
    said = [possible_answers(looks[0])["known"], as_proposed(propose_role(looks[1]))]
    said += [propose_role(looks[2]), possible_answers(looks[3])["leave out"]]
    assert columns_left_out(said, said) == []
    assert columns_left_out(said, [drop_instead(one, "refused", "why?") for one in said]) == [
        "known",
        "taken",
    ]


def test_where_person_is_an_answer_it_is_said_what_it_means() -> None:
    look = look_at(pd.Series([f"P{number // 2:05d}" for number in range(1_000)], name="customer_id"))
    proposed = propose_role(look)
    prompt = prompt_of(proposed, look, possible_answers(look, person=True))
    assert prompt == questions.ONE_PERSON
    asked = replace(proposed, question=f"{proposed.question} {questions.DAY_OR_MONTH}")
    prompt = prompt_of(asked, look, possible_answers(look, person=True))
    assert prompt == f"{questions.ONE_PERSON} {questions.asked_in(questions.DAY_OR_MONTH)}"
    assert questions.ONE_PERSON not in prompt_of(proposed, look, possible_answers(look))


def test_what_known_releases_is_said_where_values_may_name_people() -> None:
    rng = np.random.default_rng(0)
    letters = rng.choice([*"abcdefghijklmnopqrstuvwxyz"], (400, 6))
    words = ["".join(word) for word in letters]
    look = look_at(pd.Series(rng.choice(words, 2_000), name="line"))
    proposed = propose_role(look)
    assert questions.MANY_CATEGORIES in str(proposed.question)
    answers = possible_answers(look)
    assert "known" in answers
    assert prompt_of(proposed, look, answers) == f"could a value name a person? {NOT_KNOWN}"
    other = replace(proposed, question=questions.NO_HIERARCHY)
    assert NOT_KNOWN not in prompt_of(other, look, answers)


TABLE = pd.DataFrame(
    {
        "customer_id": [f"P{number // 2:05d}" for number in range(1_000)],
        "town": [f"town {number % 7}" for number in range(1_000)],
        "ward": [f"ward {number % 5}" if number % 3 == 0 else None for number in range(1_000)],
    }
)


def test_answers_are_given_by_name_also_where_nothing_is_asked() -> None:
    found = profile_table(TABLE)
    said = {"customer_id": "person", "town": "secret", "ward": "as proposed"}
    owner, town, ward = answer_columns(found, said)
    assert (owner.person, owner.dropped, owner.question) == (True, True, None)
    assert (town.role, town.question) == ("sensitive", None)
    assert ward == as_proposed(found.proposals[2])
    assert answer_columns(found, {}) == list(found.proposals)


def test_nobody_is_asked_who_owns_the_records_once_an_answer_says_it() -> None:
    frame = TABLE.assign(client_id=[f"C{number // 4:05d}" for number in range(1_000)])
    found = profile_table(frame)
    assert [asks_for_owners(one) for one in found.proposals] == [True, False, False, True]
    answered = answer_columns(found, {"client_id": "person"})
    assert not any(asks_for_owners(one) for one in answered)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"twon": "secret"}, "--answer must name columns of the data, got: twon"),
        ({"town": "public"}, "--answer for town must be one of as proposed, leave out, known, secret"),
        (
            {"town": "person"},
            "--answer for town must be one of as proposed, leave out, known, secret, got person; its values "
            "or its name do not allow that",
        ),
        (
            {"ward": "secret"},
            "--answer for ward must be one of as proposed, leave out, known, got secret; secret is not "
            "offered: 66.6% of its cells are empty, and such records would be left out.",
        ),
    ],
)
def test_unknown_columns_and_answers_that_no_value_allows_are_refused(
    said: dict[str, str], error: str
) -> None:
    with pytest.raises(InputError) as raised:
        answer_columns(profile_table(TABLE), said)
    assert str(raised.value) == error


def test_all_answers_that_are_wrong_are_named_at_once() -> None:
    lacking = TABLE.assign(customer_id=TABLE["customer_id"].where(TABLE.index > 5))
    with pytest.raises(InputError) as raised:
        answer_columns(profile_table(lacking), {"customer_id": "person", "ward": "secret", "twon": "known"})
    unknown, person, secret = raised.value.problems
    assert "twon" in unknown and "ward" in secret
    assert person.endswith(
        "person needs a value in every record: complete the others, or remove them from the source"
    )


def test_two_columns_cannot_say_whose_record_it_is() -> None:
    found = profile_table(TABLE.assign(client_id=[f"C{number // 4:05d}" for number in range(1_000)]))
    with pytest.raises(InputError, match="person for one column, got: customer_id, client_id"):
        answer_columns(found, {"customer_id": "person", "client_id": "person"})
