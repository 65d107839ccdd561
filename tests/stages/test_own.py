"""Stages of one's own leave records out or change them, and lineage knows them before the recoding alone."""

from __future__ import annotations

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.stages.lineage import Lineage, Where, from_json, to_json
from anon_pipeline.stages.own import change_stage
from anon_pipeline.stages.private import Staged


def test_an_own_stage_may_leave_records_out_and_keeps_persons() -> None:
    frame = pd.DataFrame({RECORD: [5, 6, 7], "_person_id": ["a", "b", "b"], "x": [1.0, 2.0, 3.0]})
    before = Staged(frame, {"raw": {"records": 3}}, Lineage(Where("0" * 32, "r"), {"raw": "1" * 64}))
    after = change_stage(before, "own_less", lambda table: table[table["x"] < 3][::-1])
    assert list(after.frame[RECORD]) == [6, 5]
    assert list(after.frame.index) == [0, 1]
    assert after.facts == before.facts
    with pytest.raises(InputError, match="with their _record_id and _person_id"):
        change_stage(before, "own_less", lambda table: table.assign(_person_id="a"))
    assert after.lineage is not None
    assert from_json(to_json(after.lineage).encode()) == after.lineage


@pytest.mark.parametrize("made", [None, [1], pd.Series([1.0], name="x")])
def test_an_own_stage_that_returns_no_table_is_told(made: object) -> None:
    frame = pd.DataFrame({RECORD: [5], "x": [1.0]})
    with pytest.raises(InputError, match=f"own_less must return a table .*, got {type(made).__name__}"):
        change_stage(Staged(frame, {}), "own_less", lambda table: made)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (["raw", "own_a", "deidentified", "own_b", "k_anonymized", "perturbed"], True),
        (["raw", "own_a"], True),
        (["own_a", "raw"], False),
        (["raw", "deidentified", "k_anonymized", "own_a"], False),
        (["raw", "own_", "deidentified"], False),
        (["raw", "own_CANARY 7", "deidentified"], False),
        (["raw", "k_anonymized"], False),
    ],
)
def test_lineage_knows_own_stages_before_the_recoding_alone(names: list[str], known: bool) -> None:
    lineage = Lineage(Where("0" * 32, "r"), dict.fromkeys(names, "1" * 64))
    assert (from_json(to_json(lineage).encode()) is not None) is known
