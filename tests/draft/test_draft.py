"""Eleven messy tables through `init --yes` and `run`, as they are: a release without identifiers.

Two more end in a refusal that names what to decide. What was guessed wrong is counted, and stands in
docs/init.md.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from jsonschema import Draft202012Validator

from anon_pipeline.policy import json_schema
from tests.cli.projects import accept_questions, commands
from tests.messy import TABLES, Messy, contacts, household, messy

SCHEMA = Draft202012Validator(json_schema())
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    return commands(capsys, monkeypatch)


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_messy_table_becomes_a_release_without_identifiers(
    make: Callable[..., Messy], run: Run, tmp_path: Path
) -> None:
    table = messy(make)
    path = table.write(tmp_path)
    code, out, err = run("init", path.name, "--yes")
    assert (code, "A rehearsal passed" in out) == (0, True), out + err
    policy = f"{table.name}.yaml"
    SCHEMA.validate(yaml.safe_load((tmp_path / policy).read_text()))  # as `dg check yaml` and editors do
    accept_questions(tmp_path / policy)
    code, out, err = run("run", policy)
    assert code == 0, out + err
    released = _released(tmp_path / "releases" / table.name)
    identifiers = {name for name, right in table.roles.items() if right == "I"}
    assert identifiers.isdisjoint(name.strip() for name in released.columns)
    assert len(released) > 0
    assert _mentioned(table, (tmp_path / policy).read_text()) == []


def test_a_table_of_nothing_but_identifiers_is_refused_and_the_message_says_what_to_decide(
    run: Run, tmp_path: Path
) -> None:
    table = messy(contacts)
    table.write(tmp_path)
    code, out, err = run("init", "contacts.csv", "--yes")
    assert (code, out) == (2, "")
    assert "no column is left that can be generalized" in err
    assert "Decide which column somebody could know of a person; `anon-pipeline profile` says why" in err
    assert [path.name for path in tmp_path.iterdir()] == ["contacts.csv"]
    code, out, _ = run("profile", "contacts.csv")
    assert code == 0
    assert all(name in out for name in table.roles)


def test_a_table_of_too_few_people_gets_a_policy_with_what_to_decide_and_no_release(
    run: Run, tmp_path: Path
) -> None:
    messy(household).write(tmp_path)
    code, out, err = run("init", "household.csv", "--yes")
    assert code == 0, err
    assert "The policy does not pass yet: no choice of k and ε keeps the limits." in out
    assert "Answer the questions in the file." in out
    assert "# QUESTION: " in (tmp_path / "household.yaml").read_text()
    code, _, err = run("run", "household.yaml")
    assert (code, "questions of init stand in the policy" in err) == (2, True)
    accept_questions(tmp_path / "household.yaml")
    code, _, err = run("run", "household.yaml")
    assert (code, "k must be at most the number of records (4), got 5. Lower k." in err) == (3, True)
    assert not (tmp_path / "releases").exists()


def _released(folder: Path) -> pd.DataFrame:
    document = json.loads((folder / "manifest.json").read_text())
    names = [file["path"] if "path" in file else file["name"] for file in document["files"]]
    return pd.read_parquet(folder / next(name for name in names if name.endswith(".parquet")))


def _mentioned(table: Messy, policy: str) -> list[str]:
    """Return cells of the table that stand in the policy; shorter ones are in its words and numbers."""
    if table.suffix == ".parquet":
        frame = pd.read_parquet(io.BytesIO(table.data))
        cells = {str(cell) for name in frame for cell in frame[name].dropna().unique()}
    else:
        text = table.data.decode("cp1252" if table.name == "bank" else "utf-8-sig")
        cells = {cell for line in text.splitlines()[1:] for cell in re.split(r"[;,|\t]", line)}
    return sorted(cell for cell in cells if len(cell) > 7 and cell in policy)
