"""`verify` and `keygen`: every digest recomputed, every tampering refused, what was not verified is said."""

from __future__ import annotations

import hashlib
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.reading import MANIFEST_BYTES
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import release_files, verify
from anon_pipeline.publish.manifest_facts import broken_statements
from anon_pipeline.publish.verify import Against, verify_release
from anon_pipeline.publish.versions import RULES_2
from anon_pipeline.release import make_release

ROOT = Path(__file__).resolve().parents[2]
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

    def make(people: pd.DataFrame | None = None, **changes: object) -> Project:
        policy = small_policy(**changes)
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
        people = small_people() if people is None else people
        people.to_csv(tmp_path / "people.csv", index=False)
        people.to_parquet(tmp_path / "people.parquet", index=False)
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


KNOWN = {"attacks": {"population": {"path": "people.csv", "journalist_risk": 1, "marketer_risk": 1}}}


def test_who_has_the_population_can_repeat_what_was_measured_on_it(project: Make) -> None:
    made = project(gate=KNOWN)
    gate = json.loads(made.manifest.read_text())["gate"]
    people = made.path / "people.csv"
    assert gate["population_digest"] == hashlib.sha256(people.read_bytes()).hexdigest()
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert "Not verified: signature, gate.origin, gate.suppression." in said
    people.write_text(people.read_text().replace("Cork", "Galway"))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert "it was measured on another population" in re.sub(r"[│\s]+", " ", said)
    people.unlink()
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert "gate.population.journalist_risk, gate.population.marketer_risk." in said
    data = str(made.data)
    code, said = made.call("check", data, "--policy", "policy.yaml", "--allow-unmeasured")
    assert code == 0, said
    assert made.call("check", data, "--policy", "policy.yaml")[0] == 1


@pytest.mark.parametrize("digest", [None, "CANARY", 7])
def test_a_gate_that_does_not_name_its_population_is_refused(project: Make, digest: object) -> None:
    made = project(gate=KNOWN)
    made.edit(lambda document: document["gate"].update(population_digest=digest))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert "refused by recorded gate" in said.splitlines()[-1]
    assert "CANARY" not in said
    made.edit(lambda document: document["gate"].pop("population_digest"))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    said = re.sub(r"[│\s]+", " ", said)
    assert "it must name the population by its digest where the policy does, and only there" in said


def test_no_release_without_its_population(project: Make, tmp_path: Path) -> None:
    wanted = {"attacks": {"population": {"path": "nowhere.csv", "journalist_risk": 1}}}
    with pytest.raises(InputError, match=r"population\.path: must be a readable file"):
        project(gate=wanted)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_without_a_policy_it_says_what_was_not_verified(project: Make) -> None:
    code, said = project().call("verify", "out")
    assert code == 0
    assert "Not verified: signature, policy_digest, hierarchies, statements, gate." in said


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
    name, old = f"small-{digest[:16]}.parquet", made.data
    made.edit(lambda document: document["files"][0].update(name=name, sha256=digest, size=len(data)))
    old.rename(made.data)


def _no_table(made: Project) -> None:
    _redone(made, b"CANARY-7f3a")


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
        (lambda made: made.edit(lambda d: d.update(release="other")), "by files, policy_digest"),
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
    from anon_pipeline.base.digest import digest_frame

    data, content = made.data.read_bytes(), digest_frame(pd.read_parquet(made.data))
    item = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "records": 2}

    def forge(document: dict[str, Any]) -> None:
        document["files"][0].update(item, name=f"small-{item['sha256'][:16]}.parquet")
        document["data_digest"] = document["gate"]["data_digest"] = content
        facts = document["facts"]
        gone = facts["shuffled"]["records"] - 2
        all_gone = facts["raw"]["records"] - 2
        facts["suppressed"].update(
            released=2,
            classes=2,
            suppressed_unconfident=gone,
            suppressed_small_classes=0,
            suppressed_in_all=all_gone,
        )
        document["gate"]["verdicts"][-1]["value"] = all_gone / facts["raw"]["records"]
        document["gate"]["verdicts"][-1]["bound"] = 1.0

    old = made.data
    made.edit(forge)
    old.rename(made.data)
    assert made.call("verify", "out")[0] == 0  # nothing speaks against it without the policy
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == (1, "refused by recorded gate, gate.k")


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
    (left,) = [line for line in made.call("verify", "out")[1].splitlines() if line.startswith("Not verified")]
    assert "signature" in left  # needs the key
    assert made.call("verify", "out", "--public-key", "other.pub")[0] == 1
    made.edit(lambda document: document["guarantee"].append("And it is safe for ever."))
    code, said = made.call(*with_key)
    assert (code, said.splitlines()[-1]) == (1, "refused by signature")
    assert made.call("verify", "out", "--public-key", "key")[0] == 2  # the private one


CSV = {"publish": {"format": "csv"}}


def _redone(made: Project, data: bytes) -> None:
    """Write other bytes, with their name, digest and size in the manifest."""
    digest, old = hashlib.sha256(data).hexdigest(), made.data
    name = f"small-{digest[:16]}{old.suffix}"
    made.edit(lambda document: document["files"][0].update(name=name, sha256=digest, size=len(data)))
    old.rename(made.data)
    made.data.write_bytes(data)


@pytest.mark.parametrize("policy", [(), ("--policy", "policy.yaml")])
def test_a_csv_of_equal_size_whose_sha256_is_stale(project: Make, policy: tuple[str, ...]) -> None:
    """Only the SHA-256 is against it: the content's digest is redone, and so is all that depends on it."""
    made = project(**CSV)
    data = made.data.read_bytes()
    other = data.replace(b'"flu"', b'"HIV"', 1)
    assert len(other) == len(data)
    made.data.write_bytes(other)
    types = json.loads(made.manifest.read_text())["files"][0]["types"]
    from anon_pipeline.base.digest import digest_frame
    from anon_pipeline.publish.file_formats import from_bytes, schema_of

    redone = digest_frame(from_bytes(other, "csv", like=schema_of(types), formulas="neutralize"))
    made.edit(lambda d: d.update(data_digest=redone))
    made.edit(lambda d: d["gate"].update(data_digest=redone))
    code, said = made.call("verify", "out", *policy)
    assert code == 1
    assert "its SHA-256 is another than" in " ".join(said.replace("│", " ").split())
    assert f"file.{made.data.name}" in said.splitlines()[-1]
    _redone(made, other)  # and then nothing unsigned is against it: docs/known-limits.md says so
    assert made.call("verify", "out", *policy)[0] == 0


def test_a_csv_whose_content_has_another_digest_is_refused(project: Make) -> None:
    made = project(**CSV)
    _redone(made, made.data.read_bytes().replace(b'"flu"', b'"HIV"', 1))
    for policy in ((), ("--policy", "policy.yaml")):
        code, said = made.call("verify", "out", *policy)
        assert (code, said.splitlines()[-1]) == (1, "refused by data_digest")


@pytest.mark.parametrize(
    "change",
    [
        lambda types: types.clear(),
        lambda types: types.pop("note"),
        lambda types: types.update(note="garbage"),
        lambda types: types.update(note="string"),  # reads the same; it is written as large_string
        lambda types: types.update(income="int32"),
        lambda types: types.update(income="double"),
        lambda types: types.update(person="large_string"),
        lambda types: types.update({"note": types.pop("note"), "income": types.pop("income")}),
    ],
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_types_are_those_of_the_files_columns(
    project: Make, form: str, change: Callable[[dict[str, str]], object]
) -> None:
    made = project(publish={"format": form})
    before = made.manifest.read_text()
    made.edit(lambda d: change(d["files"][0]["types"]))
    assert json.loads(made.manifest.read_text())["files"][0]["types"] != json.loads(before)["files"][0][
        "types"
    ] or (
        list(json.loads(made.manifest.read_text())["files"][0]["types"])
        != list(json.loads(before)["files"][0]["types"])
    )
    for policy in ((), ("--policy", "policy.yaml")):
        code, said = made.call("verify", "out", *policy)
        assert code == 1
        assert re.fullmatch(r"refused by (files|data_digest|files, data_digest)", said.splitlines()[-1])


def _typed_people(people: pd.DataFrame) -> pd.DataFrame:
    n = len(people)
    return people.assign(
        count=np.arange(n),
        ratio=np.arange(n) / 7,
        sure=np.arange(n) % 2 == 0,
        day=pd.date_range("2020-01-01", periods=n),
        seen=pd.date_range("2020-01-01 10:00:01", periods=n, tz="Europe/Dublin"),
        gap=pd.array([None if i % 5 else i for i in range(n)], dtype="Int64"),
        code=pd.Series([f"{i:03d}" for i in range(n)], dtype="str"),
        sign=pd.Series(["=1+1" if i % 3 else "+5" for i in range(n)], dtype="category"),
    )


@pytest.mark.parametrize("formulas", ["neutralize", "keep"])
def test_a_csv_with_the_types_of_a_parquet_source_is_verified(
    project: Make, small_people: Callable[..., pd.DataFrame], formulas: str
) -> None:
    people = _typed_people(small_people())
    more = {name: {"role": "insensitive"} for name in people.columns if name not in small_people().columns}
    made = project(
        people,
        source={"path": "people.parquet", "format": "parquet"},
        publish={"format": "csv", "formulas": formulas},
        columns=more,
    )
    for policy in ((), ("--policy", "policy.yaml")):
        code, said = made.call("verify", "out", *policy)
        assert code == 0, said
        assert "data_digest" not in said.splitlines()[-1]
    data = made.data.read_bytes()
    ratio = re.search(rb",\d+\.\d{10,},", data)  # of a record that was not suppressed
    assert ratio is not None
    _redone(made, data.replace(ratio[0], b",0.15,", 1))
    assert made.data.read_bytes() != data
    assert "refused by data_digest" in made.call("verify", "out")[1]


def _verdict(place: int, **change: object) -> Callable[[dict[str, Any]], object]:
    return lambda d: d["gate"]["verdicts"][place].update(**change)


K = 2  # place of k among the verdicts
RECORDED: list[tuple[Callable[[dict[str, Any]], object], str, bool]] = [
    (lambda d: d.update(epsilon=0.001), "statements", False),
    (lambda d: d.update(epsilon=None), "statements", False),
    (lambda d: d.update(guarantee=["perfect"]), "statements", False),
    (lambda d: d["guarantee"].append("And it is safe for ever."), "statements", False),
    (lambda d: d.update(partition="2020-01-01"), "statements", False),
    (lambda d: d.update(made_at="soon"), "statements", True),
    (lambda d: d.update(made_at="2026-01-01T00:00:00"), "statements", True),
    (lambda d: d.update(facts={}), "facts", True),
    (lambda d: d.update(facts=3), "facts", True),
    (lambda d: d.pop("facts"), "facts", True),
    (lambda d: d["facts"].pop("shuffled"), "facts", True),
    (lambda d: d["facts"]["suppressed"].update(released=1), "facts", True),
    (lambda d: d["facts"]["shuffled"].update(seeded=True), "facts", True),
    (lambda d: d["facts"]["raw"].update(made_by="x"), "facts", True),
    (lambda d: d["facts"]["k_anonymized"].update(k=99), "facts", True),
    (lambda d: d["facts"]["perturbed"].update(epsilon=0.1), "facts", False),
    (lambda d: d["facts"]["raw"].update(records=1), "recorded gate, facts", True),
    (lambda d: d["facts"]["k_anonymized"].update(information_loss=7.5), "facts", True),
    (lambda d: d["facts"]["suppressed"].update(suppressed_by_limit={"a person": 3}), "facts", True),
    (lambda d: d["gate"].update(verdicts=d["gate"]["verdicts"][:1]), "recorded gate", True),
    (lambda d: d["gate"]["verdicts"].pop(), "recorded gate", False),
    (lambda d: d["gate"]["verdicts"].append(d["gate"]["verdicts"][0]), "recorded gate", True),
    (_verdict(K, value=999), "recorded gate", False),
    (_verdict(K, value=1), "recorded gate", True),
    (_verdict(K, value=None), "recorded gate", True),
    (_verdict(K, bound=2), "recorded gate", False),
    (_verdict(K, sense="at most"), "recorded gate", True),
    (_verdict(K, sense="about"), "recorded gate", True),
    (_verdict(K, bound="3"), "recorded gate", True),
    (_verdict(K + 1, bound=0.6), "recorded gate", False),  # suppression
    (_verdict(K + 1, value=0.9), "recorded gate", True),
    (lambda d: d["gate"].update(passed=False), "recorded gate", True),
    (lambda d: d["gate"].pop("passed"), "recorded gate", True),
    (lambda d: d["files"].append(d["files"][0]), "files", True),
    (lambda d: d["files"].append({**d["files"][0], "name": "manifest.json"}), "files", True),
]


@pytest.mark.parametrize(("change", "refused", "alone"), RECORDED)
def test_what_a_manifest_says_is_held_against_policy_file_and_itself(
    project: Make,
    small_people: Callable[..., pd.DataFrame],
    change: Callable[[dict[str, Any]], object],
    refused: str,
    alone: bool,
) -> None:
    people = small_people()
    people.loc[0, "height"] = None  # one is left out whatever the noise: no share of suppressed records is 0
    made = project(people, columns={"height": {"missing": "suppress"}})
    made.edit(change)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert said.splitlines()[-1] == f"refused by {refused}"
    assert made.call("verify", "out")[0] == int(alone)


def test_the_wording_belongs_to_the_version_of_the_manifest(project: Make) -> None:
    """Whoever changes the words raises the version: the version of the package says nothing of them."""
    made = project()
    made.edit(lambda d: d["packages"].update({"anon-pipeline": "0.9.1"}))
    assert made.call("verify", "out", "--policy", "policy.yaml")[0] == 0
    made.edit(lambda d: d.update(guarantee=["as it was said then"]))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == (1, "refused by statements")


@pytest.mark.parametrize(
    "packages",
    [{"john": "1.2"}, {"numpy": "Smith 12 High St"}, {"numpy": None}, {"numpy": ["2.0"]}, [], None],
    ids=["another name", "no version", "none", "a list", "no mapping", "nothing"],
)
@pytest.mark.parametrize("made_by", [True, False], ids=["this version", "another version"])
def test_packages_are_names_with_their_versions(project: Make, packages: Any, made_by: bool) -> None:
    made = project()
    told = packages
    if isinstance(packages, dict):
        own = metadata.version("anon-pipeline") if made_by else "0.0.1"
        told = {**json.loads(made.manifest.read_text())["packages"], "anon-pipeline": own, **packages}
    made.edit(lambda d: d.update(packages=told))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert "packages" in " ".join(said.replace("│", " ").split())
    assert "john" not in said
    assert "Smith" not in said


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("daily", ["2026-01-05", "2026-01-06"], ["2025-12-31", "20260105", "2026-01-32", None, 3, ""]),
        ("weekly", ["2026-01-05"], ["2026-01-06"]),
        ("monthly", ["2026-02-01"], ["2026-02-02"]),
        (None, [None], ["2026-01-05", "x"]),
        ("generate", [None, "x", "2026-01-05"], ["../x", "", 3]),
    ],
)
def test_a_partition_is_one_of_the_policys(
    small_policy: Callable[..., Policy], kind: str | None, right: list[object], wrong: list[object]
) -> None:
    schedule = {"cron": "0 0 * * *", "partitions": kind, "start": "2026-01-01"}
    divided = {"source": {"path": "{partition}.csv"}}
    generated = {"source": {"path": None, "generate": "patients"}}
    changes = {"generate": generated, None: {}}.get(kind, {**divided, "schedule": schedule})
    policy = small_policy(**changes)
    from anon_pipeline.publish.guarantee import guarantee

    document = {"epsilon": 2, "guarantee": guarantee(policy), "files": [{"format": "parquet"}]}
    for partition in right:
        assert broken_statements({**document, "partition": partition}, policy, rules=RULES_2) == []
    for partition in wrong:
        assert broken_statements({**document, "partition": partition}, policy, rules=RULES_2) == [
            "partition is none of the policy's"
        ]


def test_the_file_is_read_once(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is said of the bytes whose SHA-256 was compared, whatever the path leads to afterwards."""
    made = project(**CSV)
    name, bytes_of = made.data.name, release_files.read_bytes

    def exchanged(path: Path, *more: Any) -> bytes:
        data = bytes_of(path, *more)
        path.write_bytes(b"a,b\n1,2\n")
        return data

    monkeypatch.setattr(release_files, "read_bytes", exchanged)
    report = verify_release(made.path / "out", Against())
    assert {v.limit: str(v.status) for v in report.verdicts}[f"file.{name}"] == "passed"
    assert {v.limit: str(v.status) for v in report.verdicts}["data_digest"] == "passed"
    made.data.unlink()  # a file of a former release whose content is another's
    made = project(**CSV)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert made.data.read_bytes() == b"a,b\n1,2\n"


@pytest.mark.parametrize(
    ("limit", "most"), [("file_bytes", 400), ("rows", 50), ("columns", 3), ("cell_bytes", 2)]
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_limits_of_the_policy_hold(
    project: Make, monkeypatch: pytest.MonkeyPatch, form: str, limit: str, most: int
) -> None:
    from anon_pipeline.policy.files import Limits

    made = project(publish={"format": form})
    for module in (verify, release_files):
        monkeypatch.setattr(module, "limits_of", lambda policy: Limits(**{limit: most}))
    said = " ".join(made.call("verify", "out")[1].replace("│", " ").split())
    assert f"keep the limit {limit}" in said
    assert "refused by" in said


def test_a_manifest_that_is_too_large(project: Make) -> None:
    made = project()
    made.edit(lambda d: d.update(more="x" * MANIFEST_BYTES))
    code, said = made.call("verify", "out")
    assert code == 2
    assert "too large" in said
    assert made.call("verify", "/dev/zero")[0] == 2


@pytest.mark.parametrize("policy", [(), ("--policy", "policy.yaml")])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_small_file_that_is_a_large_table(project: Make, form: str, policy: tuple[str, ...]) -> None:
    """100 million zeros in some 100 kB of Parquet; of CSV, 60 MB of lines. The child has 4 GiB."""
    made = project(source={"limits": {"rows": 1_000_000}}, publish={"format": form})
    if form == "parquet":
        part = pa.table({"a": np.zeros(10_000_000, np.int64)})
        with pq.ParquetWriter(made.data, part.schema, compression="zstd") as writer:
            for _ in range(10):
                writer.write_table(part)
    else:
        pa_csv.write_csv(pa.table({"a": np.zeros(30_000_000, np.int8)}), made.data)
    _redone(made, made.data.read_bytes())
    run = subprocess.run(
        [sys.executable, "-c", "from anon_pipeline.cli import main; main()", "verify", str(made.path / "out")]
        + [str(made.path / part) if part.endswith("yaml") else part for part in policy],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert run.returncode == 1, run.stderr
    assert "refused by data_digest" in run.stderr
    assert "keep the limit rows" in " ".join(run.stdout.replace("│", " ").split())


def test_names_of_files_that_are_not_plain(project: Make) -> None:
    made = project()
    made.edit(lambda d: d["files"][0].update(name="x\x1b[31m.csv"))
    code, said = made.call("verify", "out")
    assert code == 2
    assert "\x1b" not in said


def test_a_policy_that_leaves_the_project_reads_nothing(project: Make, tmp_path: Path) -> None:
    made = project(**TABLE)
    outside = made.path.parent / f"{made.path.name}-outside.csv"
    (made.path / "city.csv").rename(outside)
    (made.path / "city.csv").symlink_to(outside)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 2
    assert "columns.city.hierarchy.table: must stay within the folder of hierarchies" in said
    assert made.call("verify", "out", "--policy", "policy.yaml", "--allow-outside")[0] == 0
