"""Roles that are proposed, in doubt the careful one; a column that nobody can classify is a question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import look_at
from anon_pipeline.draft.profile.output import holds
from anon_pipeline.draft.profile.proposals import Proposal, Sure
from anon_pipeline.draft.profile.roles import propose_role
from anon_pipeline.policy.columns import Sensitive

RNG = np.random.default_rng(0)
N = 400


def of(name: str, values: object) -> Proposal:
    return propose_role(look_at(pd.Series(values, name=name)))


OWN = [f"K-{i}" for i in range(N)]
AMOUNTS = RNG.lognormal(8, 1, N).round(2)
FEW = RNG.choice(["a", "b", "c"], N)


@pytest.mark.parametrize(
    ("name", "values", "role", "sure"),
    [
        ("x", [None] * N, "identifier", Sure.CERTAIN),
        ("x", ["a"] * N, "identifier", Sure.CERTAIN),
        ("contact", [f"a{i}@example.org" for i in range(N)], "identifier", Sure.CERTAIN),
        ("surname", RNG.choice([f"n{i}" for i in range(90)], N), "identifier", Sure.CERTAIN),
        ("product_name", FEW, "identifier", Sure.UNSURE),
        ("x", OWN, "identifier", Sure.CERTAIN),
        ("customer_no", np.arange(N), "identifier", Sure.CERTAIN),
        ("x", np.arange(N), "identifier", Sure.LIKELY),
        ("branch_id", RNG.integers(0, 60, N), "identifier", Sure.LIKELY),
        ("remarks", [f"w{i}" for i in range(30)] * 10, "identifier", Sure.LIKELY),
        ("birth_date", pd.date_range("1950-01-01", periods=N), "generalize", Sure.LIKELY),
        ("sex", FEW, "generalize", Sure.LIKELY),
        ("weight", RNG.normal(75, 10, N).round(1), "perturb", Sure.LIKELY),
        ("x", RNG.normal(75, 10, N).round(1), "perturb", Sure.UNSURE),
        ("x", FEW, "generalize", Sure.UNSURE),
        ("salary", AMOUNTS, "sensitive", Sure.LIKELY),
        ("diagnosis", FEW, "sensitive", Sure.LIKELY),
        (
            "when",
            [f"{i}.{j}" for i in range(20) for j in range(19)] + ["soon"] * 20,
            "identifier",
            Sure.UNSURE,
        ),
    ],
)
def test_roles(name: str, values: object, role: str, sure: Sure) -> None:
    found = of(name, values)
    assert (found.role, found.sure) == (role, sure), found.reason
    assert found.question is not None or sure is not Sure.UNSURE


def test_nothing_is_proposed_as_public() -> None:
    names = ["weather", "colour", "x", "is_public", "country", "status"]
    assert all(of(name, FEW).role != "insensitive" for name in names)


def test_sensitive_numbers_are_rounded_within_bounds_of_public_steps() -> None:
    column = of("salary", AMOUNTS).column
    assert isinstance(column, Sensitive)
    assert column.round is not None
    assert column.top is not None
    assert column.top < AMOUNTS.max()
    assert (column.top / column.round).is_integer()


@pytest.mark.parametrize(("name", "values"), [("diagnosis", FEW), ("salary", AMOUNTS)])
def test_a_secret_that_often_lacks_its_value_is_left_out_and_not_generalized(name: str, values: Any) -> None:
    found = of(name, np.where(RNG.random(N) < 0.3, None, values))
    assert found.dropped
    assert found.question == questions.needed_with_gaps(name)
    empty = of(name, np.where(RNG.random(N) < 0.7, None, values))
    assert (empty.dropped, empty.question) == (True, questions.MOSTLY_EMPTY)
    assert f"and {found.seen.missing_share:.1%} of its cells are empty" in found.reason


def test_a_few_missing_values_are_left_out() -> None:
    values = AMOUNTS.astype(object)
    values[:3] = None
    column = of("salary", values).column
    assert isinstance(column, Sensitive)
    assert column.missing == "suppress"


def test_an_identifier_that_repeats_asks_for_persons() -> None:
    found = of("patient_id", np.repeat(np.arange(N // 4 * 3), 2)[:N])
    assert found.dropped
    assert "person: patient_id" in (found.question or "")


def test_an_ambiguous_date_is_a_question() -> None:
    dates = [f"{i % 12 + 1:02d}/{i % 11 + 1:02d}/19{i % 40 + 50}" for i in range(N)]
    found = of("born", dates)
    assert found.role == "generalize"
    assert "does the day come first" in (found.question or "")


PHONES = [f"044 {i:03d} {i % 90 + 10} 67" for i in range(200, 200 + N)]
CODES = [f"A{i % 30}" for i in range(N)]


@pytest.mark.parametrize(
    ("phones", "sure", "reason", "shown"),
    [
        (N, Sure.CERTAIN, "its values have the form of telephone numbers", "telephone numbers"),
        (N // 10, Sure.LIKELY, "some of its values have", "categories, some telephone numbers"),
        (1, Sure.UNSURE, "a few (less than 5%) of its values have", "categories, a few telephone numbers"),
    ],
)
def test_how_sure_follows_the_share_of_what_looks_like_an_identifier(
    phones: int, sure: Sure, reason: str, shown: str
) -> None:
    found = of("reference", PHONES[:phones] + CODES[phones:])
    assert (found.role, found.sure, holds(found.seen)) == ("identifier", sure, shown)
    assert found.reason.startswith(reason)
    assert (found.question is None) == (sure is Sure.CERTAIN)


def test_a_free_text_with_an_identifier_in_it_is_left_out_without_a_question() -> None:
    texts = [f"a long remark about what was said on day {i}" for i in range(N)]
    found = of("x", ["call me on 044 668 18 00 again, please, soon", *texts[1:]])
    assert (found.role, found.sure, found.question) == ("identifier", Sure.CERTAIN, None)
    assert "a few (less than 5%) of its values have the form of telephone numbers" in found.reason


def test_a_secret_with_many_empty_cells_is_a_question_that_names_the_command_for_secret() -> None:
    few, many = (pd.Series(AMOUNTS).where(np.arange(N) >= empty) for empty in (N // 100, N // 20))
    assert of("salary", few).role == "sensitive"
    found = of("salary", many)
    assert found.role != "sensitive" and "--answer salary=secret" in str(found.question)
    assert "missing" not in str(of("x", FEW).question)


@pytest.mark.parametrize(
    "values",
    [
        [f"{i % 28 + 1:02}.03.{1930 + i % 60}" for i in range(N)] + ["1960-04-0" + "1"] * 9 + ["31.02.1960"],
        [f"{i // 7 + 20}'{i % 900 + 100}" for i in range(N)] + [f"{i}192,45" for i in range(10, 60)],
        [f"{50_000 + 13 * i},45" for i in range(N)] + ["53192.45"],
    ],
    ids=["days of two formats and one of none", "thousands and decimals", "one other mark"],
)
def test_numbers_and_dates_of_several_forms_are_a_question(values: list[str]) -> None:
    found = of("Income", values)
    assert (found.role, found.sure) == ("identifier", Sure.UNSURE), found.reason
    assert found.question is not None and "stand for no value" in found.question


def test_a_mark_that_may_be_of_thousands_is_a_question() -> None:
    found = of("Income", [f"{10 + i % 80},{i % 9}00" for i in range(N)] + ["12,50"])
    assert found.question is not None and "that of thousands?" in found.question


def test_times_with_a_zone_are_dates() -> None:
    found = of("created_at", [f"2025-{i % 12 + 1:02}-{i % 28 + 1:02}T07:{i % 60:02}:40Z" for i in range(N)])
    assert found.role == "generalize"
    assert found.seen.date is not None and found.seen.date.formats == ("%Y-%m-%dT%H:%M:%SZ",)


@pytest.mark.parametrize(
    "form", ["{:02}.{:02}.{:02}", "{:02}/{:02}/{:02}", "{:02}.{:02}.20{:02}, 09:59 Uhr"], ids=str
)
def test_dates_that_are_not_read_are_a_question(form: str) -> None:
    dates = [form.format(i % 28 + 1, i % 12 + 1, i % 90 + 10) for i in range(N)]
    found = of("Date of birth", dates)
    assert (found.role, found.sure, found.seen.dated) == ("identifier", Sure.UNSURE, True)
    assert "does it hold dates or times?" in (found.question or "")
    assert not of("x", OWN).seen.dated


GIVEN = ("Amir", "Olivia", "Leo", "Chloe", "Noah", "Mia", "Jack", "Sofia", "Omar", "Grace")
FAMILY = ("Ahmed", "Walker", "Chen", "Silva", "Khan", "Jones", "Novak", "Rossi", "Weber", "Dubois")


@pytest.mark.parametrize("name", ["label", "entry", "title", "class", "item"])
def test_names_of_people_are_left_out_whatever_the_column_is_called(name: str) -> None:
    full = [f"{GIVEN[i % 10]} {FAMILY[i // 10 % 10]}" for i in range(N)]
    titled = [f"{('Ms', 'Mr.', 'Dr')[i % 3]} {FAMILY[i % 10]}" for i in range(N)]
    for values in (full, titled):
        found = of(name, values)
        assert (found.role, found.reason) == ("identifier", "its values look like names of people")


@pytest.mark.parametrize("name", ["special needs", "Schwerbehindert", "handicap"])
def test_disabilities_are_secrets(name: str) -> None:
    assert of(name, FEW).role == "sensitive"
