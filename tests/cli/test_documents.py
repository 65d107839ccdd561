"""Every command with --json has a JSON Schema, and what it prints is as the schema says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from jsonschema import Draft202012Validator, validate

from anon_pipeline.cli import cli
from anon_pipeline.cli.documents import DOCUMENTS, schema_of
from anon_pipeline.cli.result_schemas import RESULTS
from tests.cli.projects import Folder


def commands(group: click.Group, before: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


def test_every_command_takes_json_and_has_a_schema() -> None:
    every = dict(commands(cli))
    assert [name for name, one in every.items() if not any("--json" in p.opts for p in one.params)] == []
    assert {*every} - {"schema"} == {*DOCUMENTS, *RESULTS}
    assert not {*DOCUMENTS} & {*RESULTS}


@pytest.mark.parametrize("command", [*DOCUMENTS, *RESULTS])
def test_schemas_are_json_schemas(command: str, folder: Callable[..., Folder]) -> None:
    Draft202012Validator.check_schema(schema_of(command))
    done = folder().call("schema", command)
    assert (done.code, json.loads(done.out)) == (0, schema_of(command))


def test_json_of_verify(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    done = made.call("verify", "out", "--policy", "policy.yaml", "--json")
    validate(json.loads(done.out), schema_of("verify"))


def test_json_of_run(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call("run", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("run"))
    assert (done.code, document["published"]) == (0, True)
    assert (made.path / document["data"]).is_file() and (made.path / document["manifest"]).is_file()
    assert document["ledger"] is not None and document["left"]


def test_json_of_a_refused_run_tells_no_value(folder: Callable[..., Folder]) -> None:
    done = folder(gate={"linking_risk": 0.0}).call("run", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("run"))
    assert (done.code, document["published"]) == (1, False)
    statuses = {verdict["limit"]: verdict["status"] for verdict in document["verdicts"]}
    assert statuses["linking_risk"] == "refused"
    assert {verdict["value"] for verdict in document["verdicts"]} == {None}
    assert document["advice"]


def test_an_error_prints_no_json(folder: Callable[..., Folder]) -> None:
    made = folder(source={"path": "absent.csv"})
    done = made.call("run", "policy.yaml", "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err


def test_a_refusal_before_the_gate_prints_its_reason_in_json_and_as_text(
    folder: Callable[..., Folder],
) -> None:
    made = folder(budget={"epsilon": 3})
    assert made.call("run", "policy.yaml", "--json").code == 0
    done = made.call("run", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("run"))
    assert (done.code, document["published"], document["verdicts"]) == (1, False, [])
    assert document["error"].startswith("budget: ")
    assert "refused: budget" in done.err


def test_json_of_ledger_and_vault_and_plugins(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    for command in ("ledger list", "vault status", "plugins"):
        done = made.call(*command.split(), "--json")
        document = json.loads(done.out)
        validate(document, schema_of(command))
        assert done.code == 0
        if command == "ledger list":
            (release,) = document["releases"]
            assert (release["dataset"], release["state"], release["epsilon"]) == ("small", "published", "2")


def test_json_of_what_writes_files(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    given = {
        "report": ("report", "out", "--policy", "policy.yaml", "--out", "new.html"),
        "bundle": ("bundle", "out", "--policy", "policy.yaml", "--to", "new.zip"),
        "keygen": ("keygen", "new-key"),
        "vault measured": ("vault", "measured", "policy.yaml", "--out", "new.json"),
    }
    for command, arguments in given.items():
        done = made.call(*arguments, "--json")
        assert done.code == 0, command
        document = json.loads(done.out)
        validate(document, schema_of(command))
        assert document.pop("warnings", []) == []
        for path in document.values():
            assert isinstance(path, bool) or (made.path / path).is_file()


def test_json_of_deliver(folder: Callable[..., Folder]) -> None:
    made = folder(publish={"deliver": {"url": "memory://documents/json"}})
    assert made.call("run", "policy.yaml").code == 0
    done = made.call("deliver", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("deliver"))
    assert (done.code, document["delivered"], document["partition"]) == (0, True, None)


def test_json_of_ledger_and_vault(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    given = {
        "ledger verify": ("ledger", "verify"),
        "ledger adopt": ("ledger", "adopt", "policy.yaml"),
        "vault purge": ("vault", "purge", "--older-than", "1000"),
    }
    found = {}
    for command, arguments in given.items():
        done = made.call(*arguments, "--json")
        assert done.code == 0, command
        found[command] = json.loads(done.out)
        validate(found[command], schema_of(command))
    assert found["ledger verify"]["verified"] and found["ledger verify"]["last_hash"]
    assert found["ledger adopt"]["entered"] == []
    assert found["vault purge"] == {"deleted": 0}


def test_json_of_tune(folder: Callable[..., Folder]) -> None:
    made = folder()
    asked = ("tune", "policy.yaml", "--k", "3,6", "--epsilon", "1,2", "--csv", "points.csv", "--json")
    done = made.call(*asked, "--apply")
    document = json.loads(done.out)
    validate(document, schema_of("tune"))
    assert (done.code, document["applied"], document["written"]) == (0, True, ["points.csv"])
    assert document["recommended"] in document["points"]
    assert [(point["k"], point["epsilon"]) for point in document["points"]] == [
        (3, 1),
        (3, 2),
        (6, 1),
        (6, 2),
    ]
    assert document["said"][0].startswith("Recommended: ")
    table = list(csv.DictReader((made.path / "points.csv").open(encoding="utf-8")))
    assert [float(row["linking"]) for row in table] == [point["linking"] for point in document["points"]]
    assert json.loads(made.call(*asked, "--apply").out)["applied"] is False


def test_json_of_a_tune_that_recommends_nothing(folder: Callable[..., Folder]) -> None:
    done = folder(gate={"linking_risk": 0.0}).call("tune", "policy.yaml", "--k", "3", "--apply", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("tune"))
    assert (done.code, document["recommended"], document["applied"]) == (3, None, False)


def test_json_of_what_the_ledger_closes(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    (release,) = json.loads(made.call("ledger", "list", "--json").out)["releases"]
    done = made.call("ledger", "withdraw", release["id"][:8], "--policy", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("ledger withdraw"))
    assert (done.code, document["id"], document["state"]) == (0, release["id"], "withdrawn")
    for item in ("report", "policy"):
        assert (
            json.loads((made.path / "out" / "manifest.json").read_text())[item]["name"] in document["notice"]
        )
    assert folder(gate={"linking_risk": 0.0}).call("run", "policy.yaml").code == 1
    releases = json.loads(made.call("ledger", "list", "--json").out)["releases"]
    (refused,) = [one for one in releases if one["state"] == "failed"]
    done = made.call("ledger", "close", refused["id"], "--as", "failed", "--policy", "policy.yaml", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("ledger close"))
    assert (done.code, document) == (0, {"id": refused["id"], "state": "failed, closed"})


def test_json_of_what_needs_no_release(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call("demo", "--messy", "messy.csv", "--json")
    validate(json.loads(done.out), schema_of("demo"))
    assert (done.code, json.loads(done.out)) == (0, {"file": "messy.csv"})
    done = made.call("warmup", "policy.yaml", "--json")
    validate(json.loads(done.out), schema_of("warmup"))
    assert done.code == 0
    refused = made.call("init", "people.csv", "--to", "new.yaml", "--json")
    assert (refused.code, refused.out) == (2, "")
    done = made.call("init", "people.csv", "--to", "new.yaml", "--yes", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("init"))
    assert (done.code, document["policy"]) == (0, "new.yaml")
    assert sum(document["roles"].values()) == 7
    assert all((made.path / path).is_file() for path in (document["policy"], *document["tables"]))


def test_json_of_demo(tmp_path: Path, folder: Callable[..., Folder]) -> None:
    done = folder().call("demo", "--to", "made", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("demo"))
    assert done.code == 0
    assert all(Path(document[name]).is_file() for name in ("data", "manifest", "report"))
    assert {verdict["status"] for verdict in document["verdicts"]} <= {"passed", "warned"}


def test_json_of_profile(folder: Callable[..., Folder]) -> None:
    made = folder()
    done = made.call("profile", "people.csv", "--json", "--json-to", "profile.json")
    validate(json.loads(done.out), schema_of("profile"))
    assert (done.code, "wrote profile.json" in done.err) == (0, True)
    assert done.out == (made.path / "profile.json").read_text()


def test_json_of_utility(folder: Callable[..., Folder]) -> None:
    done = folder().call("utility", "policy.yaml", "--json")
    validate(json.loads(done.out), schema_of("utility"))
    assert (done.code, json.loads(done.out)["records"]) == (0, 240)


def test_each_line_of_ledger_export(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("run", "policy.yaml").code == 0
    lines = made.call("ledger", "export").out.splitlines()
    assert len(lines) == json.loads(made.call("ledger", "verify", "--json").out)["events"] > 0
    for line in lines:
        validate(json.loads(line), schema_of("ledger export"))
    assert made.call("ledger", "export", "--json").out.splitlines() == lines


def test_json_of_schema(folder: Callable[..., Folder]) -> None:
    made = folder()
    assert made.call("schema", "--json").out == made.call("schema").out
    assert made.call("schema", "run", "--json").out == made.call("schema", "run").out
