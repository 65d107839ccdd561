"""No change of a manifest passes `verify` unnoticed: each leaf is compared, or named as not verifiable."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from anon_pipeline.base.disk import PART
from anon_pipeline.base.errors import InputError
from anon_pipeline.gate import Status
from anon_pipeline.policy import load_policy, policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.lock import LOCK, this_process
from anon_pipeline.publish.manifest.signatures import read_public_key, write_keys
from anon_pipeline.publish.release_files import manifest_of
from anon_pipeline.publish.verify import stray_files
from anon_pipeline.publish.verify.verify import Against, verify_in_detail, verify_release
from anon_pipeline.publish.whole_chain import make_release
from tests.acknowledging import acknowledged
from tests.adversarial.mutations import FEW, OTHERS, Missed, caught, leaves, missed, mutations, once_judged

OLD = Path(__file__).parents[1] / "publish" / "version_1"
NAMES = ("noisy", "signed", "means", "plain", "sticky")
"""Policies: noise in Parquet; signed CSV with attacks; microaggregated, two mechanisms; CSV without noise, by
Mondrian, with a hash; sticky noise and categories of one partition, with blanked cells."""


def _against(name: str, *, key: bool = False) -> Against:
    public = read_public_key(OLD / "signed" / "key.pub") if key else None
    return Against(load_policy(OLD / name / "policy.yaml", retired=True), OLD / name, public)


def _today(name: str) -> Against:
    """What a release of today is held against: the same policies, but for noise that stays, and honest."""
    attributes = yaml.safe_load((OLD / name / "policy.yaml").read_text())["attributes"]
    columns = attributes["columns"]
    columns["charges"] |= {"round": 2000, "bottom": 0, "top": 30_000}
    columns["zip"] |= {"hierarchy": {"mask": [2]}, "level": 1}
    told = ["zip", "height_cm", "weight_kg"] if name == "plain" else ["zip"]
    known = [{"columns": [column], "risk": 0.9} for column in told]
    attributes["gate"].setdefault("attacks", {})["known_columns"] = known
    if name == "plain":
        columns["height_cm"] |= {"round": 10}
        columns["weight_kg"] |= {"round": 10}
        attributes["acknowledged"] = acknowledged("phone") + acknowledged(
            "zip", "height_cm", "weight_kg", share=0.5
        )
    if name == "sticky":
        bounds = {"height_cm": [130, 220], "weight_kg": [30, 250]}
        for column, public in bounds.items():
            columns[column] |= {"sensitivity": "declared", "input_bounds": public}
    return Against(policy_from(attributes), OLD / name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of today by each of the policies, by name."""
    found = {}
    for name in NAMES:
        project = tmp_path_factory.mktemp(name)
        shutil.copy(OLD / name / "race.csv", project)
        write_keys(project / "key")
        policy, locations = _today(name).policy, Locations.of(project, {})
        assert policy is not None
        with patch.dict(os.environ, {"RELEASE_KEY": "0123456789abcdef" * 2}):
            written = make_release(
                policy,
                locations,
                partition="2026-11-20" if name == "sticky" else None,
                archive=VaultArchive(policy, locations) if policy.record_key else None,
            )
        found[name] = written.manifest_path.parent
    return found


def _only_named(found: Missed) -> None:
    """Nothing passes unnoticed but plausible values of leaves that are named; and nothing breaks `verify`."""
    assert found.crashed == 0
    assert set(found.unnoticed) <= found.listed
    assert {kind for kinds in found.unnoticed.values() for kind in kinds} <= {"value", "null"}


@pytest.mark.parametrize("name", NAMES)
def test_each_change_is_noticed_or_named(made: dict[str, Path], name: str) -> None:
    """`python -m tests.adversarial.mutations` tries all kinds."""
    found = missed(made[name], _today(name), FEW, others=OTHERS if name in ("noisy", "sticky") else 0)
    assert found.leaves > 100
    _only_named(found)
    assert len(found.unnoticed) < found.leaves / 4


@pytest.mark.parametrize("name", ["noisy", "signed", "sticky"])
def test_each_change_of_a_release_of_version_1_is_noticed_or_named(name: str) -> None:
    found = missed(OLD / name / "out", _against(name), FEW)
    unnoticed = {path: kinds for path, kinds in found.unnoticed.items() if path != "packages.anon-pipeline"}
    assert set(unnoticed) <= found.listed
    assert {kind for kinds in unnoticed.values() for kind in kinds} <= {"value", "null"}
    assert found.crashed == 0


def test_without_a_policy_what_is_not_compared_is_named(made: dict[str, Path]) -> None:
    """A list or a mapping whose items are named may have other items, too."""
    found = missed(made["noisy"], Against(), FEW, others=OTHERS)
    named = found.listed | {
        ".".join(path.split(".")[:depth]) for path in found.listed for depth in range(1, path.count(".") + 1)
    }
    assert found.crashed == 0
    assert set(found.unnoticed) <= named
    assert "CANARY" not in json.dumps(sorted(found.unnoticed))
    assert not any({"text", "nan", "infinite"} & kinds for path, kinds in found.unnoticed.items() if kinds)


def test_with_the_key_no_change_passes(made: dict[str, Path]) -> None:
    key = read_public_key(made["signed"].parent / "key.pub")
    against = Against(load_policy(OLD / "signed" / "policy.yaml"), OLD / "signed", key)
    found = missed(made["signed"], against, FEW)
    assert found == Missed(found.leaves, {}, frozenset(), 0)


@pytest.mark.parametrize(("name", "refused"), [("plain", True), ("noisy", False)])
def test_a_day_on_which_nobody_answers_is_refused(
    made: dict[str, Path], tmp_path: Path, name: str, refused: bool
) -> None:
    """Any time is possible, where nothing is acknowledged that a release needs."""
    folder = Path(shutil.copytree(made[name], tmp_path / name))
    document = json.loads((folder / "manifest.json").read_text())
    for year in ("2016", "2096"):
        late = {**document, "made_at": year + document["made_at"][4:]}
        assert caught(folder, _today(name), late) is refused


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_today_is_verified_and_says_what_is_not(made: dict[str, Path], name: str) -> None:
    found = verify_in_detail(made[name], _today(name))
    assert not found.report.with_status(Status.REFUSED)
    assert found.warnings == ()
    document = json.loads((made[name] / "manifest.json").read_text())
    assert document["manifest_version"] == 2
    paths = {".".join(map(str, steps)) for steps, _ in leaves(document)}
    listed = [leaf.path for leaf in found.unverified]
    assert set(listed) <= paths
    assert len(set(listed)) == len(listed)
    assert {"made_at", "facts.raw.records"} <= set(listed)
    assert all(leaf.why and leaf.how in ("not verifiable", "together") for leaf in found.unverified)


@pytest.mark.parametrize("name", NAMES)
def test_a_release_of_version_1_is_verified_by_its_own_rules(name: str) -> None:
    for against in (_against(name), Against()):
        assert not verify_release(OLD / name / "out", against).with_status(Status.REFUSED)
    if name == "signed":
        found = verify_in_detail(OLD / name / "out", _against(name, key=True))
        assert not found.report.with_status(Status.REFUSED)
        assert found.unverified == ()


def test_a_contract_of_later_rules_does_not_refuse_a_release_of_version_1(
    made: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What 0.1.0 did not look for is warned of; what it did, and all else, is refused."""
    from anon_pipeline.gate import GateReport, Verdict, evaluate
    from anon_pipeline.publish.verify import verify

    said = ["diagnosis: must hold no account number, got 3 records"]

    def stricter(*given: Any, **more: Any) -> GateReport:
        report = evaluate(*given, **more)
        contract = Verdict("contract", Status.REFUSED, reason="; ".join(said))
        return replace(report, verdicts=(contract, *report.verdicts[1:]))

    monkeypatch.setattr(verify, "evaluate", stricter)
    found = verify_in_detail(OLD / "noisy" / "out", _against("noisy"))
    assert not found.report.with_status(Status.REFUSED)
    assert "identifiers-that-were-not-looked-for" in [warning.name for warning in found.warnings]
    today = verify_in_detail(made["noisy"], _today("noisy"))
    assert [verdict.limit for verdict in today.report.with_status(Status.REFUSED)] == ["gate.contract"]
    said.append("height_cm: must lie on the declared grid")
    found = verify_in_detail(OLD / "noisy" / "out", _against("noisy"))
    assert [verdict.limit for verdict in found.report.with_status(Status.REFUSED)] == ["gate.contract"]


@pytest.mark.parametrize("name", NAMES)
def test_a_version_cannot_be_exchanged_for_another(made: dict[str, Path], name: str, tmp_path: Path) -> None:
    for folder, version in ((made[name], 1), (OLD / name / "out", 2)):
        copied = Path(shutil.copytree(folder, tmp_path / str(version)))
        document = json.loads((copied / "manifest.json").read_text()) | {"manifest_version": version}
        for against in (Against(), _today(name) if version == 1 else _against(name)):
            assert caught(copied, against, document)


def test_facts_that_add_up_to_others_are_named(made: dict[str, Path], tmp_path: Path) -> None:
    """Several counts changed alike pass: that is what *together* says, and all that it lets pass."""
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    document = json.loads((copied / "manifest.json").read_text())
    facts = document["facts"]
    facts["raw"]["records"] += 1
    facts["suppressed"]["suppressed_in_all"] += 1
    verdicts = {verdict["limit"]: verdict for verdict in document["gate"]["verdicts"]}
    share = facts["suppressed"]["suppressed_in_all"] / facts["raw"]["records"]
    verdicts["suppression"]["value"] = share
    assert not caught(copied, _today("noisy"), document)
    together = {
        x.path for x in verify_in_detail(made["noisy"], _today("noisy")).unverified if x.how == "together"
    }
    assert {
        "facts.raw.records",
        "facts.suppressed.suppressed_in_all",
    } <= together


NAMES_OF_FILES = [
    "notes.txt",
    "noisy-0000000000000000.parquet",
    "raw.parquet",
    "noisy-report-0000000000000000.html",
    "noisy-policy-0000000000000000.json",
]
NEARLY_PARTS = [
    ".anon-pipeline-raw.parquet",
    ".anon-pipeline-.part",
    ".anon-pipeline-x1.part",
    ".anon-pipeline-",
]


@pytest.mark.parametrize("name", [*NAMES_OF_FILES, *NEARLY_PARTS])
def test_a_file_that_the_manifest_does_not_name_is_refused(
    made: dict[str, Path], name: str, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    (copied / name).write_text("CANARY-7f3a")
    refused = verify_release(copied, Against()).with_status(Status.REFUSED)
    assert [verdict.limit for verdict in refused] == ["folder"]
    assert "got 1" in str(refused[0].reason)
    assert name not in str(refused[0].reason)


def test_what_publishing_leaves_beside_a_release_may_stay(made: dict[str, Path], tmp_path: Path) -> None:
    """The release before, the lock, the part of a run that died, and a partition's folder."""
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    for path in (OLD / "noisy" / "out").iterdir():
        if path.name != "manifest.json":
            shutil.copy(path, copied)
    for name in (".anon-pipeline-x1_a2b3c.part", f".anon-pipeline-{'0a' * 8}.part"):
        (copied / name).write_text("")
    (copied / LOCK).write_text(json.dumps(asdict(this_process())))
    _below(copied, "2026-11-20", partition="2026-11-20")
    found = {v.limit: v for v in verify_release(copied, Against()).verdicts}["folder"]
    assert found.status is Status.PASSED
    assert str(found.reason).endswith(
        "the folder also holds 2 files of earlier releases and 2 files named like files of an interrupted "
        "run, whose content was not checked: delete them; this manifest does not cover them"
    )


def _below(folder: Path, name: str, **changes: object) -> None:
    """Put a folder with a copy of the release below it, its manifest changed."""
    (folder / name).mkdir()
    document = json.loads((folder / "manifest.json").read_text())
    (folder / name / "manifest.json").write_text(json.dumps({**document, **changes}))


@pytest.mark.parametrize(
    "changes",
    [{}, {"partition": "2026-11-21"}, {"partition": "2026-11-20", "release": "another"}, {"files": 1}],
    ids=["no partition", "another one", "another release", "no manifest of ours"],
)
def test_a_folder_that_is_no_partition_of_the_release_hides_nothing(
    made: dict[str, Path], changes: dict[str, object], tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    _below(copied, "2026-11-20", **changes)
    (copied / "2026-11-20" / "raw.parquet").write_text("CANARY-7f3a")
    refused = verify_release(copied, Against()).with_status(Status.REFUSED)
    assert [verdict.limit for verdict in refused] == ["folder"]
    assert "got 1 others (1 of them folders that are no partition of this release)" in str(refused[0].reason)


def test_a_partition_has_no_partitions_and_a_link_is_none(made: dict[str, Path], tmp_path: Path) -> None:
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    _below(copied, "2026-11-20", partition="2026-11-20")
    (copied / "2026-11-20").rename(tmp_path / "elsewhere")
    (copied / "2026-11-20").symlink_to(tmp_path / "elsewhere")
    assert [v.limit for v in verify_release(copied, Against()).with_status(Status.REFUSED)] == ["folder"]
    (copied / "2026-11-20").unlink()
    document = json.loads((copied / "manifest.json").read_text())
    (copied / "manifest.json").write_text(json.dumps({**document, "partition": "2026-11-19"}))
    _below(copied, "2026-11-20", partition="2026-11-20")
    assert "folder" in [v.limit for v in verify_release(copied, Against()).with_status(Status.REFUSED)]


def test_parts_have_the_names_that_python_gives(tmp_path: Path) -> None:
    for _ in range(50):
        handle, name = tempfile.mkstemp(prefix=PART, suffix=".part", dir=tmp_path)
        os.close(handle)
        assert stray_files.is_unfinished(Path(name))
        Path(name).unlink()
        Path(name).mkdir()
        assert not stray_files.is_unfinished(Path(name))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_number_is_no_manifest(made: dict[str, Path], text: str, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(made["noisy"], tmp_path / "release"))
    written = (copied / "manifest.json").read_text()
    document = json.loads(written)
    limit = f'"suppression_limit": {document["facts"]["k_anonymized"]["suppression_limit"]}'
    assert limit in written
    (copied / "manifest.json").write_text(written.replace(limit, f'"suppression_limit": {text}'))
    if text == "1e999":
        assert verify_release(copied, Against()).with_status(Status.REFUSED)
        return
    with pytest.raises(InputError, match="must be a manifest"):
        manifest_of(copied / "manifest.json")


def test_the_mutations_change_something() -> None:
    """The control: each mutation differs from what it was made of, and every leaf has several."""
    for name in NAMES:
        told = json.loads((OLD / name / "out" / "manifest.json").read_text())
        assert all(json.dumps(mutation.document) != json.dumps(told) for mutation in mutations(told))
    document: dict[str, Any] = json.loads((OLD / "noisy" / "out" / "manifest.json").read_text())
    found = list(mutations(document))
    kinds: dict[str, set[str]] = {}
    for mutation in found:
        kinds.setdefault(mutation.path, set()).add(mutation.kind)
    for steps, _ in leaves(document):
        assert {"value", "removed"} <= kinds[".".join(map(str, steps))] or not _
    with once_judged():
        assert not caught_unchanged(document)


def caught_unchanged(document: dict[str, Any]) -> bool:
    return bool(verify_release(OLD / "noisy" / "out", _against("noisy")).with_status(Status.REFUSED))
