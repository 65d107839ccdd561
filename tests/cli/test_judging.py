"""Commands that judge a file or print the schema: exit codes, and nothing of the data."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from anon_pipeline.policy import TYPE
from tests.cli.projects import Folder, People

CANARY = "CANARY-7f3a"


def test_check_stays_in_the_project_too(folder: Callable[..., Folder]) -> None:
    made = folder(columns={"city": {"hierarchy": {"suppress": None, "table": "../city.csv"}}})
    (made.path / "x.csv").write_text("a\n")
    assert "must stay within" in made.call("check", "x.csv", "--policy", "policy.yaml").err
    allowed = made.call("check", "x.csv", "--policy", "policy.yaml", "--allow-outside")
    assert "must stay within" not in allowed.err


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_check_judges_a_file(folder: Callable[..., Folder], form: str) -> None:
    made = folder(gate={"k": 3, "linking_risk": 1.0, "suppression": None}, publish={"format": form})
    assert made.call("run", "policy.yaml").code == 0
    file = next(str(path) for path in made.released if path.suffix == f".{form}")
    done = made.call("check", file, "--policy", "policy.yaml")
    assert done.code == 1
    unmeasured = done.out.split("Not measured on the file alone: ")[1]
    assert {"origin", "linking_risk"} <= {*unmeasured.split(". ")[0].split(", ")}
    assert made.call("check", file, "--policy", "policy.yaml", "--allow-unmeasured").code == 0


def test_check_refuses_a_file_that_breaks_a_limit(
    folder: Callable[..., Folder], small_people: People
) -> None:
    made = folder()
    raw = small_people().drop(columns="person").astype({"age": str})
    raw.to_parquet(made.path / "raw.parquet")
    done = made.call("check", "raw.parquet", "--policy", "policy.yaml", "--allow-unmeasured")
    assert done.code == 1
    assert "k " in done.out


@pytest.mark.parametrize("name", ["nothing.parquet", "broken.parquet", "notes.txt"])
def test_check_of_what_is_no_release(folder: Callable[..., Folder], name: str) -> None:
    made = folder()
    for broken in ("broken.parquet", "notes.txt"):
        (made.path / broken).write_text(CANARY)
    done = made.call("check", name, "--policy", "policy.yaml")
    assert done.code == 2
    assert CANARY not in done.err


def test_schema_is_json_schema(folder: Callable[..., Folder]) -> None:
    done = folder().call("schema")
    assert done.code == 0
    document = json.loads(done.out)
    assert document["properties"]["type"] == {"const": TYPE}
    assert set(document["properties"]["attributes"]["required"]) == {"name", "source", "columns", "anonymize"}


def test_a_crash_of_check_does_not_tell_its_data(
    folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch, small_people: People
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyError(CANARY)

    monkeypatch.setattr("anon_pipeline.publish.file_formats.read_parquet", crash)
    made = folder()
    done = made.call("check", "any.parquet", "--policy", "policy.yaml")
    assert done.code == 70
    assert CANARY not in done.err
