"""`verify` and `keygen`: every digest recomputed, every tampering refused, what was not verified is said."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.locations import Locations
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.release import make_release

Make = Callable[..., "Project"]


@dataclass(frozen=True)
class Project:
    """A project with a release in ``out``."""

    path: Path
    call: Callable[..., tuple[int, str]]

    @property
    def manifest(self) -> Path:
        return self.path / "out" / "manifest.json"

    @property
    def data(self) -> Path:
        return self.path / "out" / str(json.loads(self.manifest.read_text())["files"][0]["name"])

    def edit(self, change: Callable[[dict[str, Any]], object]) -> None:
        document = json.loads(self.manifest.read_text())
        change(document)
        self.manifest.write_text(json.dumps(document))


@pytest.fixture
def project(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Make:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        return int(exit_.value.code or 0), shown.out + shown.err

    def make(**changes: object) -> Project:
        policy = small_policy(**changes)
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
        small_people().to_csv(tmp_path / "people.csv", index=False)
        make_release(policy, Locations.of(tmp_path, {}))
        return Project(tmp_path, call)

    return make


TABLE = {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}}


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["out", "out/manifest.json"])
def test_a_release_as_it_was_published_is_verified(project: Make, form: str, name: str) -> None:
    made = project(publish={"format": form}, gate={"linking_risk": 1.0}, **TABLE)
    code, said = made.call("verify", name, "--policy", "policy.yaml")
    assert code == 0, said
    assert said.count("passed") >= 8
    assert "Not verified: signature, gate.origin, gate.linking_risk, gate.suppression." in said


def test_without_a_policy_it_says_what_was_not_verified(project: Make) -> None:
    code, said = project().call("verify", "out")
    assert code == 0
    assert "Not verified: signature, policy_digest, hierarchies, gate." in said


def _flip(made: Project) -> None:
    data = bytearray(made.data.read_bytes())
    data[len(data) // 2] ^= 1
    made.data.write_bytes(data)


def _other_table(made: Project) -> None:
    """Change a cell, and the digests of the file with it."""
    frame = pd.read_parquet(made.data)
    frame.loc[0, "height"] += 1
    frame.to_parquet(made.data, index=False)
    data = made.data.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    made.edit(lambda document: document["files"][0].update(sha256=digest, size=len(data)))


def _no_table(made: Project) -> None:
    made.data.write_bytes(b"CANARY-7f3a")
    digest = hashlib.sha256(b"CANARY-7f3a").hexdigest()
    made.edit(lambda document: document["files"][0].update(sha256=digest, size=11))


def _linked(made: Project) -> None:
    elsewhere = made.data.rename(made.path / "elsewhere")
    (made.path / "out" / json.loads(made.manifest.read_text())["files"][0]["name"]).symlink_to(elsewhere)


@pytest.mark.parametrize(
    ("tamper", "refused"),
    [
        (_flip, "data_digest"),
        (lambda made: made.data.unlink(), "data_digest"),
        (lambda made: made.data.write_bytes(made.data.read_bytes() + b"\0"), "data_digest"),
        (_linked, "data_digest"),
        (_other_table, "refused by data_digest"),
        (_no_table, "data_digest, gate"),
        (lambda made: made.edit(lambda d: d["files"][0].update(records=1)), "refused by records"),
        (lambda made: made.edit(lambda d: d.update(data_digest="0" * 64)), "data_digest, recorded gate"),
        (lambda made: made.edit(lambda d: d.update(policy_digest="0" * 64)), "recorded gate, policy_digest"),
        (lambda made: made.edit(lambda d: d.update(release="other")), "refused by policy_digest"),
        (lambda made: made.edit(lambda d: d["hierarchies"].update({"city.csv": "0"})), "by hierarchies"),
        (lambda made: (made.path / "city.csv").write_text("Cork;x;*\n"), "by hierarchies"),
        (lambda made: made.edit(lambda d: d["gate"]["verdicts"].clear()), "refused by recorded gate"),
        (
            lambda made: made.edit(lambda d: d["gate"]["verdicts"][0].update(status="refused")),
            "refused by recorded gate",
        ),
        (lambda made: made.edit(lambda d: d["gate"].update(verdicts=[3])), "refused by recorded gate"),
    ],
)
def test_each_tampering_is_refused(project: Make, tamper: Callable[[Project], object], refused: str) -> None:
    made = project(**TABLE)
    tamper(made)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1, said
    assert refused in said.splitlines()[-1]
    assert "CANARY" not in said


def test_the_gate_judges_the_file_anew(project: Make) -> None:
    """A release below the policy's k is refused although its manifest, forged throughout, says it passed."""
    made = project()
    frame = pd.read_parquet(made.data).iloc[:2]
    frame.to_parquet(made.data, index=False)
    from anon_pipeline.digest import digest_frame

    data, content = made.data.read_bytes(), digest_frame(pd.read_parquet(made.data))
    item = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "records": 2}

    def forge(document: dict[str, Any]) -> None:
        document["files"][0].update(item)
        document["data_digest"] = document["gate"]["data_digest"] = content

    made.edit(forge)
    assert made.call("verify", "out")[0] == 0  # nothing speaks against it without the policy
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == (1, "refused by gate.k")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "3",
        '{"manifest_version": 2}',
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        '{"manifest_version": 1, "release": "x", "policy_digest": "", "data_digest": "", "files": [],'
        ' "gate": {"verdicts": []}}',
    ],
)
def test_what_is_no_manifest_is_an_input_error(project: Make, text: str) -> None:
    made = project()
    made.manifest.write_text(text)
    code, said = made.call("verify", "out")
    assert code == 2
    assert "must be a manifest of anon-pipeline" in said


@pytest.mark.parametrize("name", ["../people.csv", "/etc/passwd", "", ".", "a/b", "a\\b", "a\0b", 3, None])
def test_a_manifest_cannot_name_files_elsewhere(project: Make, name: object) -> None:
    made = project()
    made.edit(lambda document: document["files"][0].update(name=name))
    code, said = made.call("verify", "out")
    assert code in (1, 2)
    assert "Traceback" not in said


def test_bad_arguments_exit_with_2(project: Make) -> None:
    made = project()
    for arguments in (["no"], ["people.csv"], ["out", "--policy", "no"], ["out", "--public-key", "no"]):
        assert made.call("verify", *arguments)[0] == 2


def test_a_signature_is_checked_when_a_key_is_given(project: Make) -> None:
    made = project()
    assert made.call("keygen", "key") == (0, "private key  key\npublic key   key.pub\n")
    assert made.call("keygen", "other")[0] == 0
    assert made.call("keygen", "key")[0] == 2
    with_key = ("verify", "out", "--public-key", "key.pub")
    code, said = made.call(*with_key)
    assert (code, said.splitlines()[-1]) == (1, "refused by signature")  # not signed
    project(publish={"sign": {"key_file": "key"}})
    code, said = made.call(*with_key, "--policy", "policy.yaml")
    assert code == 0, said
    assert "Not verified: gate.origin, gate.suppression." in said
    assert "signature" in made.call("verify", "out")[1].splitlines()[-1]  # needs the key: not verified
    assert made.call("verify", "out", "--public-key", "other.pub")[0] == 1
    made.edit(lambda document: document["guarantee"].append("And it is safe for ever."))
    code, said = made.call(*with_key)
    assert (code, said.splitlines()[-1]) == (1, "refused by signature")
    assert made.call("verify", "out", "--public-key", "key")[0] == 2  # the private one
