"""People with several records: those that a policy is tuned on have all of their records."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.draft.tuned_people import count_people, tuned_rows, with_key_file


def test_a_person_has_all_records_or_none() -> None:
    owner = pd.Series(np.random.default_rng(0).integers(0, 300, 5_000))
    rows = tuned_rows(len(owner), owner, 1_000)
    assert rows is not None and 900 < len(rows) <= 1_000
    inside, outside = set(owner[rows]), set(owner.drop(rows))
    assert not inside & outside


def test_without_people_or_with_few_records_records_are_chosen() -> None:
    assert tuned_rows(100, pd.Series([1] * 100), 100) is None
    assert tuned_rows(100, None, 100) is None
    rows = tuned_rows(100, None, 10)
    assert rows is not None and len(rows) == 10


def test_a_person_with_too_many_records_stays() -> None:
    rows = tuned_rows(100, pd.Series([1] * 100), 10)
    assert rows is not None and len(rows) == 100


def test_people_are_counted() -> None:
    frame = pd.DataFrame({"who": [1, 1, 2]})
    assert (count_people(frame, "who"), count_people(frame, None)) == (2, 3)


def test_a_draft_is_tried_with_a_key_of_its_own(tmp_path: Path) -> None:
    assert with_key_file({"name": "x"}, tmp_path) == {"name": "x"}
    tried = with_key_file({"person": "who", "deidentify": {"key_env": "UNSET"}}, tmp_path)
    key = (tmp_path / tried["deidentify"]["key_file"]).read_bytes()
    assert len(key) >= 16
    assert with_key_file({"person": "who"}, tmp_path)["deidentify"] == tried["deidentify"]
    assert (tmp_path / tried["deidentify"]["key_file"]).read_bytes() == key
