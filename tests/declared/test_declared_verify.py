"""Whatever of a release is changed, verifying it says so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.declared_verify import verify_declared
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.gate import Status
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.manifest.signatures import read_public_key, write_keys

Project = tuple[EpsilonDpPolicy, Locations]
Changed = Callable[..., EpsilonDpPolicy]


def refused(folder: Path, **against: Any) -> set[str]:
    return {one.limit for one in verify_declared(folder, **against).with_status(Status.REFUSED)}


@pytest.fixture
def released(dp_project: Project) -> Path:
    return make_declared_release(*dp_project).manifest_path.parent


def test_an_untouched_release_verifies_with_and_without_its_policy(
    dp_project: Project, released: Path
) -> None:
    assert refused(released) == set()
    assert refused(released / "manifest.json", policy=dp_project[0]) == set()
    unmeasured = verify_declared(released).with_status(Status.UNMEASURED)
    assert {one.limit for one in unmeasured} == {"signature", "gate.draw", "gate.endless_noise"}


def test_a_changed_file_is_refused(released: Path) -> None:
    for path in sorted(released.iterdir()):
        data = path.read_bytes()
        if path.name != "manifest.json":
            path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
            assert refused(released), path.name
            path.unlink()
            assert refused(released), path.name
            path.write_bytes(data)
    (released / "stranger.txt").write_text("x")
    assert refused(released) == {"folder"}


@pytest.mark.parametrize(
    ("key", "value", "limit"),
    [
        ("epsilon", 0.1, "epsilon"),
        ("records", 599, "gate.declared_values"),
        ("data_digest", "0" * 64, "data_digest"),
        ("policy_digest", "0" * 64, "policy"),
        ("release", "others", "policy"),
        ("guarantee", ["Nothing can be learned."], "guarantee"),
        ("epsilon", True, "epsilon"),
    ],
)
def test_a_changed_statement_is_refused(released: Path, key: str, value: Any, limit: str) -> None:
    path = released / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert limit in refused(released)


@pytest.mark.parametrize(
    "change",
    [
        lambda gate: gate | {"verdicts": gate["verdicts"][:2]},
        lambda gate: gate | {"passed": False},
        lambda gate: gate | {"verdicts": [one | {"bound": 0.9} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [one | {"value": 0.01} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [one | {"status": "refused"} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [{}]},
        lambda gate: gate | {"verdicts": [one | {"value": "x"} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [3, None, []]},
        lambda gate: gate | {"verdicts": [one | {"value": 10**400} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [{**one, "reason": "fine"} for one in gate["verdicts"]]},
        lambda gate: gate | {"verdicts": [dict([*one.items()][:-1]) for one in gate["verdicts"]]},
    ],
)
def test_a_changed_verdict_is_refused(released: Path, change: Callable[[Any], Any]) -> None:
    path = released / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"gate": change(document["gate"])}))
    assert "recorded gate" in refused(released)


def test_a_public_policy_with_something_else_in_it_is_refused(released: Path) -> None:
    path = released / "manifest.json"
    document = json.loads(path.read_text())
    file = released / document["policy"]["name"]
    held = json.loads(file.read_text())
    for change in (
        {"type": "x"},
        {"strange": 1},
        {"attributes": held["attributes"] | {"strange": 1}},
        {"attributes": held["attributes"] | {"records": 0}},
        {"policy_digest": 3},
    ):
        data = json.dumps(held | change).encode()
        file.write_bytes(data)
        item = document["policy"] | {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        path.write_text(json.dumps(document | {"policy": item}))
        assert "policy" in refused(released)


def test_a_forged_report_is_refused(released: Path) -> None:
    path = released / "manifest.json"
    document = json.loads(path.read_text())
    file = released / document["report"]["name"]
    data = file.read_text("utf-8").replace("ε = 1", "ε = 0.01").encode()
    file.write_bytes(data)
    item = document["report"] | {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    path.write_text(json.dumps(document | {"report": item}))
    assert refused(released) == {"report"}
    packages = document["packages"] | {"anon-pipeline": "9.9"}
    path.write_text(json.dumps(document | {"report": item, "packages": packages}))
    unmeasured = verify_declared(released).with_status(Status.UNMEASURED)
    assert "report" in {one.limit for one in unmeasured}


@pytest.mark.parametrize("records", [0, -1, 2**70])
def test_impossible_numbers_of_records_are_an_error(released: Path, records: int) -> None:
    path = released / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"records": records}))
    with pytest.raises(InputError, match="must be a manifest"):
        verify_declared(released)


def test_types_must_be_those_of_the_file(released: Path) -> None:
    path = released / "manifest.json"
    document = json.loads(path.read_text())
    document["files"][0]["types"] = {"age": "double", "city": "string"}
    path.write_text(json.dumps(document))
    assert "file" in refused(released)


def test_a_table_that_is_exchanged_with_its_digests_breaks_what_it_must_keep(released: Path) -> None:
    """Whoever rewrites file and manifest alike needs the signature to be caught; undeclared values show."""
    path = released / "manifest.json"
    document = json.loads(path.read_text())
    (item,) = document["files"]
    file = released / item["name"]
    frame = pd.read_parquet(file).assign(age=91)
    file.unlink()
    frame.to_parquet(released / "x.parquet", index=False)
    data = (released / "x.parquet").read_bytes()
    item |= {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "name": "x.parquet"}
    path.write_text(json.dumps(document))
    assert {"data_digest", "gate.declared_values"} <= refused(released)


def test_another_policy_is_refused(released: Path, changed: Changed) -> None:
    assert "policy" in refused(released, policy=changed(epsilon=0.5))
    assert {"policy", "epsilon", "guarantee"} <= refused(released, policy=changed(epsilon=0.5))


def test_a_signature_covers_everything(
    dp_project: Project, changed: Changed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = read_public_key(write_keys(tmp_path / "key"))
    monkeypatch.setenv("SIGNING", (tmp_path / "key").read_text())
    policy = changed(publish={"sign": {"key_env": "SIGNING"}})
    folder = make_declared_release(policy, dp_project[1]).manifest_path.parent
    assert refused(folder, key=public) == set()
    path = folder / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"made_at": "2020-01-01T00:00:00+00:00"}))
    assert "signature" in refused(folder, key=public)
    del document["signature"]
    path.write_text(json.dumps(document))
    assert "signature" in refused(folder, key=public)


def test_a_folder_without_such_a_release_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be the manifest of a release with declared columns"):
        verify_declared(tmp_path)
