"""Sections around the proposed columns: safe defaults, files for tables, how cells are cleaned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.draft.attributes import (
    KEY_NAME,
    MOST_LIMITED,
    Chosen,
    Place,
    attributes_of,
    clean_section,
    describe_unlimited,
    limited_columns,
    owner_of,
    plain_name,
    table_files,
    usual_choice,
)
from anon_pipeline.draft.profile.layout import Layout
from anon_pipeline.draft.profile.profile_table import Profile, profile_table
from anon_pipeline.draft.profile.proposals import Sure
from anon_pipeline.policy.load import policy_from

RNG = np.random.default_rng(0)
N = 300
PLACE = Place("people", "people.csv")
TOWNS = [f"Town {i}" for i in range(12)]


def profiled(**columns: object) -> Profile:
    return profile_table(pd.DataFrame(columns), layout=Layout("csv", ";", "cp1252"))


def test_it_is_a_policy_with_limits_where_there_is_something_to_limit() -> None:
    found = profiled(
        sex=RNG.choice(["f", "m"], N),
        weight=RNG.normal(70, 9, N).round(1).astype(str),
        salary=RNG.integers(30, 99, N).astype(str),
    )
    attributes = attributes_of(found, found.proposals, PLACE, Chosen(10, 2.0, 0.9))
    policy = policy_from(attributes)
    assert (policy.anonymize.k, policy.gate.k, policy.gate.confidence_k) == (10, 10, 10)
    assert (policy.perturb.epsilon, policy.gate.linking_risk, policy.gate.suppression) == (2.0, 0.1, 0.2)
    assert dict(policy.gate.t_closeness) == {"salary": 0.5}
    assert policy.gate.l_diversity["salary"].l == 2
    assert (policy.source.options.sep, policy.source.options.encoding) == (";", "cp1252")
    assert policy.acknowledged == ()


def test_without_noise_there_is_no_limit_on_linking() -> None:
    found = profiled(sex=RNG.choice(["f", "m"], N))
    attributes = attributes_of(found, found.proposals, PLACE, usual_choice(N))
    assert {"perturb", "suppress"}.isdisjoint(attributes)
    assert attributes["gate"] == {"k": 5, "suppression": 0.2}


def test_k_is_smaller_for_small_tables_alone() -> None:
    assert (usual_choice(999).k, usual_choice(1_000).k) == (5, 10)


def test_tables_have_files_of_their_own() -> None:
    found = profiled(
        **{"city": RNG.choice(TOWNS, N), "City ": RNG.choice(TOWNS[::-1], N), "sex": ["f", "m"] * (N // 2)}
    )
    files = table_files(found.proposals, PLACE)
    assert list(files) == ["city", "City "]
    assert files["city"] == "private/people/city.csv"
    assert len(set(files.values())) == 2
    attributes = attributes_of(found, found.proposals, PLACE, usual_choice(N))
    assert attributes["columns"]["city"] == {"role": "generalize", "hierarchy": {"table": files["city"]}}


def test_cells_are_cleaned_as_they_are_written() -> None:
    found = profiled(
        born=[f"{i % 28 + 1:02d}.01.19{i % 40 + 50}" for i in range(N)],
        sex=RNG.choice(["F", "f", "m", "-"], N),
        salary=[f"{i % 90 + 1}'000.50 CHF" for i in range(N)],
        bonus=[f"{i % 7}%" for i in range(N)],
        visits=[*map(str, RNG.integers(0, 20, N - 1)), "NA"],
    )
    assert clean_section(found, found.proposals) == {
        "strip": True,
        "missing": ["-"],
        "columns": {
            "born": {"type": "date", "format": "%d.%m.%Y"},
            "sex": {"case": "lower"},
            "salary": {"type": "number", "thousands": "'", "currency": "CHF"},
            "bonus": {"type": "number", "percent": True},
            "visits": {"missing": ["-", "NA"]},
        },
    }
    policy_from(attributes_of(found, found.proposals, PLACE, usual_choice(N)))


def test_files_with_types_are_not_cleaned() -> None:
    found = profile_table(pd.DataFrame({"x": [1, 2, 3]}), layout=Layout("parquet"))
    assert clean_section(found, found.proposals) == {}


@pytest.mark.parametrize("form", ["jsonl", "excel", "parquet"])
def test_texts_of_files_with_types_are_cleaned_like_those_of_a_csv(form: str) -> None:
    columns = {
        "salary": RNG.normal(50_000, 9_000, N).round(-2),
        "sex": RNG.choice(["f", "m", " f", "n/a"], N),
    }
    typed = profile_table(pd.DataFrame(columns), layout=Layout(form))
    assert clean_section(typed, typed.proposals) == {"strip": True, "missing": ["n/a"]}
    policy_from(attributes_of(typed, typed.proposals, PLACE, usual_choice(N)))


def test_so_many_sensitive_columns_are_limited_and_items_come_last() -> None:
    items = {f"q{i}": RNG.integers(1, 6, N).astype(str) for i in range(8)}
    found = profiled(**items, diagnosis=RNG.choice(["a", "b", "c"], N), income=["0"] * (N - 5) + ["1"] * 5)
    names = limited_columns(found.proposals)
    assert len(names) == MOST_LIMITED
    assert names[0] == "diagnosis"
    assert "income" not in names  # nearly one value


@pytest.mark.parametrize(
    ("text", "name"), [("Kunden 2024 (neu)", "Kunden_2024_neu"), ("2024", "release_2024"), ("é", "e")]
)
def test_names_of_releases(text: str, name: str) -> None:
    assert plain_name(text) == name


def test_people_are_counted_where_a_column_says_whose_record_it_is() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "user_id": np.repeat([f"u{number}" for number in range(N // 4)], 4),
            "sex": rng.choice(["f", "m"], N // 4 * 4),
            "weight": rng.normal(75, 12, N // 4 * 4).round(1).astype(str),
        }
    )
    found = profile_table(frame, layout=Layout("csv"))
    proposals = [replace(one, person=one.name == "user_id") for one in found.proposals]
    policy = policy_from(attributes_of(found, proposals, PLACE, usual_choice(N)))
    assert (policy.person, policy.rows_per_person) == ("user_id", 4)
    assert policy.deidentify is not None and policy.deidentify.key_env == KEY_NAME
    quiet = [one for one in proposals if one.name != "weight"]
    assert "rows_per_person" not in attributes_of(found, quiet, PLACE, usual_choice(N))
    assert owner_of(found.proposals) is None


def test_what_was_said_to_be_secret_is_limited_first_and_the_others_say_why_not() -> None:
    names = [f"salary {i}" for i in range(MOST_LIMITED + 1)]
    found = profiled(
        **{name: RNG.integers(30, 99, N).astype(str) for name in names},
        religion=["none"] * (N - 3) + ["a", "b", "c"],
    )
    assert describe_unlimited(found.proposals) is not None
    said = [replace(p, sure=Sure.CERTAIN) if p.name == names[-1] else p for p in found.proposals]
    limited = limited_columns(said)
    assert (limited[0], len(limited)) == (names[-1], MOST_LIMITED)
    assert describe_unlimited(said) == (
        f"{names[-2]} (at most 5 columns get one, since each leaves classes out); "
        "religion (nearly all records have one value)"
    )
    assert describe_unlimited([p for p in said if p.name in limited]) is None
