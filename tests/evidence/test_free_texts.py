"""Free text in released columns: what one record has counts, phrases that many share do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import PERSON
from anon_pipeline.evidence.free_texts import free_texts, is_text
from anon_pipeline.policy import Policy, policy_from

N = 400
PHRASES = ["no remark of the nurse", "came back after a week", "sent on to the clinic"]


def policy_of(**note: Any) -> Policy:
    columns = {
        "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
        "note": {"role": "insensitive"} | note,
    }
    return policy_from({"name": "n", "source": {"path": "n.csv"}, "columns": columns, "anonymize": {"k": 5}})


def notes(free: int) -> pd.DataFrame:
    texts = np.random.default_rng(0).choice(PHRASES, N).astype(object)
    texts[:free] = [f"called about bed {i}" for i in range(free)]
    return pd.DataFrame({"age": np.arange(N) % 60, "note": texts})


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
@pytest.mark.parametrize(("free", "found"), [(0, ()), (4, ()), (20, ()), (21, ("note",)), (N, ("note",))])
def test_more_than_one_in_twenty_records_with_a_text_of_their_own_count(
    role: str, free: int, found: tuple[str, ...]
) -> None:
    assert free_texts(notes(free), policy_of(role=role), allowed=0.05) == found


def test_a_few_texts_of_a_small_table_do_not_count() -> None:
    assert free_texts(notes(4).iloc[:20], policy_of(), allowed=0.05) == ()
    assert free_texts(notes(5).iloc[:20], policy_of(), allowed=0.05) == ("note",)


def test_missing_values_are_no_records() -> None:
    frame = notes(12)
    frame.loc[200:, "note"] = None
    assert free_texts(frame, policy_of(), allowed=0.05) == ("note",)


def test_a_text_that_several_records_of_one_person_have_is_one_persons() -> None:
    frame = pd.concat([notes(40)] * 2, ignore_index=True)
    assert free_texts(frame, policy_of(), allowed=0.05) == ()
    frame[PERSON] = np.tile(np.arange(N), 2)
    assert free_texts(frame, policy_of(), allowed=0.05) == ("note",)


@pytest.mark.parametrize("dtype", ["int64", "float64", "datetime64[ns]", "bool"])
def test_numbers_and_dates_are_no_texts(dtype: str) -> None:
    frame = notes(0).assign(note=pd.Series(np.arange(N)).astype(dtype))
    assert free_texts(frame, policy_of(), allowed=0.05) == ()


@pytest.mark.parametrize(
    "value", ["", "asthma", "heart attack", "12-34-56", "a b c", "J45.0 acute", "2 1 0 kg"]
)
def test_terms_and_codes_are_no_texts(value: str) -> None:
    assert not is_text(value)
