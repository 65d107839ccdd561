"""Categories that are left out as a whole: by hand, against a loop, and not by chance."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline import anonymize
from anon_pipeline.evidence.lost_values import BY_CHANCE, lost_values
from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy, policy_from
from tests.honest_releases import report_of


def policy(**sections: object) -> Policy:
    columns = {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "origin": {"role": "generalize", "hierarchy": {"suppress": True}},
        "illness": {"role": "sensitive"},
    }
    given = {"name": "lost", "source": {"path": "a.csv"}, "columns": columns}
    return policy_from(
        {**given, "anonymize": {"k": 5, "recoder": "ola", "suppression_limit": 0.1}, **sections}
    )


def people(islanders: int) -> pd.DataFrame:
    """Each islander is the only one of an age; everybody else has many of the same age and origin."""
    random, n = np.random.default_rng(0), 400
    origin = np.where(np.arange(n) < islanders, "Inis", random.choice(["north", "south"], n))
    age = np.where(origin == "Inis", 20 + np.arange(n) % 60 // 3 * 3, random.choice([25, 35, 45, 55, 65], n))
    illness = random.choice(["asthma", "flu", "gout", "none"], n)
    return pd.DataFrame({"age": age, "origin": origin, "illness": illness})


def test_a_group_without_a_released_record_warns_and_names_the_column() -> None:
    verdict, none = (
        next(
            one
            for one in anonymize(policy(), people(islanders)).report.verdicts
            if one.limit == "utility_lost_values"
        )
        for islanders in (20, 0)
    )
    assert verdict.status is Status.WARNED
    assert verdict.reason == "a category of these columns is left out as a whole: origin"
    assert verdict.to_json()["reason"] is None  # which one, nobody but the curator is told
    assert none.status is Status.PASSED


def test_what_is_left_out_later_counts_too() -> None:
    """l-diversity suppresses the only class of the islanders, who all have one illness."""
    frame = people(20)
    frame.loc[frame["origin"] == "Inis", ["age", "illness"]] = [30, "gout"]
    whole = policy(gate={"l_diversity": {"illness": {"l": 2}}, "suppression": 0.1}, suppress={})
    release = anonymize(whole, frame)
    assert "Inis" not in {*release.frame["origin"]}
    (verdict,) = (one for one in release.report.verdicts if one.limit == "utility_lost_values")
    assert verdict.status is Status.WARNED


def test_a_range_of_a_class_that_is_left_out_is_no_category() -> None:
    """Confidence leaves out some of the classes, each of which has a range of its own."""
    random = np.random.default_rng(1)
    frame = people(0).assign(height=random.normal(170, 9, 400).round(), age=random.integers(18, 90, 400))
    columns = {
        **policy().model_dump()["columns"],
        "height": {"role": "perturb", "unit": "cm", "resolution": 1},
        "age": {"role": "generalize", "hierarchy": {"numbers": True}},
    }
    noisy = policy(
        columns=columns,
        anonymize={"k": 10, "recoder": "mondrian"},
        perturb={"epsilon": 2.0},
        suppress={"confidence": 0.9},
        gate={"suppression": 1.0, "linking_risk": 1.0},
    )
    release = anonymize(noisy, frame)
    assert 0 < len(release.frame) < 380
    (verdict,) = (one for one in release.report.verdicts if one.limit == "utility_lost_values")
    assert verdict.status is Status.PASSED


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "c", None]), st.booleans(), st.integers(0, 9)), max_size=60
    ),
    st.integers(1, 6),
    st.booleans(),
)
def test_it_is_what_a_loop_counts(rows: list[tuple[str | None, bool, int]], k: int, counted: bool) -> None:
    values = pd.Series([row[0] for row in rows], dtype="str")
    released, whose = np.array([row[1] for row in rows], bool), np.array([row[2] for row in rows], np.int64)
    found = lost_values(pd.DataFrame({"x": values}), "x", released, k=k, people=whose if counted else None)
    missing = 1 - sum(row[1] for row in rows) / max(len(rows), 1)
    records = Counter(row[0] for row in rows if row[0] is not None)
    wanted = 0
    for value, many in records.items():
        holders = len({row[2] for row in rows if row[0] == value}) if counted else many
        gone = not any(row[1] for row in rows if row[0] == value)
        wanted += gone and holders >= k and len(records) * missing**many < BY_CHANCE - 1e-12
    assert found == wanted


def test_records_left_out_at_random_say_nothing() -> None:
    """A third is left out, and there are 200 categories of 3 to 12 records: many are lost, by chance."""
    random, found, lost = np.random.default_rng(1), 0, 0
    for _ in range(200):
        values = pd.Series(np.repeat([f"v{i}" for i in range(200)], random.integers(3, 13, 200)))
        released = random.random(len(values)) > 1 / 3
        lost += len({*values} - {*values[released]})
        found += lost_values(pd.DataFrame({"x": values}), "x", released, k=3) > 0
    assert lost > 200
    assert found <= 200 * BY_CHANCE


def test_numbers_days_and_gaps_are_no_categories() -> None:
    released = np.array([False] * 10 + [True] * 190)
    for values in (
        np.arange(200) // 10,
        pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(200) // 10, "D"),
    ):
        assert lost_values(pd.DataFrame({"x": values}), "x", released, k=3) == 0
    assert lost_values(pd.DataFrame({"x": [None] * 10 + ["a"] * 190}), "x", released, k=3) == 0
    assert lost_values(pd.DataFrame({"x": ["b"] * 10 + ["a"] * 190}), "x", released, k=3) == 1
    assert lost_values(pd.DataFrame({"x": ["b"] * 10 + ["a"] * 190}), "x", released, k=11) == 0
    assert (
        lost_values(pd.DataFrame({"x": ["b"] * 10 + ["a"] * 190}), "x", ~released & False, k=3) == 0
    )  # nothing is released
    least = math.log(BY_CHANCE / 2) / math.log(0.05)
    assert least == pytest.approx(1.23, abs=0.01)  # two of twenty records left out: one holder is chance


def test_an_order_of_columns_is_that_of_the_policy() -> None:
    frame = people(20).assign(
        illness=lambda table: np.where(table["origin"] == "Inis", "measles", table["illness"])
    )
    facts = anonymize(policy(), frame).facts["k_anonymized"]
    assert facts["lost"] == ("origin", "illness")


@pytest.mark.parametrize(("name", "lost"), [("patients", ""), ("visits", ""), ("adult", "marital-status")])
def test_of_sane_releases_it_names_what_is_lost(name: str, lost: str) -> None:
    """Of Adult a marital status of 21 records is suppressed; the demo loses nothing."""
    (verdict,) = (one for one in report_of(name).verdicts if one.limit == "utility_lost_values")
    assert (verdict.reason or "").rpartition(": ")[2] == lost
