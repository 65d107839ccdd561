"""The order in which records are recoded, and how the recoding is written into the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.policy import Policy
from anon_pipeline.recode import Recoding
from anon_pipeline.stages.recoded_table import order_by_content, recoded_table

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_order_by_content_is_of_any_order_and_leads_back(small_policy: Small, small_people: People) -> None:
    policy, frame = small_policy(anonymize={"recoder": "mondrian_relaxed"}), small_people(40)
    frame.insert(0, RECORD, np.arange(40))
    ordered, places = order_by_content(policy, frame)
    pd.testing.assert_frame_equal(ordered.take(places).reset_index(drop=True), frame)
    mixed = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    again, _ = order_by_content(policy, mixed.assign(**{RECORD: np.arange(40)}))
    pd.testing.assert_frame_equal(again.drop(columns=RECORD), ordered.drop(columns=RECORD))
    assert ordered[RECORD].tolist() != frame[RECORD].tolist()


def test_a_recoder_that_looks_at_no_order_gets_the_table_as_it_is(
    small_policy: Small, small_people: People
) -> None:
    frame = small_people(9)
    ordered, places = order_by_content(small_policy(anonymize={"recoder": "ola"}), frame)
    assert ordered is frame
    assert places.tolist() == list(range(9))


def test_records_that_are_gone_have_no_class_and_no_values(small_policy: Small) -> None:
    policy = small_policy()
    frame = pd.DataFrame(
        {RECORD: [7, 8, 9, 10], "age": [20, 21, 22, 23], "city": list("abcd"), "note": list("wxyz")}
    )
    values = (np.array(["[20, 22)", "[22, 24)"], object), np.array(["*"], object))
    recoding = Recoding(np.array([[0, 0], [-1, -1], [1, 0]]), values, None, 0.5, suppressed=1, checked=0)
    after, classes = recoded_table(policy, frame, recoding, gone=np.array([False, False, True, False]))
    assert after[CLASS].tolist() == [0, -1, -1, 1]
    assert classes.sizes.tolist() == [1, 1]
    assert after["age"].isna().tolist() == [False, True, True, False]
    assert after["age"].dropna().tolist() == ["[20, 22)", "[22, 24)"]
    assert after["note"].tolist() == list("wxyz")
    assert frame["age"].tolist() == [20, 21, 22, 23]
