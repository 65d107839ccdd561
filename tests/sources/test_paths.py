"""What `source.path` names: files of every format, compressed ones, folders, and what changes meanwhile."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources import formats, read_source
from tests.sources.test_sources import policy

FRAME = pd.DataFrame({"q": ["007", "8"], "x": [0.5, 1.0]})


def _csv_gz(path: Path) -> None:
    path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))


def _folder(path: Path) -> None:
    for key, part in FRAME.groupby("q"):
        (path / f"q={key}").mkdir(parents=True)
        part.drop(columns="q").to_parquet(path / f"q={key}" / "data.parquet", index=False)


WRITERS: dict[str, Any] = {
    "csv": _csv_gz,
    "parquet": lambda path: FRAME.to_parquet(path, index=False),
    "excel": lambda path: FRAME.to_excel(path, index=False, engine="openpyxl"),
    "jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize("form", [*WRITERS, "folder"])
def test_every_format_is_one_table(form: str, tmp_path: Path) -> None:
    path = tmp_path / ("data.xlsx" if form == "excel" else "data")
    (_folder if form == "folder" else WRITERS[form])(path)
    named = policy(path=path.name, format="parquet" if form == "folder" else form)
    frame = read_source(named, folder=tmp_path)
    assert frame["q"].tolist() == ["007", "8"]
    assert frame["x"].astype(float).tolist() == [0.5, 1.0]


@pytest.mark.parametrize("form", ["csv", "excel", "jsonl"])
def test_a_folder_of_other_formats_is_refused(form: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(
        InputError, match=r"^data: must be a file, got a folder; .* is read of parquet alone$"
    ):
        read_source(policy(path="data", format=form), folder=tmp_path)


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, whole = tmp_path / "data.csv", formats.read_csv
    path.write_text("q\n1\n")

    def slowly(*given: Any, **how: Any) -> pd.DataFrame:
        frame = whole(*given, **how)
        path.write_text("q\n1\n2\n")
        return frame

    monkeypatch.setattr(formats, "read_csv", slowly)
    with pytest.raises(InputError, match=r"^data\.csv: must not change while it is read"):
        read_source(policy(path="data.csv"), folder=tmp_path)


def read(form: str, path: Path) -> pd.DataFrame:
    return unpack_table(formats.read_file(form, path, SourceOptions(), Limits(), ()))


def test_a_file_of_another_format_is_refused_by_its_name(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [41, 5], "town": ["Quillfeather", "b"]})
    people.to_parquet(tmp_path / "people.parquet")
    people.to_excel(tmp_path / "people.xlsx")
    (tmp_path / "people.gz").write_bytes(gzip.compress((tmp_path / "people.parquet").read_bytes()))
    for form, name, said in (
        ("csv", "people.parquet", "is of the format parquet. Write format: parquet"),
        ("jsonl", "people.parquet", "is of the format parquet. Write format: parquet"),
        ("csv", "people.xlsx", "is of the format excel. Write format: excel"),
        ("csv", "people.gz", "is of the format parquet. Unpack it, and write format: parquet"),
    ):
        with pytest.raises(InputError, match=said) as refused:
            read(form, tmp_path / name)
        assert "Quillfeather" not in str(refused.value)


def test_a_text_may_begin_as_other_formats_do(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("PAR1,town\n1,Cork\n")
    assert list(read("csv", tmp_path / "people.csv").columns) == ["PAR1", "town"]
    (tmp_path / "zip.csv").write_text("PK,town\n1,Cork\n")
    assert formats.format_of(tmp_path / "zip.csv") is None and len(read("csv", tmp_path / "zip.csv")) == 1


@pytest.mark.parametrize("form", ["csv", "parquet", "excel", "jsonl"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="plain file"):
        read(form, tmp_path / "pipe")
