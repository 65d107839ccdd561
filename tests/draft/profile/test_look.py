"""What a column holds, as texts and with types; nothing that is known of it is one of its values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import Kind, look_at
from anon_pipeline.draft.profile.roles import propose_role

CANARY = "CANARY-7f3a"


def column(*values: object, dtype: str = "str") -> pd.Series:
    return pd.Series(list(values), name="x", dtype=dtype)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((None, None), Kind.EMPTY),
        (("-", None, ""), Kind.EMPTY),
        (("a", "a"), Kind.SAME),
        (("a", None), Kind.CATEGORY),
        (("1", "2"), Kind.NUMBER),
        (("01.02.2020", "13.02.2020"), Kind.DATE),
        (("02139", "94110"), Kind.CATEGORY),
        (("a", "b"), Kind.CATEGORY),
    ],
)
def test_kinds_of_texts(values: tuple[object, ...], kind: Kind) -> None:
    assert look_at(column(*values)).seen.kind is kind


def test_columns_with_types() -> None:
    numbers = look_at(column(1, 2, None, dtype="Int64"))
    assert (numbers.seen.kind, numbers.seen.whole, numbers.seen.missing) == (Kind.NUMBER, True, 1)
    dates = look_at(pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"]), name="x"))
    assert (dates.seen.kind, dates.seen.different) == (Kind.DATE, 2)
    assert look_at(column(True, False, dtype="bool")).seen.kind is Kind.CATEGORY


def test_values_are_as_they_are_read_and_codes_name_them() -> None:
    look = look_at(column(" 1'000", "-", "5", "5 "))
    assert look.values.tolist() == [1000, 5]
    assert look.codes.tolist() == [0, -1, 1, 1]
    assert look.counts.tolist() == [1, 2]
    assert (look.seen.missing, look.seen.missing_texts, look.seen.padded) == (1, ("-",), True)


def test_cases_are_joined_in_small_letters() -> None:
    look = look_at(column("F", "f", "m ", "M", "m"))
    assert (look.values.tolist(), look.seen.varied) == (["f", "m"], 2)
    assert look.codes.tolist() == [0, 0, 1, 1, 1]


def test_words_that_may_be_categories_are_missing_only_beside_numbers() -> None:
    assert look_at(column("5", "NA", "7")).seen.missing_texts == ("NA",)
    assert look_at(column("a", "NA", "b")).seen.missing_texts == ()


def test_free_text_is_told_from_categories() -> None:
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(100)]
    assert look_at(column(*words)).seen.kind is Kind.TEXT
    assert look_at(
        column(*["High school or less, no degree"] * 50, *["A degree of a university"] * 50)
    ).seen.kind is (Kind.CATEGORY)


@pytest.mark.parametrize(("last", "is_one"), [(999, True), (60, False), (-1, True)])
def test_numbers_that_may_stand_for_a_missing_value(last: int, is_one: bool) -> None:
    numbers = [*range(10, 60), last, last]
    assert look_at(column(*map(str, numbers))).seen.sentinel is is_one


def test_counted_numbers_and_mixed_texts() -> None:
    assert look_at(column(*map(str, range(7, 40)))).seen.consecutive
    assert not look_at(column("3", "1", "2")).seen.consecutive
    assert look_at(column(*(f"{i}" for i in range(19)), "soon")).seen.mixed == 0.95
    days = [f"{day:02}.{month:02}.1960" for month in range(1, 13) for day in range(1, 29)]
    assert look_at(column(*days)).seen.mixed == 0
    assert look_at(column(*days, "31.02.1960")).seen.mixed == pytest.approx(336 / 337)
    assert look_at(column(*(f"{i}-{i % 7:02}-55{i}" for i in range(100, 300)))).seen.mixed == 0


def test_nothing_that_is_known_is_a_value() -> None:
    look = look_at(column(*(f"{CANARY} {i}" for i in range(30)), "77712345"))
    assert CANARY not in repr(look.seen)
    assert CANARY not in repr(look)
    assert "777" not in repr(look)


def test_identifiers_are_found_by_form() -> None:
    assert look_at(column("ann@example.org", "bob@example.org")).seen.found == ("email",)


@pytest.mark.parametrize(
    ("texts", "lost"),
    [
        (["04109", "4109", "10115"], True),
        (["04109", "14109", "10115"], False),
        (["a4109", "0a4109", "x"], False),
        (["01", "1", "n/a"], True),
    ],
)
def test_digits_that_also_occur_without_their_zero(texts: list[str], lost: bool) -> None:
    assert look_at(column(*texts * 20)).seen.lost_zeros is lost


def test_lost_zeros_are_asked_about() -> None:
    codes = [f"{number:05d}" for number in range(1_000, 20_000, 500)]
    seen = look_at(pd.Series([*codes * 20, *(code.lstrip("0") for code in codes)], name="zip"))
    proposed = propose_role(seen)
    assert proposed.question is not None and questions.LOST_ZEROS in proposed.question
    alike = propose_role(look_at(pd.Series(codes * 20, name="zip")))
    assert questions.LOST_ZEROS not in (alike.question or "")
