"""docs/scale.md: its script makes a Parquet file that is read as the CSV file is."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.formats import read_file

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
LINES = '1,02139,41,"two\nlines, and ""quotes"""\n2,NA,,null\n3,"",7.50,nan\n'


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """Keep the mask of this process, which the script sets."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("many", [1, 100_000])
def test_its_script_keeps_every_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    (tmp_path / "patients.csv").write_text("id,zip,age,note\n" + LINES * many, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (script,) = [text for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "open_csv" in text]
    exec(compile(script, "docs/scale.md", "exec"), {})
    csv, parquet = (
        unpack_table(read_file(form, Path(f"patients.{form}"), SourceOptions(), Limits(), ()))
        for form in ("csv", "parquet")
    )
    pd.testing.assert_frame_equal(csv, parquet)
    assert stat.S_IMODE(Path("patients.parquet").stat().st_mode) == 0o600
    assert len(csv) == 3 * many
    assert csv["zip"].isna().sum() == many and csv["note"].isna().sum() == 0
    assert set(csv["zip"].dropna()) == {"02139", "NA"}
