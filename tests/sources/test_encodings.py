"""Files in UTF-8 are not read by encodings of one byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import Held
from anon_pipeline.policy.files import SourceOptions
from anon_pipeline.sources.files import read_csv

TEXT = "name,illness\nMüller,Übergewicht\n"


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "mac_roman"])
def test_utf8_is_refused_by_name_and_without_a_cell(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(TEXT, encoding="utf-8")
    with pytest.raises(InputError, match=r"must be read as UTF-8.*\{encoding: utf-8\}") as refused:
        read_csv(path, options=SourceOptions(encoding=encoding))
    assert "gewicht" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        (TEXT, "cp1252", "cp1252"),
        (TEXT, "latin-1", "cp1252"),
        (TEXT, "utf-8", "utf-8"),
        (TEXT, "utf-16", "utf-16"),
        ("a,b\n1,x\n", "utf-8", "cp1252"),  # ASCII is the same in both
        ("a,b\n1,日本\n", "shift_jis", "shift_jis"),
    ],
)
def test_others_are_read(text: str, written: str, read: str, tmp_path: Path) -> None:
    held = Held("x.csv", text.encode(written))
    frame = read_csv(held, options=SourceOptions(encoding=read))
    assert frame.iloc[0, 1] == text.rsplit(",", maxsplit=1)[-1].strip()
