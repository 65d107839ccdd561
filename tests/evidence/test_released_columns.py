"""Columns that follow people, or say by their name whom they are about: rates over seeded tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.evidence.identifying_columns import identifying_columns
from anon_pipeline.evidence.released_columns import following_columns, shown_columns, telling_columns
from anon_pipeline.policy.load import policy_from
from benchmarks.adult import SET_A, SET_B, adult_table
from tests.evidence.test_identifying_columns import ONE, TODAY

Small = Callable[..., Policy]
AGE, SEX = {"intervals": [5, 10, 20]}, {"suppress": True}
TABLES = 200


def policy_of(columns: dict[str, Any], **sections: Any) -> Policy:
    """A policy with age, sex and zip as quasi-identifiers."""
    quasi = {"age": AGE, "sex": SEX, "zip": {"mask": [1, 2, 3]}}
    generalized = {name: {"role": "generalize", "hierarchy": made} for name, made in quasi.items()}
    source = {"path": "people.csv"}
    whole = {"name": "follow", "source": source, "columns": {**generalized, **columns}, "anonymize": {"k": 5}}
    return policy_from({**whole, **sections})


def people(seed: int, n: int) -> pd.DataFrame:
    """One record each; half of the postal codes are the only ones of their city."""
    random = np.random.default_rng(seed)
    code = random.choice(40, n, p=random.dirichlet(np.full(40, 2.0)))
    job = random.choice(30, n, p=random.dirichlet(np.ones(30)))
    return pd.DataFrame(
        {
            "age": random.gamma(6, 8, n).astype(int).clip(18, 95),
            "sex": random.choice(["f", "m"], n),
            "zip": [f"{10_000 + 7 * one}" for one in code],
            "city": [f"city {one if one < 20 else 20 + one // 4}" for one in code],
            "job": job,
            "employer": [f"firm {one}" for one in job * 2 + random.integers(0, 3, n)],
            "illness": random.choice(40, n, p=random.dirichlet(np.ones(40))),
        }
    )


def visits(seed: int, persons: int) -> pd.DataFrame:
    """A few records of each person: the hash of a number stays, age and address change now and then."""
    random = np.random.default_rng(seed)
    frame = people(seed, persons)
    own = np.repeat(np.arange(persons), random.geometric(1 / 4, persons) + 1)
    table = frame.iloc[own].reset_index(drop=True)
    table["pseudonym"] = [hashlib.md5(f"{one}".encode()).hexdigest()[:10] for one in own]
    table["age"] += random.random(len(own)) < 0.3
    moved = random.random(len(own)) < 0.1
    table.loc[moved, "zip"] = random.permutation(table["zip"])[moved]
    table["illness"] = random.integers(0, 40, len(own))
    return table


def test_every_key_of_persons_is_found_and_nothing_else() -> None:
    """With 60 to 80 people a firm is often one of them, and was named in 4 of 200 tables."""
    columns = {name: {"role": "insensitive"} for name in ("city", "employer", "pseudonym")}
    policy = policy_of({**columns, "illness": {"role": "sensitive"}})
    missed = alarms = 0
    for seed in range(TABLES):
        found = following_columns(visits(seed, 120 + 5 * seed), policy)
        missed, alarms = missed + ("pseudonym" not in found), alarms + len({*found} - {"pseudonym"})
    assert (missed, alarms) == (0, 0)


def test_no_column_of_a_table_with_one_record_each_follows_anybody() -> None:
    columns = {name: {"role": "insensitive"} for name in ("city", "job", "employer")}
    policy = policy_of({**columns, "illness": {"role": "sensitive"}})
    found = [following_columns(people(seed, 100 + 20 * seed), policy) for seed in range(TABLES)]
    assert [names for names in found if names] == []


def test_the_message_says_what_to_do_and_it_is_enough() -> None:
    frame = visits(1, 300)[["age", "sex", "zip", "pseudonym"]]
    columns = {"pseudonym": {"role": "insensitive"}}
    [line] = identifying_columns(frame, policy_of(columns), today=TODAY)
    assert line.startswith("pseudonym: records with the same value agree in their quasi-identifiers")
    assert "as those of one person do: finding one of them then reveals all; if each" in line
    assert "set person, if a person has several records" in line
    assert "acknowledged: [{columns: [pseudonym], share: the largest share of different values" in line
    answered = {**ONE, "columns": ["pseudonym"]}
    assert identifying_columns(frame, policy_of(columns, acknowledged=[answered]), today=TODAY) == []
    little = policy_of(columns, acknowledged=[{**answered, "share": 0.01}])
    [line] = identifying_columns(frame, little, today=TODAY)
    assert "(what was measured exceeds the share of 0.01 that is acknowledged). Coarsen it" in line
    wider = policy_of(
        {**columns, "note": {"role": "insensitive"}},
        acknowledged=[{**answered, "columns": ["pseudonym", "note"]}],
    )
    assert len(identifying_columns(frame.assign(note="-"), wider, today=TODAY)) == 1


def test_with_a_person_people_are_counted_not_records() -> None:
    table = visits(2, 300)
    own = pd.factorize(table["pseudonym"])[0].astype(str)
    frame = table[["age", "sex", "zip", "illness"]].assign(customer=own, **{PERSON: own})
    columns = {"customer": {"role": "sensitive"}, "illness": {"role": "sensitive"}}
    policy = policy_of({**columns, "id": {"role": "identifier"}}, person="id", deidentify={"key_env": "KEY"})
    [line] = identifying_columns(frame, policy, today=TODAY)
    assert line.startswith(
        "customer: must not have half as many different values as people with a value or more"
    )


def test_names_are_refused_where_they_tell_people_apart() -> None:
    random = np.random.default_rng(3)
    frame = people(3, 600).assign(surname=random.integers(0, 90, 600), plate=random.integers(0, 9, 600))
    columns = {name: {"role": "sensitive"} for name in ("surname", "plate")}
    [line] = identifying_columns(frame, policy_of(columns), today=TODAY)
    assert line.startswith("surname: must not be released: its name says that it holds names of persons.")
    assert "or, if it holds something else, acknowledge it: add " in line
    answered = policy_of(columns, acknowledged=[{**ONE, "columns": ["surname"]}])
    assert identifying_columns(frame, answered, today=TODAY) == []


def test_a_date_of_birth_in_three_columns_counts_as_one() -> None:
    random = np.random.default_rng(4)
    parts = {"birth_day": 31, "birth_month": 12, "birth_year": 70}
    frame = people(4, 600).assign(**{name: random.integers(0, many, 600) for name, many in parts.items()})
    policy = policy_of({name: {"role": "sensitive"} for name in parts})
    assert [*telling_columns(frame, policy)] == [((*parts,), "dates of birth")]
    later = policy_of({name: {"role": "sensitive"} for name in ("birth_month", "birth_year")})
    assert [*telling_columns(frame, later)] == []


def test_a_coarse_column_may_have_its_name() -> None:
    born = np.datetime64("1950-01-01") + np.random.default_rng(5).integers(0, 50 * 365, 900)
    frame = people(5, 900).assign(dob=pd.Series(np.datetime_as_string(born, unit="D")).str[:7])
    coarse = {"role": "insensitive", "hierarchy": {"dates": ["month", "year"]}}
    by_month, by_year = (policy_of({"dob": {**coarse, "level": level}}) for level in (1, 2))
    assert [*telling_columns(frame, by_month)] == [(("dob",), "dates of birth")]
    assert [*telling_columns(frame.assign(dob=frame["dob"].str[:4]), by_year)] == []


@pytest.mark.parametrize(("epsilon", "shown"), [(3, []), (10, ["surname"])])
def test_categories_that_are_mostly_kept_count_as_released(epsilon: float, shown: list[str]) -> None:
    """Of 90 values ε = 3 keeps 18 %, ε = 10 99.6 %."""
    values = [f"name {i}" for i in range(90)]
    column = {"role": "perturb", "mechanism": "randomized_response", "values": values}
    policy = policy_of({"surname": column}, perturb={"epsilon": epsilon})
    frame = people(6, 900).assign(surname=np.random.default_rng(6).choice(values, 900))
    assert shown_columns(policy) == shown
    assert [columns for columns, _ in telling_columns(frame, policy)] == [(name,) for name in shown]
    lines = identifying_columns(frame, policy, today=TODAY)
    assert [line.partition(":")[0] for line in lines] == shown
    assert all("Set a smaller ε" in line for line in lines)


def test_a_drawn_column_that_follows_people_is_found() -> None:
    table = visits(7, 200)
    values = [*pd.unique(table["pseudonym"])]
    column = {"role": "perturb", "mechanism": "randomized_response", "values": values}
    policy = policy_of({"pseudonym": column}, perturb={"epsilon": 9})
    assert following_columns(table, policy) == ("pseudonym",)


def test_adult_has_no_column_that_follows_people(shared_data: Path) -> None:
    folder = shared_data / "adult"
    if not (folder / "adult.csv").is_file():
        pytest.skip("needs adult/adult.csv in the shared data")
    for chosen in (SET_A, SET_B):
        table = adult_table(folder)
        quasi = {name: {"role": "generalize", "hierarchy": SEX} for name in chosen}
        others = {name: {"role": "insensitive"} for name in table.columns if name not in quasi}
        policy = policy_from(
            {
                "name": "adult",
                "source": {"path": "adult.csv"},
                "columns": {**quasi, **others},
                "anonymize": {"k": 5},
            }
        )
        assert following_columns(table, policy) == ()
        assert [*telling_columns(table, policy)] == []


def test_the_message_of_records_of_different_people_speaks_of_people_who_belong_together() -> None:
    frame = visits(1, 300)[["age", "sex", "zip", "pseudonym"]].assign(row=range(len(visits(1, 300))))
    columns = {"pseudonym": {"role": "insensitive"}, "row": {"role": "identifier", "action": "drop"}}
    policy = policy_of(columns, record_key="row", deidentify={"key_env": "KEY"})
    [line] = identifying_columns(frame, policy, today=TODAY)
    assert "as those of a household do: finding one person of a group" in line
    assert "one record of a person" not in line
    assert "under person" not in line
