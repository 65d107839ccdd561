"""The commands with releases whose columns are declared: run, verify, check-policy, schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml

from anon_pipeline.catalog.release_kinds import BUCKETIZED, EPSILON_DP, SYNTHETIC, ReleaseKind
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.templates import declared_template
from tests.cli.projects import Done, Folder

Call = Callable[..., Done]


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command in a project with the policy of the package, as `dp.yaml`, and 2,000 people."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "dp.yaml").write_text(
        declared_template(EPSILON_DP, "patients").replace("20000", "2000").replace("0.05", "0.5")
    )
    return Folder(tmp_path, capsys, monkeypatch).call


def change(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "dp.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_release_is_made_and_verified(call: Call, tmp_path: Path) -> None:
    done = call("run", "dp.yaml")
    assert (done.code, done.err.count("…")) == (0, 4)
    for said in ("ε-DP release patients", "expected_error", "sex, race: ", "1 of the budget of 5 spent"):
        assert said in done.out
    listed = next(line for line in call("ledger", "list").out.splitlines() if "epsilon_dp:" in line)
    assert "–" in listed  # it has no k
    for arguments in ((), ("--policy", "dp.yaml")):
        done = call("verify", "releases/patients", *arguments)
        assert done.code == 0
        assert done.out.splitlines()[-1] == "Verified. Nothing contradicts the manifest."
    (file,) = (tmp_path / "releases" / "patients").glob("*.parquet")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    done = call("verify", "releases/patients")
    assert done.code == 1 and "refused by file" in done.err


def test_what_is_printed_as_json_is_as_its_schema_says(call: Call, tmp_path: Path) -> None:
    document = json.loads(call("run", "dp.yaml", "--json").out)
    jsonschema.validate(document, schema_of("run"))
    assert document["published"] and document["records"] == 2000
    verified = json.loads(call("verify", "releases/patients", "--json").out)
    jsonschema.validate(verified, schema_of("verify"))
    assert verified["verified"] is True
    assert "made_at" in [leaf["path"] for leaf in verified["unverified"]]
    change(tmp_path, "0.5}", "0.0001}")
    done = call("run", "dp.yaml", "--json")
    refused = json.loads(done.out)
    jsonschema.validate(refused, schema_of("run"))
    assert done.code == 1 and refused["published"] is False and "expected error" in refused["error"]


def test_one_that_was_withdrawn_is_warned_of(call: Call, tmp_path: Path) -> None:
    assert call("run", "dp.yaml").code == 0
    command = ("verify", "releases/patients", "--policy", "dp.yaml")
    assert "withdrawn" not in call(*command).err
    book = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")
    book.withdraw(book.events()[-1].release_id)
    assert "warning: it was withdrawn on " in call(*command).err
    (warning,) = json.loads(call(*command, "--json").out)["warnings"]
    assert warning["name"] == "withdrawn-releases"


def test_nothing_is_published_while_questions_stand_in_the_policy(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "dp.yaml"
    path.write_text(f"{path.read_text()}\n  # QUESTION: who?\n")
    for command, code in (("run", 2), ("check-policy", 2), ("rehearse", 0)):
        done = call(command, "dp.yaml")
        assert (done.code, "1 question of init stands" in done.err) == (code, True), command
    assert not (tmp_path / "releases").exists()


def test_a_refusal_before_the_noise_costs_nothing(call: Call, tmp_path: Path) -> None:
    change(tmp_path, "0.5}", "0.0001}")
    done = call("run", "dp.yaml")
    assert done.code == 1 and "No noise was drawn, and no ε was spent" in done.err
    listed = json.loads(call("ledger", "list", "--json").out)
    assert listed["releases"] == []


@pytest.mark.parametrize(
    "option",
    [
        ("--partition", "2026-01-01"),
        ("--partitions", "2026-01-01...2026-01-02"),
        ("--internal-report", "x.html"),
        ("--report-to-dagster",),
        ("--jobs", "2"),
    ],
)
def test_options_that_do_not_fit_are_refused(call: Call, option: tuple[str, ...]) -> None:
    done = call("run", "dp.yaml", *option)
    assert done.code == 2 and f"{option[0]} must be left out for an ε-DP release" in done.err


@pytest.mark.parametrize(
    "command",
    [("tune",), ("utility",), ("compare", "--with", "k=5"), ("review",), ("deliver",)],
)
def test_other_commands_say_that_it_is_another_kind(call: Call, command: tuple[str, ...]) -> None:
    done = call(command[0], "dp.yaml", *command[1:])
    assert done.code == 2 and "For an ε-DP release: run makes it" in done.err


def test_a_rehearsal_publishes_and_spends_nothing(call: Call, tmp_path: Path) -> None:
    done = call("rehearse", "dp.yaml")
    assert done.code == 0 and "for the curator" in done.err
    for said in ("Rehearsal of patients", "expected_error", "To publish: anon-pipeline run dp.yaml"):
        assert said in done.out
    document = json.loads(call("rehearse", "dp.yaml", "--json").out)
    jsonschema.validate(document, schema_of("rehearse"))
    assert document["published"] is False and document["records"] == 2000
    assert {verdict["value"] for verdict in document["verdicts"]} == {None}
    assert json.loads(call("ledger", "list", "--json").out)["releases"] == []
    assert not (tmp_path / "releases").exists()
    assert call("rehearse", "dp.yaml", "--partition", "a").code == 2
    change(tmp_path, "0.5}", "0.0001}")
    done = call("rehearse", "dp.yaml", "--json")
    assert done.code == 1 and "expected error" in json.loads(done.out)["error"]
    done = call("rehearse", "dp.yaml")
    assert done.code == 1 and "refused by expected_error" in done.err


def test_a_rehearsal_says_which_cells_were_not_read(call: Call, tmp_path: Path) -> None:
    people = pd.DataFrame({"sex": ["female"] * 60 + [None] * 40, "age": ["2345,5"] * 100})
    people.to_csv(tmp_path / "people.csv", sep=";", index=False)
    columns = {
        "sex": {"values": ["female", "male", "unknown"], "otherwise": "unknown"},
        "age": {"bounds": [0, 100], "bins": 10, "otherwise": 50},
    }
    attributes = {
        "name": "people",
        "source": {"path": "people.csv", "options": {"sep": ";"}},
        "columns": columns,
        "one_record_per_person": True,
        "epsilon": 20,
        "histograms": {"tables": [["sex"], ["age"]]},
        "gate": {"expected_error": 1},
    }
    document = {"type": "anon_pipeline.EpsilonDpRelease", "attributes": attributes}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(document))
    done = call("rehearse", "own.yaml")
    assert done.code == 0, done.err
    assert "warning: age: 100 % of its cells" in done.err and "decimal" in done.err
    assert "sex:" not in done.err and "2345" not in done.out + done.err
    (advice,) = json.loads(call("rehearse", "own.yaml", "--json").out)["advice"]
    assert advice.startswith("age: 100 %")
    assert "nearly all released values of age" in call("run", "own.yaml").err


@pytest.mark.parametrize("kind", [SYNTHETIC, BUCKETIZED])
def test_releases_of_every_kind_are_rehearsed(call: Call, tmp_path: Path, kind: ReleaseKind) -> None:
    text = declared_template(kind, "patients").replace("records: 20000", "records: 2000")
    (tmp_path / "other.yaml").write_text(text)
    done = call("rehearse", "other.yaml")
    assert done.code == 0 and "Nothing was published" in done.out
    assert not (tmp_path / "releases").exists()


def test_a_lost_ledger_is_made_good(call: Call, tmp_path: Path) -> None:
    assert call("run", "dp.yaml").code == 0
    (tmp_path / "ledger.sqlite").unlink()
    done = call("run", "dp.yaml")
    assert done.code == 2 and "missing from the ledger" in done.err
    done = call("ledger", "adopt", "dp.yaml")
    assert done.code == 0 and "is entered as published, ε = 1" in done.out
    assert "2 of the budget of 5 spent" in call("run", "dp.yaml").out


def test_policies_are_checked_without_data(call: Call, tmp_path: Path) -> None:
    done = call("check-policy", ".")
    assert done.code == 0 and "policies checked: 1, refused: 0, with warnings: 0" in done.out
    change(tmp_path, "epsilon: 1", "epsilon: 8")
    done = call("check-policy", "dp.yaml")
    assert done.code == 2 and "budget.epsilon: must be at least epsilon, 8" in done.err
    change(tmp_path, "budget: {epsilon: 5}", "budget: {epsilon: 8}\n  records: 30000")
    done = call("check-policy", "dp.yaml")
    assert "dp.yaml: expected error of sex, race: " in done.out
    document = json.loads(call("check-policy", "dp.yaml", "--json").out)
    jsonschema.validate(document, schema_of("check-policy"))
    assert document["policies"][0]["losses"][0].startswith("expected error of sex, race: ")
    assert done.code == 0 and "accepted.epsilon: ε = 8" in done.err
    change(tmp_path, "records: 30000", "records: 10")
    done = call("check-policy", "dp.yaml")
    assert done.code == 2 and "the expected error must be at most" in done.err
    change(tmp_path, "bins: 12", "hierarchy: {width: 5}")
    done = call("check-policy", "dp.yaml")
    assert done.code == 2 and "columns.systolic.hierarchy: must be left out of an ε-DP release" in done.err


def test_its_schema_accepts_the_template(call: Call, tmp_path: Path) -> None:
    schema = json.loads(call("schema", "--kind", "epsilon-dp").out)
    jsonschema.validate(yaml.safe_load((tmp_path / "dp.yaml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"type": "anon_pipeline.EpsilonDpRelease", "attributes": {}}, schema)
    assert call("schema", "run", "--kind", "epsilon-dp").code == 2


def test_no_cell_of_a_file_is_shown(call: Call, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"sex": ["Tracer-7"] * 3000, "race": "Tracer-7", "systolic": "Tracer-7", "charges": 1}
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    change(tmp_path, "{generate: patients, records: 2000, seed: 0}", "{path: people.csv}")
    for arguments in (("run", "dp.yaml"), ("run", "dp.yaml", "--json"), ("verify", "releases/patients")):
        done = call(*arguments)
        assert done.code == 0 and "Tracer-7" not in done.out + done.err
    for path in (tmp_path / "releases").rglob("*"):
        assert path.is_dir() or b"Tracer-7" not in path.read_bytes()


def test_values_that_are_spelled_otherwise_are_noticed(call: Call, tmp_path: Path) -> None:
    assert "nearly all released values" not in call("run", "dp.yaml").err
    change(tmp_path, "values: [Female, Male, unknown]", "values: [female, male, unknown]")
    done = call("run", "dp.yaml")
    assert done.code == 0
    assert "nearly all released values of sex are its otherwise (unknown). Are its values spelled" in done.err
