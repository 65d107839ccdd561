"""Manifests of releases with declared columns, and the public policy beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.release_kinds import EPSILON_DP
from anon_pipeline.declared.declared_manifest import (
    declared_policy_bytes,
    public_declared_policy,
    read_declared_manifest,
)
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.release_files import manifest_of

Changed = Callable[..., EpsilonDpPolicy]


def test_a_manifest_says_what_it_must(dp_project: tuple[EpsilonDpPolicy, Locations]) -> None:
    policy, locations = dp_project
    written = make_declared_release(policy, locations)
    read = read_declared_manifest(written.manifest_path)
    assert read is not None and read[1] is EPSILON_DP
    document = read[0]
    assert (document["manifest_version"], document["kind"], document["records"]) == (3, "epsilon_dp", 600)
    assert document["policy_digest"] == policy.digest and document["epsilon"] == 1
    with pytest.raises(InputError, match="is of an ε-DP release, for which this command is not"):
        manifest_of(written.manifest_path)


def test_other_manifests_are_none_and_broken_ones_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    assert read_declared_manifest(path) is None
    for text in ("", "[]", "{", '{"manifest_version": 2}', '{"kind": "epsilon_dp", "kind": "x"}'):
        path.write_text(text)
        assert read_declared_manifest(path) is None
    whole: dict[str, Any] = {
        "kind": "epsilon_dp",
        "manifest_version": 3,
        "partition": None,
        "made_at": "2026-11-27T00:00:00+00:00",
        "epsilon": 1.0,
        "facts": {"perturbed": {"release_id": None}},
        "packages": {"python": "3.11", "anon-pipeline": "0.2"},
        "policy": {},
        "report": {},
        "release": "a",
        "data_digest": "b",
        "policy_digest": "c",
        "records": 1,
        "files": [{"name": "a", "sha256": "b", "format": "parquet", "size": 1, "records": 1, "types": {}}],
        "gate": {"verdicts": []},
        "guarantee": [],
    }
    path.write_text(json.dumps(whole))
    assert read_declared_manifest(path) == (whole, EPSILON_DP)
    for key in (*(whole.keys() - {"kind", "epsilon", "policy", "report"}), "strange"):
        for value in (None, 7.5, [], {}):
            path.write_text(json.dumps({**whole, key: value}))
            if (key, value) in (("guarantee", []), ("partition", None)):
                continue
            with pytest.raises(InputError, match="must be a manifest of an ε-DP release"):
                read_declared_manifest(path)


def test_the_public_policy_says_everything_but_where_things_are(changed: Changed) -> None:
    policy = changed(
        responsible={"owner": "Office"},
        budget={"epsilon": 3},
        dataset="people-2026",
        schedule={"cron": "0 0 * * *"},
        publish={"to": "releases/hidden_place", "sign": {"key_env": "HIDDEN_KEY"}},
    )
    data = declared_policy_bytes(policy)
    for private in (b"people.csv", b"hidden_place", b"HIDDEN_KEY", b"people-2026", b"cron", b"budget"):
        assert private not in data
    found, digest = public_declared_policy(data, EPSILON_DP)
    assert digest == policy.digest and found.responsible == policy.responsible
    for name in ("name", "epsilon", "columns", "histograms", "gate", "records"):
        assert getattr(found, name) == getattr(policy, name)
    assert declared_policy_bytes(found).replace(found.digest.encode(), digest.encode()) == data


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"attributes": {}}', b"\xff", b'{"attributes": 3}'])
def test_what_is_no_public_policy_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="must be the public part of a policy"):
        public_declared_policy(data, EPSILON_DP)
