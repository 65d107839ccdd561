"""A release and its originals are brought together, or refused with counts and no values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.encode.grids import epsilon_shares, quantize_columns
from anon_pipeline.evidence.evidence import evidence_from, value_classes
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]


def originals() -> pd.DataFrame:
    return pd.DataFrame(
        {
            RECORD: [11, 12, 13, 14, 15],
            CLASS: [0, 0, 1, 1, -1],
            "age": ["[20, 40)", "[20, 40)", "*", "*", None],
            "city": [None, None, "Cork", "Cork", None],
            "height": [160.0, 161.4, 170.0, 175.0, np.nan],
            "income": [1, 2, 3, 4, 5],
            "illness": ["flu", "gout", "flu", "gout", "CANARY-7f3a"],
            "note": ["a", None, "b", "c", "d"],
        }
    )


def test_the_two_are_joined_by_record_and_not_by_position(small_policy: Small) -> None:
    released = originals().iloc[[3, 0, 2]]
    evidence = evidence_from(released, small_policy(), originals=originals().iloc[::-1])
    assert evidence.originals is not None
    behind = evidence.originals.frame.iloc[evidence.originals.own]
    assert behind[RECORD].tolist() == [14, 11, 13]
    assert list(evidence.released.columns) == small_policy().released
    assert evidence.originals.grid[evidence.originals.own, 0].tolist() == [175, 160, 170]


def test_missing_values_are_a_value_of_their_own_in_a_class() -> None:
    classes = value_classes(originals(), ["age", "city"])
    assert sorted(classes.sizes.tolist()) == [1, 2, 2]
    assert classes.labels[0] == classes.labels[1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.assign(**{RECORD: [11, 99, 98]}), "got 2 that are not there and 0 repeated"),
        (lambda t: t.assign(**{RECORD: [11, 11, 12]}), "got 0 that are not there and 1 repeated"),
        (
            lambda t: t.assign(illness="CANARY-7f3a"),
            "illness: must be as in the vault, got 3 records with another value",
        ),
        (lambda t: t.assign(note=None), "note: must be as in the vault, got 2 records with another value"),
        (lambda t: t.drop(columns=["note", "city"]), "not there: city, note"),
        (lambda t: t.iloc[:0], "at least one record"),
    ],
)
def test_what_does_not_belong_together_is_counted(
    small_policy: Small, change: Callable[[pd.DataFrame], pd.DataFrame], says: str
) -> None:
    released = change(originals().iloc[[0, 1, 2]].reset_index(drop=True))
    with pytest.raises(InputError) as raised:
        evidence_from(released, small_policy(), originals=originals())
    assert says in str(raised.value)
    assert "CANARY" not in str(raised.value)


@pytest.mark.parametrize("name", ["age", "height", "note", RECORD])
def test_a_column_that_is_there_twice_is_named(small_policy: Small, name: str) -> None:
    released = originals().iloc[:4]
    twice = pd.concat([released, released[[name]]], axis=1)
    with pytest.raises(InputError, match=f"each column once, got twice: {name}"):
        evidence_from(twice, small_policy(), originals=originals())


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "string", "object", "int64[pyarrow]"])
def test_a_value_that_went_missing_differs_whatever_holds_it(small_policy: Small, dtype: str) -> None:
    vault = originals().assign(income=originals()["income"].astype(dtype))
    release = vault.iloc[:4]
    assert evidence_from(release, small_policy(), originals=vault).originals is not None
    lost = release.assign(income=release["income"].where(release[RECORD] != 12))
    with pytest.raises(InputError, match=r"income: must be as in the vault, got 1 record with another value"):
        evidence_from(lost, small_policy(), originals=vault)


def test_equal_values_of_another_type_are_the_same(small_policy: Small) -> None:
    release = originals().iloc[:4]
    other = originals().assign(
        income=originals()["income"].astype(float), note=originals()["note"].astype(object)
    )
    assert evidence_from(release, small_policy(), originals=other).originals is not None


def test_a_suppressed_record_may_not_come_back(small_policy: Small) -> None:
    with pytest.raises(InputError, match="must not be suppressed ones, got 1"):
        evidence_from(originals().iloc[[0, 4]], small_policy(), originals=originals())


def test_class_ids_that_are_not_those_of_the_values_are_refused(small_policy: Small) -> None:
    for labels in ([0, 1, 1, 1, -1], [0, 0, 0, 0, -1]):
        with pytest.raises(InputError, match="class ids do not match the generalized values"):
            evidence_from(
                originals().iloc[[0]], small_policy(), originals=originals().assign(**{CLASS: labels})
            )


def test_narrowed_evidence_keeps_records_and_classes_together(small_policy: Small) -> None:
    evidence = evidence_from(originals().iloc[:4], small_policy(), originals=originals())
    part = evidence.select(np.array([2, 3]), np.array([0, 0]))
    assert part.released["income"].tolist() == [3, 4]
    assert part.classes.sizes.tolist() == [2]
    assert part.originals is not None
    assert part.originals.own.tolist() == [2, 3]


def test_values_off_the_grid_round_half_up_and_missing_ones_are_named(small_policy: Small) -> None:
    frame = pd.DataFrame({"height": [160.5, 161.4, -0.5]})
    assert quantize_columns(frame, small_policy()).tolist() == [[161], [161], [0]]
    with pytest.raises(InputError, match=r"^height: "):
        quantize_columns(originals(), small_policy())


def test_shares_of_epsilon_are_exact(small_policy: Small) -> None:
    columns = {"weight": {"role": "perturb", "resolution": 1, "weight": 0.2}}
    policy = small_policy(columns=columns, perturb={"epsilon": 0.3})
    assert epsilon_shares(policy) == (Fraction(1, 4), Fraction(1, 20))
    assert sum(epsilon_shares(policy)) == Fraction(3, 10)
