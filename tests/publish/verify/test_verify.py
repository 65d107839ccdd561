"""`verify` and `keygen`: every digest recomputed, every tampering refused, what was not verified is said."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.publish import release_files
from anon_pipeline.publish.verify import verify, verify_policy
from tests.publish.projects import Project

pytestmark = pytest.mark.usefixtures("releases_once")

Make = Callable[..., "Project"]


USEFULNESS = ", ".join(
    f"gate.utility_{name}" for name in ("information_loss", "relative_error.height", "released")
)
TABLE = {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}}


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["out", "out/manifest.json"])
def test_a_release_as_it_was_published_is_verified(project: Make, form: str, name: str) -> None:
    made = project(publish={"format": form}, gate={"linking_risk": 1.0}, **TABLE)
    code, said = made.call("verify", name, "--policy", "policy.yaml")
    assert code == 0, said
    assert said.count("passed") >= 8
    assert "Not verified: signature, hierarchies, gate.origin, " in said
    assert "gate.repeated_people" in said


KNOWN = {"attacks": {"population": {"path": "people.csv", "journalist_risk": 1, "marketer_risk": 1}}}


def test_who_has_the_population_can_repeat_what_was_measured_on_it(project: Make) -> None:
    made = project(gate=KNOWN)
    gate = json.loads(made.manifest.read_text())["gate"]
    people = made.path / "people.csv"
    assert hashlib.sha256(people.read_bytes()).hexdigest() not in made.manifest.read_text()
    told = {verdict["limit"]: verdict["value"] for verdict in gate["verdicts"]}
    assert told["population.journalist_risk"] is told["population.marketer_risk"] is None
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert "Not verified: signature, gate.origin, " in said
    assert "gate.repeated_people" in said
    people.unlink()
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0, said
    assert "gate.population.journalist_risk, gate.population.marketer_risk, " in said
    data = str(made.data)
    code, said = made.call("check", data, "--policy", "policy.yaml", "--allow-unmeasured")
    assert code == 0, said
    assert made.call("check", data, "--policy", "policy.yaml")[0] == 1


@pytest.mark.parametrize("digest", [None, "CANARY", 7, "0" * 64])
def test_a_gate_that_names_a_digest_of_its_population_is_refused(project: Make, digest: object) -> None:
    made = project(gate=KNOWN)
    made.edit(lambda document: document["gate"].update(population_digest=digest))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert "refused by recorded gate" in said.splitlines()[-1]
    assert "CANARY" not in said


def test_no_release_without_its_population(project: Make, tmp_path: Path) -> None:
    wanted = {"attacks": {"population": {"path": "nowhere.csv", "journalist_risk": 1}}}
    with pytest.raises(InputError, match=r"population\.path: must be a readable file"):
        project(gate=wanted)
    assert not (tmp_path / "out" / "manifest.json").exists()


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
        (lambda made: made.edit(lambda d: d.update(release="other")), "by files, policy, policy_digest"),
        (lambda made: made.edit(lambda d: d.update(hierarchies={"city": "0" * 64})), "by statements"),
        (lambda made: (made.path / "city.csv").write_text("Cork;x;*\n"), "by facts"),
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
        all_gone = facts["raw"]["records"] - 2
        classes = len(frame[["age", "city"]].drop_duplicates())  # the two may be of one
        facts["suppressed"].update(released=2, classes=classes, suppressed_in_all=all_gone)
        (share,) = (v for v in document["gate"]["verdicts"] if v["limit"] == "suppression")
        share.update(value=all_gone / facts["raw"]["records"], bound=1.0)

    old = made.data
    made.edit(forge)
    old.rename(made.data)
    refused = (1, "refused by recorded gate, gate.k")
    code, said = made.call("verify", "out")  # by the policy that lies beside it
    assert (code, said.splitlines()[-1]) == refused
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == refused
    (made.path / "out" / json.loads(made.manifest.read_text())["policy"]["name"]).unlink()
    made.edit(lambda document: document.pop("policy"))
    assert made.call("verify", "out")[0] == 0  # nothing speaks against it without any policy


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
    assert "Not verified: gate.origin, " in said
    assert "gate.repeated_people" in said
    (left,) = [line for line in made.call("verify", "out")[1].splitlines() if line.startswith("Not verified")]
    assert "signature" in left  # needs the key
    assert made.call("verify", "out", "--public-key", "other.pub")[0] == 1
    made.edit(lambda document: document["guarantee"].append("And it is safe for ever."))
    code, said = made.call(*with_key)
    assert (code, said.splitlines()[-1]) == (1, "refused by signature, statements")
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
    other = data.replace(b'"a"', b'"b"', 1)
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
    _redone(made, made.data.read_bytes().replace(b'"a"', b'"b"', 1))
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
    few = np.arange(n) % 30  # no value singles anybody out
    return people.assign(
        count=few,
        ratio=few / 7,
        sure=few % 2 == 0,
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(few, unit="D"),
        seen=pd.Timestamp("2020-01-01 10:00:01", tz="Europe/Dublin") + pd.to_timedelta(few, unit="D"),
        gap=pd.array([None if i % 5 else i for i in few], dtype="Int64"),
        code=pd.Series([f"{i:03d}" for i in few], dtype="str"),
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
        gate={"attacks": {"known_columns": [{"columns": [name], "risk": 1} for name in [*more, "note"]]}},
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


def test_the_wording_belongs_to_the_version_of_the_manifest(project: Make) -> None:
    """Whoever changes the words raises the version: the version of the package says nothing of them."""
    made = project()
    made.edit(lambda d: d["packages"].update({"anon-pipeline": "0.9.1"}))
    assert made.call("verify", "out", "--policy", "policy.yaml")[0] == 0
    made.edit(lambda d: d.update(guarantee=["as it was said then"]))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == (1, "refused by statements")


@pytest.mark.parametrize(
    ("limit", "most"), [("file_bytes", 400), ("rows", 50), ("columns", 3), ("cell_bytes", 2)]
)
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_limits_of_the_policy_hold(
    project: Make, monkeypatch: pytest.MonkeyPatch, form: str, limit: str, most: int
) -> None:
    from anon_pipeline.policy.files import Limits

    made = project(publish={"format": form})
    for module in (verify, verify_policy, release_files):
        monkeypatch.setattr(module, "limits_of", lambda policy: Limits(**{limit: most}))
    said = " ".join(made.call("verify", "out")[1].replace("│", " ").split())
    assert f"keep the limit {limit}" in said
    assert "refused by" in said


def test_a_policy_that_leaves_the_project_reads_nothing(project: Make, tmp_path: Path) -> None:
    made = project(**TABLE)
    outside = made.path.parent / f"{made.path.name}-outside.csv"
    (made.path / "city.csv").rename(outside)
    (made.path / "city.csv").symlink_to(outside)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 2
    assert "columns.city.hierarchy.table: must stay within the folder of hierarchies" in said
    assert made.call("verify", "out", "--policy", "policy.yaml", "--allow-outside")[0] == 0
