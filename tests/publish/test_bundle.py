"""An auditor's bundle: what is in it, that it verifies where it is unpack_table, and what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import InputError
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.chain import Broken, Event
from anon_pipeline.policy import load_policy
from anon_pipeline.publish.bundle import bundle, write_bundle
from anon_pipeline.publish.verify.verify import Against
from tests.publish.projects import Project

Make = Callable[..., Project]
TABLE = {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}}


def ledger_of(made: Project) -> Ledger:
    return ledger_at(f"sqlite:///{made.path / 'ledger.sqlite'}", make=False)


def packed(made: Project, **options: Any) -> bytes:
    file = made.path / "policy.yaml"
    against = Against(load_policy(file), made.path, sources=made.path)
    return bundle(made.path / "out", file, against, **{"ledger": ledger_of(made), **options})


def unpack_table(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_verifies_in_an_empty_folder(
    project: Make, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(publish={"to": "out"})
    code, said = made.call("bundle", "out", "--policy", "policy.yaml", "--to", "audit.zip")
    assert code == 0, said
    assert (made.path / "audit.zip").stat().st_mode & 0o777 == 0o600
    empty = tmp_path_factory.mktemp("empty")
    with zipfile.ZipFile(made.path / "audit.zip") as archive:
        archive.extractall(empty)
    text = (empty / "README.txt").read_text()
    lines = [line.split() for line in text.splitlines() if line.startswith("    ")]
    (command,) = [words[1:] for words in lines if words[0] == ".venv/bin/anon-pipeline"]
    monkeypatch.chdir(empty)
    code, said = made.call(*command)
    assert code == 0, said
    assert "refused" not in said
    (empty / "release" / made.data.name).write_bytes(b"another")
    assert made.call(*command)[0] == 1


def test_what_is_in_it(project: Make) -> None:
    made = project(publish={"to": "out"})
    data = packed(made)
    assert data == packed(made)
    files = unpack_table(data)
    document = json.loads(made.manifest.read_text())
    names = {"README.txt", "ledger.jsonl", "policy.yaml", "versions.txt", "release/manifest.json"}
    names |= {f"release/{made.data.name}"}
    names |= {f"release/{document[part]['name']}" for part in ("report", "policy")}
    assert set(files) == names
    assert list(files) == sorted(files)
    assert files["policy.yaml"] == (made.path / "policy.yaml").read_bytes()
    text = files["README.txt"].decode()
    for name in names - {"README.txt"}:
        assert f"{hashlib.sha256(files[name]).hexdigest()}  {name}" in text
    assert f"numpy=={document['packages']['numpy']}\n" in files["versions.txt"].decode()
    assert b"person 17" not in data  # neither the source nor anything of the vault


def test_the_extract_has_this_release_and_its_dataset(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = project(publish={"to": "out"})
    mine = ledger_of(made).events()
    others = [replace(mine[-1], dataset="others", release_id="f" * 32)]
    monkeypatch.setattr(Ledger, "read_and_verify", lambda self: ([*mine, *others], None))
    events = [Event(**json.loads(line)) for line in unpack_table(packed(made))["ledger.jsonl"].splitlines()]
    assert [event.event for event in events][-1] == "published"
    assert all(event.hash == event.digest() for event in events)
    assert events == mine
    without = unpack_table(packed(made, ledger=None))
    assert "ledger.jsonl" not in without
    assert "No extract of a ledger" in without["README.txt"].decode()


def test_hierarchy_tables_are_packed_on_demand_alone(project: Make) -> None:
    made = project(publish={"to": "out"}, **TABLE)
    files = unpack_table(packed(made))
    assert "city.csv" not in files
    assert "Not packed are the hierarchy tables" in files["README.txt"].decode()
    whole = unpack_table(packed(made, tables=True))
    assert whole["city.csv"] == (made.path / "city.csv").read_bytes()
    assert "Not packed" not in whole["README.txt"].decode()
    assert "* hierarchies: a manifest has no digest of private tables" in whole["README.txt"].decode()


def test_a_release_that_does_not_verify_is_refused(project: Make) -> None:
    made = project(publish={"to": "out"})
    made.edit(lambda document: document.update(epsilon=1.0))
    with pytest.raises(InputError, match="statements"):
        packed(made)
    code, _ = made.call("bundle", "out", "--policy", "policy.yaml", "--to", "audit.zip")
    assert code == 2
    assert not (made.path / "audit.zip").exists()
    made.data.write_bytes(b"another")
    with pytest.raises(InputError, match="its size must be"):
        packed(made)


def test_a_broken_ledger_is_refused(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = project(publish={"to": "out"})
    book, (events, _) = ledger_of(made), ledger_of(made).read_and_verify()
    monkeypatch.setattr(Ledger, "read_and_verify", lambda self: (events, Broken(2, "it was edited")))
    with pytest.raises(InputError, match="broken at event 2"):
        packed(made, ledger=book)


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write_bundle(path, b"one")
    with pytest.raises(InputError, match="must be a new file"):
        write_bundle(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="can be written"):
        write_bundle(tmp_path / "no" / "a.zip", b"two")


@pytest.mark.parametrize("place", ["../city.csv", "/etc/city.csv", "release/city.csv", "README.txt"])
def test_a_table_without_a_place_in_the_bundle_is_refused(project: Make, place: str) -> None:
    made = project(publish={"to": "out"}, **TABLE)
    file = made.path / "policy.yaml"
    file.write_text(file.read_text().replace("city.csv", place))
    with pytest.raises(InputError, match="must be in the project's folder"):
        packed(made)
