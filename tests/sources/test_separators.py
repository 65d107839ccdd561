"""A file that is read with the wrong separator says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.files import SourceOptions
from anon_pipeline.sources.files import read_csv


@pytest.mark.parametrize("other", [";", "\t", "|"])
@pytest.mark.parametrize("rest", ["", "CANARY{0}2\n", "1,5{0}CANARY\n2,5{0}3\n"])
def test_another_separator_is_named(tmp_path: Path, other: str, rest: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"HEADER{other}b\n" + rest.format(other))
    with pytest.raises(InputError, match="must have more than one column, got one by") as caught:
        read_csv(path, options=SourceOptions())
    shown = "\\t" if other == "\t" else other
    assert f'source: {{path: …, options: {{sep: "{shown}"}}}}' in str(caught.value)
    assert "CANARY" not in str(caught.value)
    assert "HEADER" not in str(caught.value)  # without a header it may be a cell


def test_a_comma_that_is_read_with_a_semicolon(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match='looks separated by ","'):
        read_csv(tmp_path / "a.csv", options=SourceOptions(sep=";"))


def test_a_single_column_may_have_such_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("town;street\nBath\nYork\n")
    assert read_csv(tmp_path / "a.csv", options=SourceOptions())["town;street"].tolist() == ["Bath", "York"]
