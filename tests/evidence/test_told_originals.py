"""Which released columns tell originals: copies in other units, codes, bands; not what goes with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import PERSON, code_quasi_identifiers
from anon_pipeline.evidence import told_originals as module
from anon_pipeline.evidence.told_originals import told_originals
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]


def table(n: int = 600, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in range(n)],
            "age": random.integers(20, 80, n),
            "city": random.choice(["Cork", "Dublin", "Galway"], n),
            "height": random.normal(170, 9, n).round(),
            "income": random.integers(20, 40, n) * 1000,
            "illness": random.choice(["asthma", "flu", "gout", "none"], n),
            "note": random.choice(["a", "b"], n),
        }
    )


def found(policy: Policy, frame: pd.DataFrame, classes: np.ndarray | None = None) -> dict[str, str]:
    codes = code_quasi_identifiers(frame, policy).codes
    return told_originals(
        frame, policy, codes, np.zeros(len(frame), np.int64) if classes is None else classes
    )


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("income", lambda f: (f["height"] / 2.54).round(1), {"height": "income"}),
        ("income", lambda f: -f["height"], {"height": "income"}),
        ("income", lambda f: f["age"] // 5 * 5, {"age": "income"}),
        ("illness", lambda f: f["city"].str[:1], {"city": "illness"}),
        ("illness", lambda f: "born " + (2026 - f["age"]).astype(str), {"age": "illness"}),
        ("note", lambda f: f["city"].replace("Galway", None), {"city": "note"}),
        ("income", lambda f: f["height"] + np.random.default_rng(3).normal(0, 9, len(f)), {}),
        ("illness", lambda f: np.where(f["city"] == "Cork", "south", "elsewhere"), {}),
        ("income", lambda f: f["age"] // 20 * 20, {}),  # three bands of sixty years
        ("income", lambda f: f["age"] // 15 * 15, {"age": "income"}),
    ],
)
def test_a_copy_tells_and_what_goes_with_it_does_not(
    small_policy: Small, name: str, values: Any, told: dict[str, str]
) -> None:
    frame = table()
    assert found(small_policy(), frame.assign(**{name: values(frame)})) == told


def test_nothing_is_told_of_what_the_classes_say_anyway(small_policy: Small) -> None:
    """Bands of five years beside classes of five years: generalization hides nothing that they tell."""
    frame = table().assign(income=lambda f: f["age"] // 5 * 5)
    classes = (frame["age"] // 5).rank(method="dense").to_numpy(np.int64) - 1
    assert found(small_policy(), frame) == {"age": "income"}
    assert found(small_policy(), frame, classes) == {}


def test_suppressed_records_do_not_count_and_without_others_there_is_nothing(small_policy: Small) -> None:
    frame = table().assign(income=lambda f: f["height"])
    assert found(small_policy(), frame, np.full(len(frame), -1)) == {}
    bare = small_policy(columns=dict.fromkeys(("income", "illness", "note")))
    assert found(bare, frame[[*bare.columns]]) == {}


def test_the_column_that_tells_most_is_named(small_policy: Small) -> None:
    frame = table().assign(income=lambda f: f["height"] // 4 * 4, note=lambda f: f["height"] * 2)
    assert found(small_policy(), frame) == {"height": "note"}


def test_drawn_categories_are_told_by_their_code(small_policy: Small) -> None:
    drawn = {
        "role": "perturb",
        "mechanism": "randomized_response",
        "values": ["asthma", "flu", "gout", "none"],
    }
    policy = small_policy(columns={"illness": {"distance": None, **drawn}})
    frame = table().assign(note=lambda f: f["illness"].str.upper())
    assert found(policy, frame) == {"illness": "note"}
    assert found(policy, table()) == {}


def test_many_records_of_a_person_count_once(small_policy: Small) -> None:
    """Ten people with sixty records each: their own ages and notes agree, and tell of ten, not of 600."""
    few = table(10)
    frame = few.loc[np.repeat(np.arange(10), 60)].reset_index(drop=True)
    frame["income"] = np.repeat(np.random.default_rng(5).permutation(10), 60)
    assert found(small_policy(), frame) != {}
    people = frame.assign(**{PERSON: np.repeat(np.arange(10), 60)})
    assert found(small_policy(), people) == {}


def test_of_a_large_table_whole_classes_are_looked_at(
    small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = table(3000).assign(income=lambda f: f["height"])
    classes = np.repeat(np.arange(30), 100)
    other = frame.assign(income=frame["income"].where(classes % 3 != 0, 0))  # not those that are looked at
    monkeypatch.setattr(module, "RECORDS", 1000)
    assert found(small_policy(), frame, classes) == {"height": "income"}
    assert found(small_policy(), other, classes) == {}


def test_numbers_that_tell_a_third_one_only_together_are_named(small_policy: Small) -> None:
    random = np.random.default_rng(5)
    frame = table().assign(income=random.normal(150, 9, 600), note=random.normal(20, 9, 600))
    told = frame.assign(height=frame["income"] + frame["note"])
    assert found(small_policy(), told) == {"height": ["income", "note"]}
    assert found(small_policy(), told.assign(height=told["height"] + random.normal(0, 9, 600))) == {}
    assert found(small_policy(), frame) == {}
