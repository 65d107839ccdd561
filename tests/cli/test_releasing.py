"""Commands that make a release: exit codes, and every bad input of the table in the issue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from jsonschema import validate

from anon_pipeline.base.errors import ANOTHER_DRAW
from anon_pipeline.cli.documents import schema_of
from tests.acknowledging import acknowledged
from tests.cli.projects import Folder, People

CANARY = "CANARY-7f3a"


def test_run_publishes_and_prints_one_table(folder: Callable[..., Folder]) -> None:
    made = folder(gate={"linking_risk": 1.0})
    done = made.call("run", "policy.yaml")
    assert done.code == 0, done.err
    assert done.out.count("┏") == 1
    assert "linking_risk" in done.out
    assert "at most 1" in done.out
    names = [path.name for path in made.released]
    manifest = json.loads((made.path / "out/manifest.json").read_text())
    beside = manifest["policy"]["name"]
    assert names == ["manifest.json", manifest["files"][0]["name"], beside, manifest["report"]["name"]]
    assert all(str(made.path / "out" / name) in done.out for name in names if name != beside)
    for stage in ("source", "raw", "k_anonymized", "suppressed", "gate"):
        assert f"… {stage}" in done.err  # progress
    left = done.out.split("What is left:\n")[1]
    assert " of 240 records (" in left.splitlines()[0]
    for column in ("age", "city", "height"):
        assert f"  {column}: " in left
    assert "with noise (discrete Laplace), ε = 2, scaled to the class" in left


def test_run_from_elsewhere_finds_the_project_of_the_policy(
    folder: Callable[..., Folder], tmp_path: Path
) -> None:
    made = folder()
    (made.path / "pyproject.toml").touch()
    (made.path / "deep" / "er").mkdir(parents=True)
    (made.path / "policy.yaml").rename(made.path / "deep" / "er" / "policy.yaml")
    assert made.call("run", "deep/er/policy.yaml").code == 0
    assert made.released


def test_run_refused_exits_1_with_the_verdicts_and_writes_nothing(folder: Callable[..., Folder]) -> None:
    made = folder(gate={"linking_risk": 0.0})
    done = made.call("run", "policy.yaml")
    assert done.code == 1
    assert "refused" in done.out
    said = done.err.splitlines()
    refused = said.index("refused by linking_risk")
    assert said[refused + 1].startswith("what was measured is in the vault, small/gate.json, for the curator")
    assert said[refused + 2].startswith("linking_risk: no smaller ε, larger k or other confidence")
    assert said[-1].startswith(f"({ANOTHER_DRAW}")
    assert made.released == []


def test_a_refusal_names_what_would_pass_and_spends_nothing_on_it(folder: Callable[..., Folder]) -> None:
    made = folder(gate={"linking_risk": 0.25}, perturb={"epsilon": 6})
    done = made.call("run", "policy.yaml")
    assert done.code == 1
    said = done.err.splitlines()
    assert "linking_risk: perturb.epsilon: 3, all else as it is, is expected to pass." in said
    assert "small: ε = 6 spent, releases: 1" in made.call("ledger", "list").out


def test_run_refused_keeps_the_release_before(folder: Callable[..., Folder]) -> None:
    assert folder().call("run", "policy.yaml").code == 0
    made = folder(gate={"linking_risk": 0.0})
    before = {path: path.read_bytes() for path in made.released}
    assert made.call("run", "policy.yaml").code == 1
    assert {path: path.read_bytes() for path in made.released} == before


def with_cell(column: str, value: object, rows: int = 1) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(people: pd.DataFrame) -> pd.DataFrame:
        people[column] = people[column].astype(object)
        people.loc[: rows - 1, column] = value
        return people

    return change


BAD_DATA = {
    "unknown column": (lambda p: p.drop(columns="note"), 2, "not there: note"),
    "undeclared columns": (
        lambda p: p.assign(zz=1, aa=2),
        2,
        "does not declare 2 columns of the data: columns 8, 9. ",
    ),
    "value outside its hierarchy": (
        with_cell("city", CANARY, 3),
        2,
        "city: every value must be a leaf of its",
    ),
    "text where a number belongs": (
        with_cell("height", CANARY, 2),
        2,
        "height: must be a number, got 2 records",
    ),
    "text in an interval column": (with_cell("age", CANARY, 4), 2, "age: must be a number, got 4 records"),
    "missing value": (
        with_cell("height", None, 5),
        2,
        "height: must have a value in every record, got 5 missing",
    ),
    "missing sensitive value": (
        with_cell("illness", None, 5),
        2,
        "illness: must have a value in every record",
    ),
    "infinite numbers": (with_cell("height", np.inf, 2), 2, "height: must be finite, got 2 records"),
    "one record": (lambda p: p.iloc[:1], 3, "k must be at most the number of records"),
    "k > n": (lambda p: p.iloc[:2], 3, "k must be at most the number of records (2), got 3"),
    "header only": (lambda p: p.iloc[:0], 2, "at least one record, got none"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_has_its_exit_code_and_message_and_nothing_is_written(
    folder: Callable[..., Folder], small_people: People, case: str
) -> None:
    change, code, says = BAD_DATA[case]
    made = folder(
        change(small_people()), columns={"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}
    )
    (made.path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    done = made.call("run", "policy.yaml")
    assert done.code == code, done.err
    assert says in done.err
    assert CANARY not in done.out + done.err
    assert "Traceback" not in done.err
    assert made.released == []


BAD_FILES = {
    "empty file": ("", "must have a header line, got an empty file"),
    "duplicate column names": ("person,age,age\n1,2,3\n", "columns must be named once"),
    "short lines": (f"person,age\n1,2\n{CANARY}\n", "every line must have 2 fields, got 1 line with"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(folder: Callable[..., Folder], case: str) -> None:
    text, says = BAD_FILES[case]
    done = folder(text).call("run", "policy.yaml")
    assert done.code == 2
    assert says in done.err
    assert CANARY not in done.err


BAD_POLICIES = {
    "k < 2": (("anonymize", "k"), 1, "anonymize.k"),
    "negative epsilon": (("perturb", "epsilon"), -1, "perturb.epsilon"),
    "zero epsilon": (("perturb", "epsilon"), 0, "perturb.epsilon"),
    "confidence of 1": (("suppress", "confidence"), 1, "suppress.confidence"),
    "confidence of 0": (("suppress", "confidence"), 0, "suppress.confidence"),
    "unknown key": (("gate", "k_anonimity"), 5, "gate.k_anonimity"),
    "hierarchy that is not nested": (("columns", "age", "hierarchy", "intervals"), [2, 3], "multiple"),
}


@pytest.mark.parametrize("case", BAD_POLICIES)
def test_bad_policies(folder: Callable[..., Folder], case: str) -> None:
    path, value, says = BAD_POLICIES[case]
    made = folder()
    document = yaml.safe_load((made.path / "policy.yaml").read_text())
    place = document["attributes"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    (made.path / "policy.yaml").write_text(yaml.safe_dump(document))
    done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert says in done.err
    assert made.released == []


def test_a_hierarchy_table_that_is_not_nested(folder: Callable[..., Folder]) -> None:
    made = folder(columns={"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}})
    (made.path / "city.csv").write_text(
        "Cork;south;Munster;*\nDublin;east;Leinster;*\nGalway;south;Connacht;*\n"
    )
    done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert "not nested" in done.err


def test_a_suppression_limit_that_cannot_be_met_says_what_could_be_reached(
    folder: Callable[..., Folder], small_people: People
) -> None:
    people = small_people()
    people.loc[:99, "height"] = np.nan
    made = folder(people, columns={"height": {"missing": "suppress"}})
    done = made.call("run", "policy.yaml")
    assert done.code == 3
    assert "More records lack a value" in done.err
    assert "240" in done.err
    assert "100 of" not in done.err
    assert "Largest k within" not in done.err
    assert made.released == []


def test_a_constant_perturb_column_works(folder: Callable[..., Folder], small_people: People) -> None:
    gate = {"attacks": {"attacker_success": 0.5}}  # a tie of all is worth its share, not the whole
    assert folder(small_people().assign(height=170), gate=gate).call("run", "policy.yaml").code == 0


def test_a_destination_that_nobody_may_write(folder: Callable[..., Folder]) -> None:
    made = folder(publish={"to": "/proc/anon-pipeline"})  # not even root
    done = made.call("run", "policy.yaml", "--allow-outside")
    assert done.code == 2
    assert "must be a folder that can be written" in done.err


@pytest.mark.parametrize(
    "change",
    [
        {"publish": {"to": "../elsewhere"}},
        {"source": {"path": "../people.csv"}},
        {"columns": {"city": {"hierarchy": {"suppress": None, "table": "../city.csv"}}}},
        {"deidentify": {"key_file": "/etc/hostname"}},
    ],
    ids=str,
)
def test_a_policy_that_leaves_the_project(
    folder: Callable[..., Folder], change: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = folder(**change)
    (made.path.parent / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    (made.path / "people.csv").rename(made.path.parent / "people.csv")
    (made.path / "people.csv").write_bytes((made.path.parent / "people.csv").read_bytes())
    done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert "must stay within the folder of" in done.err
    assert "… source" not in done.err  # before any work
    assert made.call("run", "policy.yaml", "--allow-outside").code == 0
    monkeypatch.setenv("ANON_PIPELINE_ALLOW_OUTSIDE", "yes")
    assert made.call("run", "policy.yaml").code == 0


def test_a_destination_that_is_no_folder(folder: Callable[..., Folder]) -> None:
    made = folder()
    (made.path / "out").write_text("in the way")
    done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert "must be a folder that can be written" in done.err
    assert (made.path / "out").read_text() == "in the way"


def test_a_hash_without_a_key(folder: Callable[..., Folder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    made = folder(
        columns={"person": {"action": "hash"}},
        deidentify={"key_env": "SECRET_KEY"},
        acknowledged=acknowledged("person"),
    )
    done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert "SECRET_KEY must hold a key" in done.err
    key = "correct horse battery staple"
    monkeypatch.setenv("SECRET_KEY", key)
    done = made.call("run", "policy.yaml")
    assert done.code == 0, done.err
    everything = b"".join(path.read_bytes() for path in made.path.rglob("*") if path.is_file())
    assert key.encode() not in everything
    assert key not in done.out + done.err


def test_a_policy_that_is_not_there(folder: Callable[..., Folder]) -> None:
    assert folder().call("run", "nowhere.yaml").code == 2


def test_partitions_are_validated(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml", "--partition", "2026-01-05").code == 2
    made = folder(schedule={"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"})
    for wrong in (
        (),
        ("--partition", "2026-01-06"),
        ("--partition", "nonsense"),
        ("--partition", "../2026-01-05"),
    ):
        done = made.call("run", "policy.yaml", *wrong)
        assert done.code == 2
        assert (
            "must be one of the schedule's partitions" if wrong else "--partition must be given"
        ) in done.err
    assert made.released == []
    assert made.call("run", "policy.yaml", "--partition", "2026-01-05").code == 0
    assert {path.parent.name for path in made.released} == {"2026-01-05"}


def test_a_refused_run_leaves_no_folder(folder: Callable[..., Folder]) -> None:
    made = folder(gate={"linking_risk": 0.0})
    assert made.call("run", "policy.yaml").code == 1
    assert not (made.path / "out").exists()


WEEKS = ("2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26")
SPAN = f"{WEEKS[0]}...{WEEKS[3]}"


def weekly(folder: Callable[..., Folder], people: People, **changes: object) -> Folder:
    """Return a project of four weeks; the second has fewer people than k, the third a note of each."""
    schedule = {"cron": "0 3 * * 1", "timezone": "UTC", "partitions": "weekly", "start": WEEKS[0]}
    made = folder(schedule=schedule, source={"path": "{partition}.csv"}, **changes)
    frames = (
        people(),
        people().head(2),
        people().assign(note=lambda table: [f"{CANARY} {row}" for row in table.index]),
        people(),
    )
    for week, frame in zip(WEEKS, frames, strict=True):
        frame.to_csv(made.path / f"{week}.csv", index=False)
    return made


def test_a_refused_partition_stops_no_other(folder: Callable[..., Folder], small_people: People) -> None:
    made = weekly(folder, small_people)
    done = made.call("run", "policy.yaml", "--partitions", SPAN)
    assert done.code == 1, done.err
    assert [line for line in done.out.splitlines() if line.startswith("partition ")] == [
        f"partition {week}" for week in WEEKS
    ]
    assert done.out.splitlines()[-1] == f"2 of 4 partitions published; refused: {WEEKS[1]}, {WEEKS[2]}"
    assert "error: k must be at most the number of records (2), got 3" in done.err
    assert "refused: deidentified: note: must not have half as many different values" in done.err
    assert "no ε was spent" in done.err
    assert CANARY not in done.out + done.err
    manifests = [path.parent.name for path in made.released if path.name == "manifest.json"]
    assert manifests == [WEEKS[0], WEEKS[3]]


def test_each_partition_that_the_gate_refuses_says_by_what(
    folder: Callable[..., Folder], small_people: People
) -> None:
    made = weekly(folder, small_people, gate={"linking_risk": 0.0})
    done = made.call("run", "policy.yaml", "--partitions", f"{WEEKS[0]}...{WEEKS[0]}")
    assert (done.code, made.released) == (1, [])
    assert "refused by linking_risk" in done.err.splitlines()
    assert done.out.splitlines()[-1] == f"0 of 1 partitions published; refused: {WEEKS[0]}"


def test_partitions_as_json_are_a_list_and_tell_no_value(
    folder: Callable[..., Folder], small_people: People
) -> None:
    made = weekly(folder, small_people)
    done = made.call("run", "policy.yaml", "--partitions", f"{WEEKS[0]}...{WEEKS[1]}", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("run"))
    first, second = document["partitions"]
    assert (done.code, first["published"], second["published"]) == (3, True, False)
    assert (first["partition"], second["partition"]) == (WEEKS[0], WEEKS[1])
    assert second["error"].startswith("k must be at most the number of records (2), got 3")
    assert json.loads((made.path / first["manifest"]).read_text())["release"] == "small"


def test_a_mistake_of_the_data_stops_a_backfill_that_tells_what_was_made(
    folder: Callable[..., Folder], small_people: People
) -> None:
    made = weekly(folder, small_people)
    (made.path / f"{WEEKS[1]}.csv").unlink()
    done = made.call("run", "policy.yaml", "--partitions", SPAN, "--json")
    assert done.code == 2
    assert [one["partition"] for one in json.loads(done.out)["partitions"]] == [WEEKS[0]]
    assert made.call("run", "policy.yaml", "--partitions", SPAN, "--partition", WEEKS[0]).code == 2
    page = ("--internal-report", "page.html")
    assert made.call("run", "policy.yaml", "--partitions", SPAN, *page).code == 2
