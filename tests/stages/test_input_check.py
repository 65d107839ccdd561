"""The input is cleaned and accepted, or all that is wrong with it is listed at once, without a cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import accept
from anon_pipeline.policy import Policy
from anon_pipeline.stages.input_check import accepted_input

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
CANARY = "CANARY-7f3a"
CLEAN: dict[str, Any] = {
    "strip": True,
    "missing": ["-"],
    "columns": {
        "income": {"thousands": "'", "currency": "CHF"},
        "city": {"case": "upper", "values": {"CRK": "CORK"}},
    },
}


def messy(people: pd.DataFrame) -> pd.DataFrame:
    """Write a table as people do."""
    return people.assign(
        income=[f"CHF {income:,}".replace(",", "'") for income in people["income"]],
        city=[f" {'Crk' if city == 'Cork' else city}\u00a0" for city in people["city"]],
        age=people["age"].astype(str),
        height=people["height"].astype(str) + " ",
    )


def test_a_policy_without_clean_accepts_what_it_did(small_policy: Small, small_people: People) -> None:
    people = small_people()
    found = accepted_input(small_policy(), people)
    pd.testing.assert_frame_equal(found, accept(people, small_policy()))


def test_a_messy_table_is_the_tidy_one(small_policy: Small, small_people: People) -> None:
    people = small_people()
    tidy = people.assign(city=people["city"].str.upper())
    found = accepted_input(small_policy(clean=CLEAN), messy(people))
    assert digest_frame(found.drop(columns="age")) == digest_frame(
        accept(tidy, small_policy()).drop(columns="age")
    )
    assert found["age"].tolist() == people["age"].tolist()


def test_all_mistakes_are_listed_at_once(small_policy: Small, small_people: People) -> None:
    people = messy(small_people())
    people.loc[7, "income"] = "EUR 5"
    people.loc[[7, 8], "height"] = "1,5"
    people.loc[9, "illness"] = "-"
    people.loc[[10, 11, 12], "city"] = CANARY
    tree = {"tree": {"South": ["CORK"], "North": ["DUBLIN", "GALWAY"]}}
    policy = small_policy(clean=CLEAN, columns={"city": {"hierarchy": {"suppress": None, **tree}}})
    with pytest.raises(InputError) as caught:
        accepted_input(policy, people)
    assert caught.value.problems == (
        "height: must be a number, got 2 records with another decimal or thousands sign. Correct the "
        "source: other values of the column have the signs that are set.",
        "income: must be a number, got 1 record with a text next to the number. In clean.columns.income: "
        "write currency: with that text, if it is one.",
        "illness: must have a value in every record, got 1 missing. Set missing: suppress to suppress those "
        "records.",
        "city: every value must be a leaf of its hierarchy, 3 records have values that it does not list. "
        "`anon-pipeline hierarchy DATA city --policy POLICY --not-leaves FILE` writes which. Add them to it, "
        "or map them to leaves in clean.columns (city: {values: ...}).",
    )
    assert caught.value.withheld_records() == (
        "height, with another decimal or thousands sign: 8, 9",
        "income, with a text next to the number: 8",
    )


def test_names_that_do_not_fit_are_listed_with_the_mistakes(
    small_policy: Small, small_people: People
) -> None:
    people = messy(small_people()).rename(columns={"note": "strange"})
    people["height"] = "x"
    with pytest.raises(InputError) as caught:
        accepted_input(small_policy(clean=CLEAN), people)
    assert "height: must be a number, got 240 records without a digit" in str(caught.value)
    assert "got no note" in str(caught.value)
    assert caught.value.withheld_names() == ("column 7: strange",)


def test_without_clean_a_column_of_numbers_says_what_would_mend_it(
    small_policy: Small, small_people: People
) -> None:
    people = messy(small_people())
    with pytest.raises(InputError, match=r"In clean\.columns\.income: write currency") as caught:
        accepted_input(small_policy(), people)
    assert "income: must be a number, got 240 records with something else" in str(caught.value)


def test_of_a_column_without_a_readable_value_nothing_else_is_said(
    small_policy: Small, small_people: People
) -> None:
    people = small_people().assign(income="x")
    with pytest.raises(InputError) as caught:
        accepted_input(small_policy(clean={}), people)
    assert [line.partition(",")[0] for line in caught.value.problems] == ["income: must be a number"]
