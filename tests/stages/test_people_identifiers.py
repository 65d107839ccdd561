"""Identifiers whose repeated values are people with several records, and those that only repeat."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.values import WrittenColumns
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.people_identifiers import people_identifiers, same_person

FIRST, LAST = (
    ["Anna", "Bert", "Cara", "Doris"],
    [f"{a}{b}" for a in ("Bro", "Cla", "Del") for b in ("wn", "rk", "aney")],
)


def policy_of(*identifiers: str, **columns: Any) -> Policy:
    drop = {"role": "identifier", "action": "drop"}
    quasi = {"age": {"role": "generalize", "hierarchy": {"intervals": [10]}}}
    given = {**quasi, **dict.fromkeys(identifiers, drop), **columns}
    return policy_from({"name": "n", "source": {"path": "n.csv"}, "columns": given, "anonymize": {"k": 5}})


def visits(people: int = 100, each: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    own = np.repeat(np.arange(people), each)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, len(own)),
            "email": [f"p{i}@x.example" for i in own],
            "telephone": [f"+353 1 {i // 2:06d}" for i in own],
            "id": own,
            "name": [f"{FIRST[i % 4]} {LAST[i % 9]}" for i in own],
            "birth_date": [f"19{40 + i % 50}-0{1 + i % 9}-1{i % 9}" for i in own],
        }
    )


def found_in(frame: pd.DataFrame, policy: Policy, said: str | None = None) -> tuple[str, ...]:
    people = {name: same_person(frame[name]) for name in policy.identifiers if name != said}
    return people_identifiers(WrittenColumns(frame), policy, people, said=said)


def test_what_a_person_has_for_themself_counts() -> None:
    frame = visits()
    found = found_in(frame, policy_of("email", "telephone", "id"))
    assert found == ("email", "id")  # a telephone is that of a home


def test_a_number_says_nothing_where_the_policy_says_who_it_is() -> None:
    assert found_in(visits(), policy_of("email", "id"), "email") == ()


@pytest.mark.parametrize("each", [1, 2])
def test_repeated_by_mistake_is_not_several_records(each: int) -> None:
    """One in twenty records may repeat a value."""
    frame = visits(200, 1)
    frame.loc[: 9 * each, "email"] = "none@x.example"
    assert found_in(frame, policy_of("email")) == (() if each == 1 else ("email",))


def test_names_count_with_a_date_of_birth_that_agrees() -> None:
    frame = visits(36)
    birth = {"birth_date": {"role": "identifier", "action": "drop"}}
    assert found_in(frame, policy_of("name", **birth)) == ("name",)
    mixed = frame.assign(birth_date=np.random.default_rng(2).permutation(frame["birth_date"]))
    assert found_in(mixed, policy_of("name", **birth)) == ()


def test_one_word_is_the_name_of_several_people() -> None:
    frame = visits().assign(name=lambda whole: whole["name"].str.split().str[1])
    birth = {"birth_date": {"role": "identifier", "action": "drop"}}
    assert found_in(frame, policy_of("name", **birth)) == ()


def test_an_address_that_is_made_of_the_name_does_not_count_for_it() -> None:
    frame = visits()
    frame["login"] = frame["name"].str.lower().str.replace(" ", ".") + "@x"
    login = {"login": {"role": "identifier", "action": "drop"}}
    frame["birth_date"] = "1970-01-01"
    assert "name" not in found_in(frame, policy_of("name", **login))


def test_one_persons_spellings_are_one_number() -> None:
    assert same_person(pd.Series([" Ann", "ann ", "Bob", "", None])).tolist() == [0, 0, 1, -1, -1]
