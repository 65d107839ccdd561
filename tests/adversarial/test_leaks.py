"""Not one canary outside the vault, whatever goes wrong; and the search finds what does leak."""

from __future__ import annotations

import base64
import sqlite3
import zlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.adversarial.bad_inputs import BadInput, call, run_all, write_project
from tests.adversarial.canaries import DAY, FOLDER, HEIGHT, PRIVATE, TEXT, needles, people, places
from tests.adversarial.leaks import search_all, search_control


def test_nothing_leaks() -> None:
    result = search_all()
    assert result.leaked == ()
    assert result.scenarios > 342  # seven of them of Dagster's own program
    assert result.places > 5000  # files, names, rows of the event logs


def test_the_search_finds_what_leaks_on_purpose() -> None:
    found = "\n".join(search_control().leaked)
    for place in (
        "stdout: stdout: private text",  # Dagster hands what an asset prints on, after its compute log
        "stderr: stderr: number of a perturb column",
        ".out: private text",  # compute logs
        ".err: number of a perturb column",
        "index.db:event_logs: date",  # metadata, messages of exceptions
        "tmp: coded: private text, base64",
        "home: wide: private text, utf-16",
        "home: (a name that is itself a leak)",
        "cwd: table.parquet: height: number of a perturb column",
    ):
        assert place in found
    assert PRIVATE not in found


@pytest.mark.parametrize(
    "leaked",
    [
        f"x{PRIVATE}y".encode(),
        PRIVATE.encode("utf-16-be"),
        base64.b64encode(f"12{PRIVATE}3456".encode()),
        PRIVATE.encode().hex().encode(),
        repr([PRIVATE]).encode(),
        DAY.encode(),
        repr(float(HEIGHT)).encode(),
        HEIGHT.to_bytes(8, "little"),
        f"{HEIGHT:,}".encode(),
        f"{float(HEIGHT):.12e}".encode(),
        PRIVATE.lower().encode(),
    ],
)
def test_every_form_is_found(leaked: bytes) -> None:
    assert [name for name, needle in needles().items() if needle in b"before" + leaked + b"after"]


def test_what_is_packed_is_unpacked(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE t (x)")
        database.execute("INSERT INTO t VALUES (?)", (zlib.compress(PRIVATE.encode() * 9),))
    assert any(PRIVATE.encode() in data for _, data in places(tmp_path / "a.db"))
    people(20)[["history"]].to_parquet(tmp_path / "a.parquet")
    assert any(PRIVATE.encode() in data for _, data in places(tmp_path / "a.parquet"))


def test_the_data_file_holds_released_canaries_and_no_private_one(tmp_path: Path) -> None:
    assert call(write_project(tmp_path), ("run", "policy.yaml")) == 0
    data = next(path for path in (tmp_path / "out").iterdir() if path.suffix == ".parquet")
    held = b"".join(content for _, content in places(data))
    assert TEXT.encode() in held  # so that leaving its cells out of the search is not for nothing
    assert not [name for name, needle in needles(allowed_in_data=False).items() if needle in held]
    assert "person" not in pq.read_table(data).column_names


def test_folders_of_a_policy_are_not_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_project(tmp_path)
    assert call(folder, ("run", "policy.yaml")) == 0
    assert FOLDER not in (folder / "out" / "manifest.json").read_text()
    (folder / FOLDER / "people.csv").unlink()
    assert call(folder, ("run", "policy.yaml")) == 2
    said = capsys.readouterr()
    assert "there must be a file people.csv" in said.err
    assert FOLDER not in said.out + said.err


def test_every_bad_input_ends_as_it_must() -> None:
    result = run_all()
    assert (result.tracebacks, result.written, result.wrong) == ((), (), ())
    assert result.drawn == ()  # nothing is drawn for what could never be published
    assert result.tried == sum(result.codes.values()) > 82


def test_a_project_without_a_mistake_is_published(tmp_path: Path) -> None:
    """So that it is the mistake that a bad input is refused for."""
    assert call(write_project(tmp_path, BadInput("none", 0)), ("run", "policy.yaml")) == 0
