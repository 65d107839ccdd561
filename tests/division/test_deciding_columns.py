"""What decides about classes is read as a release of the whole table reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base import packed_tables
from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.division.deciding_columns import read_deciding
from anon_pipeline.encode.codes import code_quasi_identifiers, mark_incomplete
from anon_pipeline.policy import Policy
from anon_pipeline.stages.coarsen import coarsen
from anon_pipeline.stages.input_check import accepted_input
from anon_pipeline.stages.recoder_task import recoding_task

Small, People = Callable[..., Policy], Callable[..., pd.DataFrame]
CANARY = "Quillfeather-4711"
CHANGES = {
    "source": {"path": "people.parquet", "format": "parquet"},
    "columns": {"illness": {"missing": "suppress"}, "height": {"missing": "suppress"}},
    "anonymize": {"loss": "classification", "target": "note"},
    "gate": {"t_closeness": {"income": 0.4}, "l_diversity": {"illness": {"l": 2}}},
}


def write(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("packed_from", [4, 10_000])
def test_it_is_what_a_release_of_the_table_asks(
    small_policy: Small, small_people: People, tmp_path: Path, packed_from: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_tables, "PACKED_FROM", packed_from)
        compare(small_policy, small_people, tmp_path)


def compare(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy(**CHANGES)
    frame = small_people().assign(
        illness=lambda table: table["illness"].where(table.index % 40 > 0),
        height=lambda table: table["height"].where(table.index % 50 > 0),
    )
    found = read_deciding(policy, write(frame, tmp_path / "people.parquet"), hierarchies=tmp_path)
    table = coarsen(accepted_input(policy, frame), policy)
    gone = mark_incomplete(table, policy)
    coded = code_quasi_identifiers(table, policy)
    task = recoding_task(policy, table, coded, gone=gone)
    assert found.gone.tolist() == gone.tolist()
    assert 0 < gone.sum() < 20
    complete = ~found.gone
    codes = [own[complete] for own in found.codes]
    assert np.stack(codes, axis=1).tolist() == task.by_record.codes.tolist()
    limited = [own[complete].tolist() for own in found.limited]
    assert limited == [own.tolist() for own in task.by_record.sensitive]
    assert found.target[complete].tolist() == task.by_record.target.tolist()
    for one, other in zip(found.limits, task.constraints.sensitive, strict=True):
        assert (one.column, one.t, one.diversity) == (other.column, other.t, other.diversity)
        assert one.whole.tolist() == other.whole.tolist()
    assert all(own.dtype == np.int8 for own in found.codes)


def test_a_folder_is_read_as_its_files(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    frame = small_people()
    folder = tmp_path / "people"
    folder.mkdir()
    for place, begin in enumerate(range(0, 240, 100)):
        write(frame[begin : begin + 100], folder / f"{place}.parquet")
    policy = small_policy(**CHANGES)
    found = read_deciding(policy, folder, hierarchies=tmp_path)
    want = read_deciding(policy, write(frame, tmp_path / "people.parquet"), hierarchies=tmp_path)
    assert [own.tolist() for own in found.codes] == [own.tolist() for own in want.codes]


def test_mistakes_are_refused_without_values(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(**CHANGES)
    path = write(small_people().assign(age=CANARY), tmp_path / "people.parquet")
    with pytest.raises(InputError, match="age") as raised:
        read_deciding(policy, path, hierarchies=tmp_path)
    assert CANARY not in str(raised.value)
    path = write(small_people().drop(columns=["city"]), tmp_path / "people.parquet")
    with pytest.raises(InputError, match="city"):
        read_deciding(policy, path, hierarchies=tmp_path)
    path = write(small_people().assign(illness=None), tmp_path / "people.parquet")
    with pytest.raises(InfeasibleError, match="More records lack a value"):
        read_deciding(policy, path, hierarchies=tmp_path)
