"""What classes tell: of columns as they are released, behind noise, by the other quasi-identifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.homogeneous_values import (
    hidden_homogeneity,
    near_homogeneity,
    rank_values,
    spellings,
    told_by_others,
)
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]


def table() -> pd.DataFrame:
    """A class of ten records, and one of twenty."""
    return pd.DataFrame(
        {
            RECORD: np.arange(30),
            CLASS: [0] * 10 + [1] * 20,
            "age": ["[20, 40)"] * 10 + ["[40, 60)"] * 20,
            "city": ["*"] * 30,
            "height": [170.0] * 10 + [*range(150, 250, 5)],
            "income": [30_000.0 + i for i in range(10)] + [i * 10_000.0 for i in range(1, 21)],
            "illness": ["flu", "Flu", " flu", "FLU", "flu."] * 2 + ["gout", "none"] * 10,
            "note": [None] * 9 + ["a"] + ["a", "b"] * 10,
        }
    )


def evidence(policy: Policy, frame: pd.DataFrame | None = None, **originals: pd.DataFrame) -> Evidence:
    frame = table() if frame is None else frame
    return evidence_from(frame, policy, **{"originals": frame, **originals})


def test_spellings_missing_cells_and_nearly_equal_numbers_are_one_value(small_policy: Small) -> None:
    found = evidence(small_policy())
    shares = {name: near_homogeneity(found, name) for name in ("illness", "note", "income")}
    assert shares == {"illness": 1 / 3, "note": 1 / 3, "income": 1 / 3}
    assert spellings(found, "illness") == 5
    assert spellings(found, "income") == spellings(found, "note") == 0


def test_of_packed_tables_the_same_is_told(small_policy: Small) -> None:
    found = evidence(small_policy())
    columns = {str(name): pack_column(column) for name, column in table().items()}
    packed = replace(found, released=PackedTable(columns, len(table())))
    for name in ("illness", "note", "income"):
        assert near_homogeneity(packed, name) == near_homogeneity(found, name) > 0


@pytest.mark.parametrize(("others", "told"), [(1, 1 / 3), (2, 0.0)])
def test_nine_of_ten_are_nearly_certain_and_eight_are_not(
    small_policy: Small, others: int, told: float
) -> None:
    frame = table().assign(illness=["flu"] * (10 - others) + ["gout"] * others + ["gout", "none"] * 10)
    assert near_homogeneity(evidence(small_policy(), frame), "illness") == told


def test_equal_numbers_behind_noise_are_told_and_those_of_a_class_with_another_are_not(
    small_policy: Small,
) -> None:
    policy = small_policy()
    assert hidden_homogeneity(evidence(policy), policy, "height") == 1 / 3
    wide = table().assign(height=[170.0] * 9 + [190.0, *range(150, 250, 5)])
    assert hidden_homogeneity(evidence(policy, wide), policy, "height") == 0.0


def test_what_was_drawn_and_what_was_left_out_do_not_matter(small_policy: Small) -> None:
    policy = small_policy()
    drawn = table().assign(height=np.arange(30.0)).iloc[[3, 15, 7]]
    found = evidence_from(drawn, policy, originals=table())
    assert hidden_homogeneity(found, policy, "height") == 1 / 3


def test_a_quasi_identifier_is_told_by_the_others(small_policy: Small) -> None:
    policy = small_policy()
    frame = table().assign(city=["Cork"] * 10 + ["Galway", "Dublin"] * 10, **{CLASS: [0] * 10 + [1, 2] * 10})
    assert told_by_others(evidence(policy, frame), policy, "city") == 1 / 3
    more = frame.assign(city=["Cork"] * 30, age=["[20, 40)"] * 30, **{RECORD: range(30, 60), CLASS: [0] * 30})
    some = pd.concat([frame, more[:20]])  # three of five have it
    assert told_by_others(evidence(policy, some), policy, "city") == pytest.approx(0.6, abs=1e-3)
    most = pd.concat([frame, more, more.assign(**{RECORD: range(60, 90)})])
    assert told_by_others(evidence(policy, most), policy, "city") == 0.0  # more than two of three have it


def test_a_quasi_identifier_without_others_is_told_by_none(small_policy: Small) -> None:
    policy = small_policy(columns={"city": {"role": "insensitive", "hierarchy": None}})
    assert told_by_others(evidence(policy), policy, "age") == 0.0


def test_people_are_counted(small_policy: Small) -> None:
    policy = small_policy(
        person="person", rows_per_person=20, deidentify={"key_env": "KEY"}, suppress={"confidence": None}
    )
    whose = [*range(5), *[5] * 5, *range(10, 30)]
    frame = table().assign(illness=["flu"] * 10 + ["gout", "none"] * 10, _person_id=whose)
    assert near_homogeneity(evidence(policy, frame), "illness") == 6 / 26
    assert hidden_homogeneity(evidence(policy, frame), policy, "height") == 6 / 26


def test_subcodes_and_the_largest_numbers_are_nearly_one_value(small_policy: Small) -> None:
    """A class of twenty with eight codes of one illness and the largest incomes, and eight others.

    By chance a class has eighteen of the twenty with less than one in 10^15.
    """
    random = np.random.default_rng(3)
    hiv = [f"B2{i % 5}.{i % 8}" for i in range(20)]
    others = [f"{letter}{i}.{j}" for letter in "EIJK" for i in range(10, 20) for j in range(2)] * 2
    frame = pd.DataFrame(
        {
            RECORD: np.arange(180),
            CLASS: np.arange(180) // 20,
            "age": [f"[{20 * i}, {20 * i + 20})" for i in np.arange(180) // 20],
            "city": ["*"] * 180,
            "height": np.arange(180.0),
            "income": [*range(900_000, 1_100_000, 10_000), *random.permutation(160) * 1000],
            "illness": [*hiv, *random.permutation(others)],
            "note": ["a", "b", "c", "d", "e", "f"] * 30,
        }
    )
    found = evidence(small_policy(), frame)
    shares = {name: near_homogeneity(found, name) for name in ("illness", "note", "income")}
    assert shares == {"illness": pytest.approx(1 / 9), "note": 0.0, "income": pytest.approx(1 / 9)}


def test_missing_numbers_are_near_no_other() -> None:
    found = rank_values(pd.Series([1.0, None, 2.0, None, 100.0]))
    assert found.ranks.tolist() == [0, 3, 1, 3, 2]
    assert found.reach.tolist() == [2, 2, 3, 4]


@pytest.mark.parametrize("write", ["{}", "{} CHF", "{}k", " {}"])
def test_numbers_that_are_written_as_texts_are_numbers(write: str) -> None:
    numbers = np.random.default_rng(2).integers(200, 9_000, 300)
    texts = pd.Series([write.format(number) for number in numbers]).mask(numbers < 400)
    expected = rank_values(pd.Series(numbers.astype(float)).mask(numbers < 400))
    found = rank_values(texts)
    assert found.ranks.tolist() == expected.ranks.tolist()
    assert found.reach.tolist() == expected.reach.tolist()


@pytest.mark.parametrize(
    "texts",
    [
        [f"{code:05}" for code in range(8_001, 8_041)],  # postal codes
        [f"{code}" for code in range(19)],  # too few to be quantities
        [*(f"{code}" for code in range(100, 140)), "none"],
        [*(f"{code} kg" for code in range(100, 140)), "100 lb"],
        [f"J{code}" for code in range(10, 50)],
        [f"{code}-{code + 9}" for code in range(100, 140)],
    ],
)
def test_codes_words_and_several_units_are_no_numbers(texts: list[str]) -> None:
    reach = rank_values(pd.Series(texts)).reach
    assert reach.tolist() == [*range(1, len(texts) + 2)]


def test_a_file_alone_tells_nothing_of_originals(small_policy: Small) -> None:
    policy = small_policy()
    alone = evidence_from(table(), policy)
    for measure in (hidden_homogeneity, told_by_others):
        with pytest.raises(InputError, match="against the originals"):
            measure(alone, policy, "height")
