"""The policy beside a release: what is public of it verifies the release when the policy is gone."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.gate import Status
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.public import public_document
from anon_pipeline.publish.policy_file import policy_bytes
from anon_pipeline.publish.verify.verify import Against, verify_in_detail
from tests.publish.projects import Project

pytestmark = pytest.mark.usefixtures("releases_once")

Make = Callable[..., Project]

TREE = {"tree": {"South": ["Cork"], "Elsewhere": ["Dublin", "Galway"]}}
LISTED: dict[str, Any] = {"columns": {"city": {"hierarchy": {"suppress": None, **TREE}}}}
TABLE = {"columns": {"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}}}


def beside(made: Project) -> Path:
    return made.path / "out" / str(json.loads(made.manifest.read_text())["policy"]["name"])


def statuses(made: Project, against: Against | None = None) -> dict[str, Status]:
    found = verify_in_detail(made.path / "out", against or Against())
    return {verdict.limit: verdict.status for verdict in found.report.verdicts}


def rewritten(made: Project, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the policy beside a release, and name it in the manifest as its own."""
    old = beside(made)
    document = json.loads(old.read_text())
    change(document)
    data = json.dumps(document).encode()
    digest = hashlib.sha256(data).hexdigest()
    name = f"small-policy-{digest[:16]}.json"
    old.unlink()
    (made.path / "out" / name).write_bytes(data)
    made.edit(lambda d: d["policy"].update(name=name, sha256=digest, size=len(data)))


def test_it_is_the_file_that_the_manifest_names(project: Make) -> None:
    made = project()
    data, item = beside(made).read_bytes(), json.loads(made.manifest.read_text())["policy"]
    assert item["sha256"] == hashlib.sha256(data).hexdigest()
    assert item == {"name": f"small-policy-{item['sha256'][:16]}.json", **item, "size": len(data)}
    policy = load_policy(made.path / "policy.yaml")
    assert json.loads(data) == json.loads(policy_bytes(policy))
    assert json.loads(data) == public_document(policy)
    assert beside(made).stat().st_mode & 0o777 == 0o644


def test_a_release_without_one_verifies_as_before(project: Make) -> None:
    made = project()
    beside(made).unlink()
    made.edit(lambda document: document.pop("policy"))
    found = statuses(made)
    assert "policy" not in found
    assert found["gate"] is found["statements"] is Status.UNMEASURED
    assert Status.REFUSED not in found.values()


def test_a_policy_that_the_manifest_does_not_name_is_refused(project: Make) -> None:
    made = project()
    made.edit(lambda document: document.pop("policy"))
    assert statuses(made)["policy"] is Status.REFUSED


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(policy_digest="0" * 64),
        lambda d: d.update(made_by="0" * 64),
        lambda d: d.update(release="other"),
        lambda d: d["attributes"].update(name="other"),
        lambda d: d.update(public_policy="1"),
        lambda d: d.update(signs=1),
        lambda d: d.update(attributes=[]),
        lambda d: d.update(CANARY="CANARY"),
        dict.clear,
    ],
)
def test_a_file_that_is_not_its_public_part_is_refused(
    project: Make, change: Callable[[dict[str, Any]], object]
) -> None:
    made = project()
    rewritten(made, change)
    code, said = made.call("verify", "out")
    assert (code, said.splitlines()[-1]) == (1, "refused by policy")
    assert "CANARY" not in said


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a["anonymize"].update(k=2),
        lambda a: a["gate"].update(k=2),
        lambda a: a["perturb"].update(epsilon=9.0),
        lambda a: a["columns"]["city"].update(allow={"telephone": "none"}),
        lambda a: a["columns"]["city"].pop("role"),
        lambda a: a["columns"].pop("city"),
        lambda a: a["publish"].update(format="csv"),
        lambda a: a.update(responsible={"owner": "Jane"}),
        lambda a: a.update(CANARY="CANARY"),
        lambda a: a.update(columns=["CANARY"]),
        lambda a: a["columns"]["city"]["hierarchy"].update(tree={"hidden": 10**9}),
        lambda a: a["columns"]["city"]["hierarchy"].update(tree={"hidden": [1, -2]}),
        lambda a: a["columns"]["city"]["hierarchy"].update(tree={"hidden": [[1, 1], 1]}),
    ],
)
def test_one_that_says_something_else_than_the_policy_is_refused(
    project: Make, change: Callable[[dict[str, Any]], object]
) -> None:
    made = project(**LISTED)
    rewritten(made, lambda document: change(document["attributes"]))
    against = Against(load_policy(made.path / "policy.yaml"), made.path)
    found, said = statuses(made, against), made.call("verify", "out", "--policy", "policy.yaml")[1]
    assert found["policy"] in (Status.REFUSED, Status.UNMEASURED), said
    assert {name for name, one in found.items() if one is Status.REFUSED} <= {"policy"}
    assert "CANARY" not in said
    assert "CANARY" not in made.call("verify", "out")[1]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"a": NaN}', b'{"a": 1, "a": 1}', b"[" * 9999])
def test_no_file_breaks_the_program(project: Make, data: bytes) -> None:
    made = project()
    digest = hashlib.sha256(data).hexdigest()
    name = f"small-policy-{digest[:16]}.json"
    beside(made).rename(made.path / "out" / name)
    (made.path / "out" / name).write_bytes(data)
    made.edit(lambda d: d["policy"].update(name=name, sha256=digest, size=len(data)))
    code, said = made.call("verify", "out")
    assert (code, said.splitlines()[-1]) == (1, "refused by policy")


@pytest.mark.parametrize("name", ["../policy.json", "/etc/passwd", "out.html", "", "x\\y.json"])
def test_it_is_read_from_nowhere_else(project: Make, name: str) -> None:
    made = project()
    made.edit(lambda d: d["policy"].update(name=name))
    code, said = made.call("verify", "out")
    assert code == 1
    assert "policy" in said.splitlines()[-1]


def test_another_release_removes_the_policies_of_those_before_the_last(project: Make) -> None:
    made = project()
    first = beside(made)
    made = project(anonymize={"k": 3, "recoder": "ola", "suppression_limit": 0.2})
    second = beside(made)
    assert first.exists()
    assert first != second
    made = project(anonymize={"k": 3, "recoder": "ola", "suppression_limit": 0.3})
    assert not first.exists()
    assert second.exists()
    assert statuses(made)["folder"] is Status.PASSED


def test_nothing_private_is_in_it(project: Make) -> None:
    made = project(
        **LISTED,
        budget={"epsilon": 50},
        dataset="CANARY_DATASET",
        vault={"retain": "none"},
        responsible={"owner": "Office", "contact": "data@example.org"},
        schedule={"cron": "1 2 3 4 5"},
    )
    said = beside(made).read_text()
    for private in ("people", "CANARY", "1 2 3", "Cork", "South", "budget", "vault", "schedule", '"to"'):
        assert private not in said, private
    document = json.loads(said)
    assert document["attributes"]["columns"]["city"]["hierarchy"] == {"tree": {"hidden": [2, 1]}}
    assert document["attributes"]["responsible"]["contact"] == "data@example.org"  # as the report shows it


def test_a_copy_of_the_folder_verifies_elsewhere(project: Make, tmp_path: Path) -> None:
    made = project(**TABLE)
    there = shutil.copytree(made.path / "out", tmp_path / "elsewhere" / "out")
    for path in tmp_path.glob("*.*"):
        path.unlink()
    assert made.call("verify", str(there))[0] == 0
