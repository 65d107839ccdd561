"""The page of a release is verified as its data is: it, its name, its digest, and the signature over it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.gate import Status
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.manifest.signatures import read_public_key, write_keys
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def send(policy: Policy, people: pd.DataFrame, folder: Path) -> Published:
    made = pipeline.run(policy, people, Means(Path(), None, system_entropy()))
    return publish(made.suppressed, made.k_anonymized.frame, policy, locations=Locations.of(folder, {}))


def _status(folder: Path, against: Against | None = None) -> dict[str, tuple[Status, str | None]]:
    found = verify_release(folder, against or Against())
    return {verdict.limit: (verdict.status, verdict.reason) for verdict in found.verdicts}


def test_verify_has_read_the_page(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    send(small_policy(), small_people(), tmp_path)
    assert _status(tmp_path / "out")["report"] == (Status.PASSED, None)


def _other_page(written: Published) -> None:
    page = bytearray(written.report_path.read_bytes())
    page[-20] ^= 1
    written.report_path.write_bytes(page)


def _linked(written: Published) -> None:
    moved = written.report_path.rename(written.report_path.parents[1] / "moved.html")
    written.report_path.symlink_to(moved)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_other_page, "its SHA-256 is another"),
        (lambda written: written.report_path.write_bytes(b""), "its size must be"),
        (lambda written: written.report_path.unlink(), "it must be a file next to the manifest"),
        (_linked, "it must be a file next to the manifest"),
    ],
    ids=["changed", "empty", "gone", "linked"],
)
def test_a_changed_page_is_refused(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    change: Callable[[Published], object],
    reason: str,
) -> None:
    change(send(small_policy(), small_people(), tmp_path))
    status, said = _status(tmp_path / "out")["report"]
    assert status is Status.REFUSED
    assert reason in str(said)


@pytest.mark.parametrize(
    "item",
    [
        None,
        [],
        {},
        {"name": "../people.csv"},
        {"name": "../page.html"},
        {"name": "manifest.json"},
        {"name": "a\x1b[31m.html"},
        {"size": True},
        {"size": "5"},
        {"sha256": 5},
    ],
)
def test_a_manifest_that_names_another_thing_is_refused(
    small_policy: Small, small_people: People, tmp_path: Path, item: Any
) -> None:
    written = send(small_policy(), small_people(), tmp_path)
    document = json.loads(written.manifest_path.read_text())
    document["report"] = {**document["report"], **item} if item and isinstance(item, dict) else item
    written.manifest_path.write_text(json.dumps(document))
    assert _status(tmp_path / "out")["report"] == (
        Status.REFUSED,
        "the manifest must name it with digest and size",
    )


def test_a_manifest_without_a_report_is_refused(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    written = send(small_policy(), small_people(), tmp_path)
    document = json.loads(written.manifest_path.read_text())
    del document["report"]
    written.manifest_path.write_text(json.dumps(document))
    assert _status(tmp_path / "out")["report"] == (
        Status.REFUSED,
        "the manifest must name it with digest and size",
    )
    send(small_policy(), small_people(seed=1), tmp_path)
    assert _status(tmp_path / "out")["report"] == (Status.PASSED, None)


def test_the_signature_is_over_the_page_too(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    public = write_keys(tmp_path / "key")
    written = send(small_policy(publish={"sign": {"key_file": "key"}}), small_people(), tmp_path)
    key = Against(key=read_public_key(public))
    assert _status(tmp_path / "out", key)["signature"] == (Status.PASSED, None)
    page = written.report_path.read_bytes() + b"<!-- more -->"
    written.report_path.write_bytes(page)
    document = json.loads(written.manifest_path.read_text())
    document["report"] |= {"sha256": hashlib.sha256(page).hexdigest(), "size": len(page)}
    written.manifest_path.write_text(json.dumps(document))
    found = _status(tmp_path / "out", key)
    assert found["report"] == (Status.PASSED, None)
    assert found["signature"] == (Status.REFUSED, "the manifest is not what was signed")
