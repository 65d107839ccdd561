"""Publishing: the gate judges the bytes; nothing else is written, and nothing half."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.digest import digest_file, digest_frame
from anon_pipeline.base.errors import GateRefused, InputError, PublishError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.gate import GateReport
from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published, publish, writer
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.publish.lock import hold_lock
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import STAGES, Chain, Means

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def chain(policy: Policy, frame: pd.DataFrame) -> Chain:
    return pipeline.run(policy, frame, Means(Path(), None, system_entropy()))


def send(policy: Policy, made: Chain, folder: Path, **more: object) -> Published:
    return publish(
        made.suppressed,
        made.k_anonymized.frame,
        policy,
        locations=Locations.of(folder, {}),
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_published_is_what_was_judged(
    small_policy: Small, small_people: People, tmp_path: Path, form: str
) -> None:
    policy = small_policy(publish={"format": form})
    made = chain(policy, small_people())
    written = send(policy, made, tmp_path)
    file = written.manifest["files"][0]
    assert written.path == tmp_path / "out" / file["name"]
    assert digest_file(written.path) == file["sha256"]
    assert written.path.stat().st_size == file["size"]
    table = read_release(written.path, policy)
    assert digest_frame(table) == written.manifest["data_digest"] == written.report.data_digest
    pd.testing.assert_frame_equal(table, made.suppressed.frame[policy.released].reset_index(drop=True))


def test_no_private_column_no_index_no_order_of_the_input(
    small_policy: Small, small_people: People, tmp_path: Path, traced: None
) -> None:
    policy = small_policy()
    frame = small_people()
    frame["note"] = [f"row {i}" for i in range(len(frame))]  # a released trace of the input's order
    table = pd.read_parquet(send(policy, chain(policy, frame), tmp_path).path)
    assert list(table.columns) == policy.released
    assert not {RECORD, CLASS, "person", "index"} & set(table.columns)
    rows = table["note"].str.removeprefix("row ").astype(int)
    assert abs(rows.corr(pd.Series(range(len(rows))), method="spearman")) < 0.3


def test_the_manifest_says_everything_and_no_value(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(gate={"linking_risk": 1.0})
    frame = small_people()
    frame["illness"] = frame["illness"].replace({"gout": "CANARY-7f3a"})
    frame.loc[0, "person"] = "CANARY-7f3a"
    frame["income"] += 0.3984375
    written = send(policy, chain(policy, frame), tmp_path)
    text = written.manifest_path.read_text()
    assert "CANARY" not in text
    assert ".3984375" not in text
    document = json.loads(text)
    assert document == json.loads(json.dumps(written.manifest))
    assert set(document) == {
        "acknowledged",
        "manifest_version",
        "release",
        "partition",
        "made_at",
        "files",
        "policy_digest",
        "data_digest",
        "policy",
        "report",
        "gate",
        "epsilon",
        "guarantee",
        "allowed",
        "facts",
        "packages",
    }
    assert document["policy_digest"] == policy.digest
    assert document["epsilon"] == 2
    assert set(document["facts"]) == set(STAGES)
    assert document["gate"]["passed"] is True
    assert any("ε = 2" in line for line in document["guarantee"])
    assert any("not end-to-end differential privacy" in line for line in document["guarantee"])
    assert {"python", "anon-pipeline", "numpy", "pandas"} <= set(document["packages"])


def test_hierarchy_tables_have_no_digest_in_a_manifest(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    policy = small_policy(columns={"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}})
    made = pipeline.run(policy, small_people(), Means(tmp_path, None, system_entropy()))
    told = json.dumps(send(policy, made, tmp_path).manifest)
    assert digest_file(tmp_path / "city.csv") not in told
    assert made.suppressed.facts["k_anonymized"]["hierarchies"] == {
        "city": digest_file(tmp_path / "city.csv")
    }


@pytest.mark.parametrize(
    "gate",
    [{"k": 200}, {"suppression": 0.0, "k": 2}, {"linking_risk": 0.0}, {"t_closeness": {"income": 0.0}}],
)
def test_a_refused_release_leaves_nothing(
    small_policy: Small, small_people: People, tmp_path: Path, gate: dict[str, object]
) -> None:
    lenient = small_policy(gate={"suppression": None})
    frame = small_people()
    frame.loc[:9, "height"] = None
    lenient = small_policy(gate={"suppression": None}, columns={"height": {"missing": "suppress"}})
    made = chain(lenient, frame)
    strict = small_policy(gate=gate, columns={"height": {"missing": "suppress"}})
    with pytest.raises(GateRefused) as raised:
        send(strict, made, tmp_path)
    assert isinstance(raised.value.report, GateReport)
    assert not (tmp_path / "out").exists()


def test_a_seeded_release_is_not_published(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy()
    made = pipeline.run(policy, small_people(), Means(Path(), None, seeded_entropy(1)))
    with pytest.raises(GateRefused, match="made with a seed"):
        send(policy, made, tmp_path)


def test_a_release_is_kept_until_the_new_one_is_complete_then_one_more_time(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy()
    written = [send(policy, chain(policy, small_people(seed=seed)), tmp_path).path for seed in range(3)]
    assert [path.exists() for path in written] == [False, True, True]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["files"][0]["name"] == written[2].name


def test_a_refusal_leaves_the_release_before_untouched(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy()
    made = chain(policy, small_people())
    send(policy, made, tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(GateRefused):
        send(small_policy(gate={"k": 200}), made, tmp_path)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_crash_between_data_and_manifest_leaves_the_release_before(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy()
    first = send(policy, chain(policy, small_people()), tmp_path)
    text = first.manifest_path.read_text()
    real = Path.replace

    def break_at_manifest(self: Path, target: Path) -> Path:
        if Path(target).name == "manifest.json":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", break_at_manifest)
    with pytest.raises(PublishError, match="No space left"):
        send(policy, chain(policy, small_people(seed=5)), tmp_path)
    assert first.manifest_path.read_text() == text
    assert digest_file(first.path) == first.manifest["files"][0]["sha256"]
    assert not list((tmp_path / "out").glob(".*"))


def test_files_of_others_in_the_folder_stay(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy()
    (tmp_path / "out").mkdir()
    others = [
        tmp_path / "out" / name for name in ("README.md", "small-notes.parquet", "other-0123456789abcdef.csv")
    ]
    for path in others:
        path.write_text("mine")
    for seed in range(3):
        send(policy, chain(policy, small_people(seed=seed)), tmp_path)
    assert all(path.exists() for path in others)


def test_a_destination_that_is_a_file_is_a_publish_error(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(PublishError, match="must be a folder that can be written"):
        send(small_policy(), chain(small_policy(), small_people()), tmp_path)


def test_the_second_lock_can_only_refuse(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    def locked(report: GateReport) -> None:
        raise GateRefused("locked", report)

    made = chain(small_policy(), small_people())
    with pytest.raises(GateRefused, match="locked"):
        send(small_policy(), made, tmp_path, second_lock=locked)
    with pytest.raises(GateRefused, match="The gate refused"):  # a lock that lets pass does not open the gate
        send(small_policy(gate={"k": 200}), made, tmp_path, second_lock=lambda report: None)


def test_a_tampered_table_is_refused(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy()
    made = chain(policy, small_people())
    tampered = made.suppressed.frame.assign(city="Cork")
    with pytest.raises(GateRefused, match="must be as in the vault"):
        publish(
            replace(made.suppressed, frame=tampered),
            made.k_anonymized.frame,
            policy,
            locations=Locations.of(tmp_path, {}),
        )


def test_partitions_have_folders_of_their_own(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy()
    written = send(policy, chain(policy, small_people()), tmp_path, partition="2026-01-05")
    assert written.path.parent == tmp_path / "out" / "2026-01-05"
    assert written.manifest["partition"] == "2026-01-05"


def test_published_files_are_for_everybody_and_the_umask_does_not_matter(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        written = send(small_policy(), chain(small_policy(), small_people()), tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(written.path.stat().st_mode) == 0o644


@pytest.mark.parametrize(("umask", "mode"), [(0, 0o755), (0o022, 0o755), (0o077, 0o700)])
def test_the_folder_of_a_release_is_writable_by_its_owner_alone(
    small_policy: Small, small_people: People, tmp_path: Path, umask: int, mode: int
) -> None:
    before = os.umask(umask)
    try:
        policy = small_policy(publish={"to": "new/out"})
        written = send(policy, chain(policy, small_people()), tmp_path)
    finally:
        os.umask(before)
    for folder in (written.path.parent, written.path.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == mode


def test_a_broken_manifest_of_before_is_not_overwritten_in_silence(tmp_path: Path) -> None:
    for odd in (
        "{",
        "[]",
        "{}",
        '{"release": "small", "files": [{}]}',
        '{"release": "small", "files": 3}',
        '"x"',
    ):
        (tmp_path / writer.MANIFEST).write_text(odd)
        with pytest.raises(PublishError, match="must be a manifest of anon-pipeline"):
            writer.read_manifest(tmp_path)


def test_an_odd_manifest_is_found_before_anything_is_written(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text('{"files": [{}]}')
    with pytest.raises(PublishError):
        send(small_policy(), chain(small_policy(), small_people()), tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["manifest.json"]


def test_the_folder_of_another_release_is_refused(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    send(small_policy(), chain(small_policy(), small_people()), tmp_path)
    other = small_policy(name="other")
    with pytest.raises(PublishError, match="got the folder of small"):
        send(other, chain(other, small_people()), tmp_path)


def test_the_data_is_written_and_synced_before_the_manifest(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace, sync = Path.replace, os.fsync
    monkeypatch.setattr(
        Path, "replace", lambda self, to: (done.append(Path(to).suffix), replace(self, to))[1]
    )
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append("sync"), sync(handle))[1])
    send(small_policy(), chain(small_policy(), small_people()), tmp_path)
    written = (".parquet", ".json", ".html", ".json")  # data, policy, report, manifest
    assert done == [step for ending in written for step in ("sync", ending, "sync")]


def test_two_publishers_take_turns(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    """While one holds the folder the other waits: a manifest never names a file that the other removed."""
    made = [chain(small_policy(), small_people(seed=seed)) for seed in range(4)]
    threads = [threading.Thread(target=send, args=(small_policy(), each, tmp_path)) for each in made]
    with hold_lock(_made(tmp_path / "out")):
        for thread in threads:
            thread.start()
        assert list((tmp_path / "out").iterdir()) == []
    for thread in threads:
        thread.join()
    document = writer.read_manifest(tmp_path / "out")
    assert document is not None
    assert (tmp_path / "out" / document["files"][0]["name"]).exists()
    named = {*writer.named_files(document)}
    assert len(named) == 3
    assert (
        len({path.name for path in (tmp_path / "out").iterdir()} - named) == 3
    )  # manifest, last data, report


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_long_integers_beside_missing_ones_are_kept(
    small_policy: Small, small_people: People, tmp_path: Path, form: str
) -> None:
    frame = small_people()
    frame["note"] = pd.Series([2**60 + i % 70 for i in range(len(frame) - 1)] + [None], dtype=object)
    known = [{"columns": ["note"], "risk": 1}]  # so many values link people: the test is on their digits
    policy = small_policy(publish={"format": form}, gate={"attacks": {"known_columns": known}})
    table = pd.read_parquet if form == "parquet" else (lambda path: pd.read_csv(path, dtype=str))
    written = send(policy, chain(policy, frame), tmp_path)
    if form == "parquet":
        notes = pq.read_table(written.path).column("note").to_pylist()
    else:
        notes = [None if pd.isna(n) else int(n) for n in table(written.path)["note"]]
    assert set(notes) <= {*frame["note"]}
    assert len({n for n in notes if n is not None}) > 60


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 100_000, b" " * (2**24 + 1)], ids=len)
def test_a_manifest_that_is_deep_or_large(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(PublishError, match="must be a manifest of anon-pipeline"):
        writer.read_manifest(tmp_path)


def test_a_policy_that_leaves_the_project_is_not_published(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    made = chain(small_policy(), small_people())
    with pytest.raises(PublishError, match=r"publish\.to: must stay within"):
        send(small_policy(publish={"to": "../out"}), made, tmp_path)
    with pytest.raises(InputError, match=r"source\.path: must stay within"):
        send(small_policy(source={"path": "../people.csv"}), made, tmp_path)
