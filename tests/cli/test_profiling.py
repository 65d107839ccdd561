"""The command `profile`: table, JSON and page, for the owner alone, without a value."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.projects import commands
from tests.messy import hospital, messy

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return commands(capsys, monkeypatch)


def test_it_shows_each_column_and_writes_private_files(run: Run, tmp_path: Path) -> None:
    messy(hospital).write(tmp_path)
    code, out, err = run("profile", "hospital.csv", "--json-to", "p.json", "--html", "p.html")
    assert (code, "not for publication" in err) == (0, True)
    for name in ("MRN", "DOB", "Diagnosis"):
        assert name in out
    document = json.loads((tmp_path / "p.json").read_text())
    assert {column["role"] for column in document["columns"]} == {
        "identifier",
        "generalize",
        "perturb",
        "sensitive",
    }
    assert "<td>Diagnosis</td>" in (tmp_path / "p.html").read_text()
    for name in ("p.json", "p.html"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_no_cell_is_shown_or_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "town,note\n" + "".join(f"CANARY{i % 3},CANARY text {i}\n" for i in range(50))
    )
    code, out, err = run("profile", "x.csv", "--json-to", "p.json")
    assert code == 0
    assert "CANARY" not in out + err + (tmp_path / "p.json").read_text()


def test_a_file_that_is_none(run: Run) -> None:
    code, _, err = run("profile", "gone.csv")
    assert (code, "it is not there" in err) == (2, True)


def test_a_file_of_duckdb_leaves_no_words_of_its_library(tmp_path: Path) -> None:
    """DuckDB reports at the end of a process what is not garbage collected, as a leak."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "ware.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT range AS age, 'Cork' AS city FROM range(40)")
    (tmp_path / "ware.yaml").write_text("source: {duckdb: {path: ware.duckdb, table: people}}\n")
    program = "from anon_pipeline.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "profile", "ware.yaml"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "40 records" in done.stdout) == (0, True)
    assert done.stderr.splitlines() == [
        "Computed from the originals and not protected: for the curator, not for publication."
    ]
