"""Who looks like a person with several records, and who only has the name of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.policy import Policy
from anon_pipeline.risk.repeated_combinations import FEWEST_COLUMNS
from anon_pipeline.stages.repeated_people import repeated_people

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def visits(people: pd.DataFrame, times: int) -> pd.DataFrame:
    """Each person so many times: what identifies stays, the rest varies."""
    again = people.loc[np.repeat(people.index, times)].reset_index(drop=True)
    rng = np.random.default_rng(3)
    return again.assign(height=rng.permutation(again["height"]), illness=rng.permutation(again["illness"]))


def test_people_with_several_records_are_seen(small_policy: Small, small_people: People) -> None:
    assert repeated_people(visits(small_people(60), 3), small_policy()) == ("person",)


def test_one_person_with_ten_records_is_enough(small_policy: Small, small_people: People) -> None:
    people = small_people(60)
    table = pd.concat([people, *[people.iloc[[7]]] * 9], ignore_index=True)
    assert repeated_people(table, small_policy()) == ("person", "age", "city", "height")


@pytest.mark.parametrize("names", [20, 60, 120])
def test_names_that_many_people_have_are_none(small_policy: Small, small_people: People, names: int) -> None:
    people = small_people()
    drawn = np.random.default_rng(5).integers(0, names, len(people))
    assert repeated_people(people.assign(person=[f"name {i}" for i in drawn]), small_policy()) == ()


def test_writing_and_order_do_not_hide_anybody(small_policy: Small, small_people: People) -> None:
    table = visits(small_people(60), 2)
    table.loc[::2, "person"] = table.loc[::2, "person"].str.upper() + " "
    assert repeated_people(table, small_policy()) == ("person",)
    assert repeated_people(table.sample(frac=1, random_state=1), small_policy()) == ("person",)


def test_who_says_who_it_is_is_not_warned(small_policy: Small, small_people: People) -> None:
    table, key = visits(small_people(60), 3), {"deidentify": {"key_env": "K"}}
    assert repeated_people(table, small_policy(person="person", rows_per_person=3, **key)) == ()
    assert repeated_people(table, small_policy(record_key="person", **key)) == ()


def test_a_single_pair_and_missing_values_are_no_reason(small_policy: Small, small_people: People) -> None:
    people = small_people(60)
    twice = pd.concat([people, people.iloc[[0]]], ignore_index=True)
    assert repeated_people(twice, small_policy()) == ()
    people.loc[:30, "person"] = None
    assert repeated_people(people, small_policy()) == ()
    people.loc[:30, "person"] = "  "
    assert repeated_people(people, small_policy()) == ()


@pytest.mark.parametrize("written", ["CH93 0076 2011 6238 5295 7", "same text", None])
def test_an_identifier_with_one_value_says_nothing(
    small_policy: Small, small_people: People, written: str | None
) -> None:
    columns = {"iban": {"role": "identifier", "action": "drop"}}
    table, key = small_people().assign(iban=written), {"deidentify": {"key_env": "K"}}
    table.loc[3, "iban"] = None
    assert repeated_people(table, small_policy(columns=columns)) == ()
    assert (
        repeated_people(table, small_policy(columns=columns, person="person", rows_per_person=1, **key)) == ()
    )


def test_where_nothing_tells_records_apart_repetition_is_enough(
    small_policy: Small, small_people: People
) -> None:
    table = visits(small_people(60), 2).assign(age=30, city="Cork")
    assert repeated_people(table, small_policy()) == ("person",)


QUASI = {"county": {"role": "generalize", "hierarchy": {"suppress": True}}}


def counties(people: pd.DataFrame) -> pd.DataFrame:
    return people.assign(county=np.random.default_rng(8).integers(0, 30, len(people)))


def test_people_are_seen_by_their_quasi_identifiers_where_no_identifier_is_left(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(columns={**QUASI, "person": None})
    people = counties(small_people(200)).drop(columns="person")
    assert repeated_people(people, policy) == ()
    assert repeated_people(visits(people, 3), policy) == ("age", "city", "county")


@pytest.mark.parametrize("who", ["person", "record_key"])
def test_a_number_of_the_row_is_no_person(small_policy: Small, small_people: People, who: str) -> None:
    more = {"rows_per_person": 3} if who == "person" else {}
    policy = small_policy(columns=QUASI, deidentify={"key_env": "K"}, **{who: "person"}, **more)
    table = visits(counties(small_people(200)), 3)
    assert repeated_people(table, policy) == ()
    rows = table.assign(person=[f"row {i}" for i in range(len(table))])
    assert repeated_people(rows, policy) == ("age", "city", "county")


def patients(number: int, seed: int, *, many: int = 25) -> pd.DataFrame:
    """Return visits of some patients whose age, city and county stay, and whose illness does not."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(number), rng.integers(12, many, number))
    own = {"age": rng.integers(20, 90, number), "city": rng.choice(list("abc"), number)}
    own["county"] = rng.integers(0, 30, number)
    frame = pd.DataFrame({name: values[who] for name, values in own.items()})
    shared = {"height": 170, "income": 1000, "note": "x"}
    return frame.assign(**shared, illness=rng.choice(["asthma", "flu", "gout"], len(who)))


def test_few_people_with_many_records_are_mostly_seen(small_policy: Small) -> None:
    """A pair of them who share an age is no sign that cities follow from ages."""
    policy = small_policy(columns={**QUASI, "person": None})
    seen = [bool(repeated_people(patients(40, seed), policy)) for seed in range(20)]
    assert sum(seen) >= 18


def test_records_that_lack_several_values_at_once_are_not_taken_for_one_persons(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(columns={**QUASI, "person": None})
    people = counties(small_people(600)).drop(columns="person").astype({"age": "Int64", "county": "Int64"})
    people.loc[:150, ["age", "city", "county"]] = pd.NA
    assert repeated_people(people, policy) == ()
    table = visits(people, 3)
    assert repeated_people(table, policy) == ("age", "city", "county")


def test_a_date_of_each_visit_hides_nothing(small_policy: Small) -> None:
    dated = {"month": {"role": "generalize", "hierarchy": {"dates": ["quarter", "year"]}}}
    policy = small_policy(columns={**QUASI, **dated, "person": None})
    table = patients(100, 2)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(
        np.random.default_rng(1).integers(0, 365, len(table)), "D"
    )
    table = table.assign(month=days)
    assert repeated_people(table, policy) == ("age", "city", "county")
    honest = table.assign(
        **{name: np.random.default_rng(9).permutation(table[name]) for name in ("age", "city")}
    )
    assert repeated_people(honest, policy) == ()


def test_a_column_that_follows_from_another_hides_nothing(small_policy: Small) -> None:
    """Where quasi-identifiers do not tell, sensitive columns are looked at, as where there are fewer."""
    rng, who = np.random.default_rng(6), np.repeat(np.arange(600), 3)
    town = rng.integers(0, 40, 600)
    own = {"town": town, "region": town // 8, "age": rng.integers(20, 90, 600)}
    own["illness"] = rng.choice(["asthma", "flu", "gout", "none"], 600)
    own["income"] = rng.integers(20, 60, 600)
    frame = pd.DataFrame({name: values[who].astype(str) for name, values in own.items()})
    levels = {"role": "generalize", "hierarchy": {"suppress": True}}
    columns = {"age": levels, "town": levels, "region": levels, "illness": {"role": "sensitive"}}
    policy = Policy.model_validate(
        {
            "name": "small",
            "source": {"path": "a.csv"},
            "columns": {**columns, "income": {"role": "sensitive"}},
            "anonymize": {"k": 3},
        }
    )
    assert repeated_people(frame, policy) == ("age", "town", "region", "illness", "income")
    assert repeated_people(frame.iloc[::3], policy) == ()


FEW: dict[str, Any] = {
    "columns": {
        "note": None,
        "height": {"role": "identifier", "action": "drop", "unit": None, "resolution": None},
    },
    "perturb": None,
    "suppress": None,
}


def test_sensitive_columns_count_where_all_others_are_too_few(
    small_policy: Small, small_people: People
) -> None:
    """Visits whose identifiers were dropped upstream, of people with an illness each."""
    people = small_people(3_000)
    policy = small_policy(**FEW)
    assert len([*policy.generalized, *policy.noisy, *policy.insensitive]) < FEWEST_COLUMNS
    assert repeated_people(people, policy) == ()
    rng = np.random.default_rng(4)
    table = people.loc[np.repeat(people.index[:600], 5)].reset_index(drop=True)
    table = table.assign(person=[f"visit {i}" for i in range(len(table))])
    assert repeated_people(table, policy) == ("age", "city", "income", "illness")
    mixed = table.assign(income=rng.permutation(table["income"]), illness=rng.permutation(table["illness"]))
    assert repeated_people(mixed, policy) == ("age", "city")  # each combination has a multiple of five
    assert repeated_people(mixed[:-1], policy) == ()
