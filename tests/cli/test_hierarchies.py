"""The command `hierarchy`: what it proposes, writes, checks and draws; values only for those who ask."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import validate

from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import commands

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    towns = [f"CANARY{i % 9}" for i in range(90)]
    ages = [str(20 + i % 60) for i in range(90)]
    lines = [f"{town},{age}\n" for town, age in zip(towns, ages, strict=True)]
    (tmp_path / "people.csv").write_text("town,age\n" + "".join(lines))
    monkeypatch.chdir(tmp_path)
    return commands(capsys, monkeypatch)


def test_it_proposes_what_a_policy_says(run: Run) -> None:
    code, out, err = run("hierarchy", "people.csv", "age")
    assert code == 0
    assert 'hierarchy: {"intervals": [5.0, 10.0, 20.0], "bottom": 0.0, "top": 90.0}' in out
    assert "level 4: 1 value, of 90 to 90 records" in out
    assert "every value is a leaf" in out
    assert "not for publication" in err


def test_a_table_is_written_edited_and_checked(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("hierarchy", "people.csv", "town", "--to", "private/town.csv")
    table = tmp_path / "private" / "town.csv"
    assert code == 0
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    lines = table.read_text().splitlines()
    table.write_text("\n".join(lines[:-2]) + "\n")
    code, out, err = run(
        "hierarchy", "people.csv", "town", "--table", "private/town.csv", "--not-leaves", "n.txt"
    )
    assert code == 2
    assert "2 values are no leaf, in 20 records" in out
    assert sorted((tmp_path / "n.txt").read_text().split()) == sorted(
        line.split(";")[0] for line in lines[-2:]
    )
    assert stat.S_IMODE((tmp_path / "n.txt").stat().st_mode) == 0o600
    assert "CANARY" not in out + err


def test_a_table_beside_the_data_is_ignored_by_git_and_an_edited_one_stays(run: Run, tmp_path: Path) -> None:
    command = ("hierarchy", "people.csv", "town", "--to", "town.csv")
    assert run(*command)[0] == 0
    assert (tmp_path / ".gitignore").read_text() == "/town.csv\n"
    assert run(*command)[0] == 0  # nothing was edited
    with (tmp_path / "town.csv").open("a") as file:
        file.write("elsewhere;*\n")
    before = (tmp_path / "town.csv").read_bytes()
    code, out, err = run(*command)
    assert (code, "town.csv: must not be there yet" in err, out) == (2, True, "")
    assert (tmp_path / "town.csv").read_bytes() == before


def test_json_has_counts_and_no_value(run: Run, tmp_path: Path) -> None:
    code, out, err = run("hierarchy", "people.csv", "town", "--json", "--to", "private/town.csv")
    document = json.loads(out)
    validate(document, schema_of("hierarchy"))
    assert (code, document["not_leaves"], document["levels"][0]) == (
        0,
        0,
        {"values": 9, "least": 10, "most": 10},
    )
    assert document["proposed"][1].startswith("wrote private/town.csv")
    table = tmp_path / "private" / "town.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-2]) + "\n")
    arguments = ("--table", "private/town.csv", "--not-leaves", "n.txt", "--json")
    code, lacking, more = run("hierarchy", "people.csv", "town", *arguments)
    assert (code, json.loads(lacking)["not_leaves"], json.loads(lacking)["records_lacking"]) == (2, 2, 20)
    assert len((tmp_path / "n.txt").read_text().split()) == 2
    assert "CANARY" not in out + err + lacking + more


def test_a_policys_hierarchy_is_checked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "type: anon_pipeline.AnonymizedRelease\nattributes:\n  name: p\n  source: {path: people.csv}\n"
        "  columns:\n    town: {role: generalize, hierarchy: {tree: {a: [CANARY1], b: [CANARY2]}}}\n"
        "    age: {role: identifier}\n  anonymize: {k: 2}\n"
    )
    code, out, _ = run("hierarchy", "people.csv", "town", "--policy", "p.yaml")
    assert (code, "7 values are no leaf, in 70 records" in out) == (2, True)
    code, _, err = run("hierarchy", "people.csv", "age", "--policy", "p.yaml")
    assert (code, "must have a hierarchy" in err) == (2, True)


def test_values_are_drawn_on_a_terminal_for_those_who_ask(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _, out, _ = run("hierarchy", "people.csv", "town", "--show-values")
    assert "*: 9 leaves, 90 records" in out
    _, out, _ = run("hierarchy", "people.csv", "town")
    assert "*:" not in out
    assert "9 leaves, 90 records" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv", "CANARY"), "must have the column that is named, got 2 others"),
        (("people.csv", "age", "--table", "a.csv", "--policy", "b.yaml"), "must not be given together"),
        (("people.csv", "age", "--table", "gone.csv"), "gone.csv: must be a readable UTF-8 table"),
    ],
)
def test_what_it_refuses(run: Run, arguments: tuple[str, ...], said: str) -> None:
    code, _, err = run("hierarchy", *arguments)
    assert (code, said in err) == (2, True)
