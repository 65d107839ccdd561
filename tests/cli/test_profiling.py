"""The command `profile`: table, JSON and page, for the owner alone, without a value."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.projects import commands
from tests.messy import hospital, messy

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
