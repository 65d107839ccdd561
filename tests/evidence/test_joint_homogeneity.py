"""What a class and an insensitive column reveal together: by hand, of numbers, of people, of large tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.evidence import told_originals
from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.homogeneous_values import rank_values
from anon_pipeline.evidence.joint_homogeneity import (
    PAIRED,
    alike_columns,
    first_cells,
    joint_homogeneity,
    paired_homogeneity,
    union_homogeneity,
)

N = 400


def evidence(classes: Sequence[int], people: Sequence[int] | None = None, **columns: object) -> Evidence:
    frame = pd.DataFrame(columns)
    found = value_classes(pd.DataFrame({"class": classes}), ["class"])
    rows = np.arange(len(frame))
    behind = Originals(frame, found.labels, rows, np.empty((len(frame), 0)), np.array(people or rows))
    return Evidence(frame, found, None if people is None else behind, hierarchies=None)  # type: ignore[arg-type]


def test_a_building_of_one_illness_is_found_and_a_ward_of_all_is_not() -> None:
    """A quarter of each class of 20 has gout; building R holds these, and building S the others."""
    illness = np.tile(["gout", "flu", "asthma", "none"], N // 4)
    found = joint_homogeneity(
        evidence(
            [i // 20 for i in range(N)],
            illness=illness,
            building=np.where(illness == "gout", "R", "S"),
            ward=np.tile(["a", "b", "c", "d", "e"], N // 5),
            missing=np.where(illness == "gout", None, "x"),
        ),
        "illness",
        ["building", "missing", "ward"],
    )
    assert found == {
        "building": pytest.approx(0.25, abs=1e-3),
        "missing": pytest.approx(0.25, abs=1e-3),  # a gap is information, too
        "ward": 0.0,
    }


def test_two_columns_reveal_what_neither_of_them_does() -> None:
    """Shift and wing have three values each, and each pair of them one of nine illnesses."""
    random = np.random.default_rng(3)
    shift, wing = random.integers(0, 3, (2, 900))
    columns = {
        "illness": np.array([f"illness {i}" for i in range(9)])[3 * shift + wing],
        "shift": shift.astype(str),
        "wing": wing.astype(str),
        "other": random.integers(0, 3, 900).astype(str),
    }
    made = evidence([i // 60 for i in range(900)], **columns)
    others = ["other", "shift", "wing"]
    assert joint_homogeneity(made, "illness", others) == dict.fromkeys(others, 0.0)
    found = paired_homogeneity(made, "illness", others)
    assert found == {"other + shift": 0.0, "other + wing": 0.0, "shift + wing": pytest.approx(1, abs=0.01)}
    many = {f"more {i}": random.integers(0, 50, 900).astype(str) for i in range(PAIRED)}
    made = evidence([i // 60 for i in range(900)], **columns, **many)
    found = paired_homogeneity(made, "illness", [*many, "shift", "wing"])
    assert len(found) == PAIRED * (PAIRED - 1) // 2
    assert {pair for pair, share in found.items() if share > 0} == {"shift + wing"}


def test_pairs_of_columns_without_a_connection_say_nothing() -> None:
    random = np.random.default_rng(4)
    for _ in range(40):
        columns = {f"c{i}": random.integers(0, 2 + i, N).astype(str) for i in range(4)}
        illness = random.choice(["gout", "flu", "asthma", "none"], N)
        made = evidence([i // 10 for i in range(N)], illness=illness, **columns)
        assert {*paired_homogeneity(made, "illness", [*columns]).values()} == {0.0}


def test_nearly_equal_numbers_count_as_equal() -> None:
    """Pay of 52,000 to 52,400 in one building, of 20,000 to 120,000 in the others."""
    random, one = np.random.default_rng(0), np.arange(N) % 5 == 0
    pay = np.where(one, 52_000 + random.integers(0, 5, N) * 100, random.integers(200, 1200, N) * 100)
    columns = {"pay": pay, "building": np.where(one, "R", "S")}
    found = joint_homogeneity(evidence([i // 20 for i in range(N)], **columns), "pay", ["building"])
    assert found["building"] == pytest.approx(0.2, abs=0.01)


def test_people_count_once() -> None:
    """Forty people with ten records each: as records each person's ward would reveal the illness."""
    whose = np.arange(N) // 10
    columns = {"illness": whose % 4, "ward": whose}
    counted = evidence([0] * N, [*map(int, whose)], **columns)
    assert joint_homogeneity(counted, "illness", ["ward"]) == {"ward": 0.0}
    assert joint_homogeneity(evidence([0] * N, **columns), "illness", ["ward"])["ward"] > 0.9


def test_of_a_large_table_whole_classes_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_originals, "RECORDS", N // 2)
    illness = np.tile(["gout", "flu", "asthma", "none"], N // 4)
    building = np.where(illness == "gout", "R", "S")
    made = evidence([i // 20 for i in range(N)], illness=illness, building=building)
    assert joint_homogeneity(made, "illness", ["building"])["building"] == pytest.approx(0.25, abs=1e-3)


@given(st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=60))
def test_cells_hold_nearly_equal_values_and_are_in_order(numbers: list[int | None]) -> None:
    found = rank_values(pd.Series(pd.array(numbers, dtype="Float64")))
    cells = first_cells(found)
    assert (np.diff(cells) >= 0).all() and (np.diff(cells) <= 1).all()
    for cell in np.unique(cells):
        inside = np.flatnonzero(cells == cell)
        assert found.reach[inside[0]] >= inside[-1] + 1  # all as near as the first one reaches


ILLNESSES = ["asthma", "flu", "gout", "none", "measles"]


def two_columns(n: int, seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {"main": random.choice(ILLNESSES, n), "second": random.choice(ILLNESSES, n)}


def test_a_class_with_one_illness_in_two_columns_is_found() -> None:
    """Two of twenty classes: half of their people have hiv as the main illness, the others as the second."""
    made = two_columns(N, 0)
    made["main"][:40:2], made["second"][1:40:2] = "hiv", "hiv"
    found = evidence([i // 20 for i in range(N)], **made)
    assert union_homogeneity(found, ["main", "second"]) == pytest.approx(0.1, abs=1e-4)
    assert union_homogeneity(found, ["main"]) == union_homogeneity(found, ["second"]) == 0
    twice = evidence(
        [i // 20 for i in range(N)] * 2, [*range(N)] * 2, **{k: [*v, *v] for k, v in made.items()}
    )
    assert union_homogeneity(twice, ["main", "second"]) == pytest.approx(0.1, abs=1e-4)


@pytest.mark.parametrize("k", [3, 5, 20])
def test_of_two_columns_without_a_connection_small_classes_say_nothing(k: int) -> None:
    """In classes of three everybody often has one of five illnesses in one of two columns, by chance."""
    for seed in range(100):
        found = evidence([i // k for i in range(N)], **two_columns(N, seed))
        assert union_homogeneity(found, ["main", "second"]) <= 0.05


def test_columns_of_one_secret_are_those_that_share_most_of_four_texts() -> None:
    random = np.random.default_rng(0)
    made = evidence(
        [0] * N,
        **two_columns(N, 0),
        third=np.where(np.arange(N) % 2, random.choice(["Flu", "GOUT", "none", "asthma"], N), "x"),
        rarely=np.where(np.arange(N) % 3, random.choice(["sprain", "burn"], N), random.choice(ILLNESSES, N)),
        smoker=random.choice(["yes", "no", "unknown"], N),
        driver=random.choice(["yes", "no", "unknown"], N),
        pay=np.arange(N),
        bonus=np.arange(N),
        empty=[None] * N,
    )
    assert alike_columns(made, [*made.released.columns]) == [["main", "second", "third"]]
