"""Several releases verified together, against one table of all their records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.manifest.signatures import read_public_key, write_keys
from anon_pipeline.publish.verify.together import Verifications, holds_several, verify_together
from anon_pipeline.publish.verify.verify import Against, Verification, verify_in_detail
from anon_pipeline.publish.whole_chain import make_release
from tests.reviewed_policies import treat_policies_as_reviewed

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
KEYS = ("a.1", "a.2", "a.3")


@pytest.fixture
def made(small_policy: Small, small_people: People, tmp_path: Path) -> Callable[..., Policy]:
    """A function that releases partitions with the same levels into ``out``; classes may be in several."""

    def make(keys: Iterable[str] = KEYS, **changes: object) -> Policy:
        policy = small_policy(
            source={"path": "{partition}.csv"},
            schedule={"partitions": "listed", "keys": [*KEYS]},
            **{"anonymize": {"recoder": "fixed", "levels": {"age": 2, "city": 0}}, **changes},
        )
        people = small_people(900)
        (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
        for key in keys:
            rows = people.iloc[KEYS.index(key) :: 3]
            if key != KEYS[0]:
                rows = rows[rows["city"] != "Cork"]
            rows.to_csv(tmp_path / f"{key}.csv", index=False)
            make_release(policy, Locations.of(tmp_path, {}), partition=key)
        return policy

    return make


def verify(folder: Path, policy: Policy | None = None) -> Verifications:
    return verify_together(folder / "out", Against(policy, folder))


def verify_as_reviewed(manifest: Path, against: Against) -> Verification:
    """Verify in a process that does not know yet that all policies of tests are reviewed."""
    with pytest.MonkeyPatch.context() as patch:
        treat_policies_as_reviewed(patch)
        return verify_in_detail(manifest, against)


def released(folder: Path) -> list[pd.DataFrame]:
    manifests = [
        (path.parent, json.loads(path.read_text())) for path in (folder / "out").glob("*/manifest.json")
    ]
    return [pd.read_parquet(place / file["name"]) for place, one in manifests for file in one["files"]]


@pytest.mark.parametrize("known", [True, False])
def test_its_counts_are_those_of_one_table(made: Callable[..., Policy], tmp_path: Path, known: bool) -> None:
    policy = made()
    found = verify(tmp_path, policy if known else None)
    assert found.refused == []
    assert list(found.each) == [*KEYS]
    assert all(one.table is None for one in found.each.values())
    assert found.partitions.status is (Status.PASSED if known else Status.UNMEASURED)
    frames, names = released(tmp_path), ["age", "city"]
    classes = pd.concat(frames).groupby(names).size()
    of_each = [set(map(tuple, frame[names].to_numpy())) for frame in frames]
    together = found.together
    assert together is not None
    records = sum(len(frame) for frame in frames)
    assert (together.released, together.classes, together.smallest) == (records, len(classes), classes.min())
    assert together.shared == sum(sum(key in one for one in of_each) > 1 for key in classes.index)
    assert 0 < together.shared < together.classes
    inputs = sum(len(pd.read_csv(tmp_path / f"{key}.csv")) for key in KEYS)
    assert (together.policies, together.records) == (1, inputs)


def test_several_processes_find_what_one_finds(made: Callable[..., Policy], tmp_path: Path) -> None:
    """Also whose the signature is: a key cannot be sent to another process as it is."""
    key = read_public_key(write_keys(tmp_path / "key"))
    policy = made(publish={"to": "out", "sign": {"key_file": "key"}})
    next((tmp_path / "out" / KEYS[1]).glob("*.parquet")).write_bytes(b"no table")
    against = Against(policy, tmp_path, key)
    one, two = (
        verify_together(tmp_path / "out", against, verify=verify_as_reviewed, jobs=jobs) for jobs in (1, 2)
    )
    assert one == two
    assert one.refused == [KEYS[1]]
    (signed,) = (v for v in one.each[KEYS[0]].report.verdicts if v.limit == "signature")
    assert signed.status is Status.PASSED


def test_a_partition_without_a_release_is_named(made: Callable[..., Policy], tmp_path: Path) -> None:
    policy = made(KEYS[:2])
    found = verify(tmp_path, policy)
    assert found.refused == ["partitions"]
    assert found.partitions.reason == "1 without a release: a.3"
    assert verify(tmp_path).refused == []  # the public policy does not say which there should be


def test_a_release_that_stands_twice_is_refused(made: Callable[..., Policy], tmp_path: Path) -> None:
    policy = made()
    shutil.copytree(tmp_path / "out" / "a.1", tmp_path / "out" / "a.4")
    for one in (policy, None):
        found = verify(tmp_path, one)
        assert found.partitions.reason == "more than one release of a.1"
        assert "partitions" in found.refused


def test_a_copy_with_another_key_is_found(made: Callable[..., Policy], tmp_path: Path) -> None:
    policy = made()
    shutil.rmtree(tmp_path / "out" / "a.3")
    shutil.copytree(tmp_path / "out" / "a.1", tmp_path / "out" / "a.3")
    manifest = tmp_path / "out" / "a.3" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"partition": "a.3"}))
    found = verify(tmp_path, policy)
    assert (found.partitions.reason, found.together) == ("two releases have the same records", None)
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"partition": "a.1\nevil"}))
    shutil.copytree(tmp_path / "out" / "a.3", tmp_path / "out" / "a.4")
    said = verify(tmp_path, policy).partitions.reason
    assert said == "more than one release of a key that is no plain name"


def test_a_release_that_is_not_listed_is_refused(
    made: Callable[..., Policy], small_policy: Small, tmp_path: Path
) -> None:
    policy = made()
    fewer = policy.model_copy(
        update={"schedule": policy.schedule and policy.schedule.model_copy(update={"keys": KEYS[1:]})}
    )
    assert verify(tmp_path, fewer).partitions.reason == "1 not listed by the policy: a.1"


def test_releases_by_an_earlier_policy_are_counted_all_the_same(
    made: Callable[..., Policy], small_policy: Small, tmp_path: Path
) -> None:
    made()
    changed = small_policy(
        source={"path": "{partition}.csv"},
        schedule={"partitions": "listed", "keys": [*KEYS]},
        anonymize={"recoder": "fixed", "levels": {"age": 2, "city": 0}},
        gate={"suppression": 0.6},
    )
    found = verify(tmp_path, changed)
    assert found.refused == [*KEYS]  # made by another policy than the one given
    assert found.together == verify(tmp_path).together is not None


def test_different_releases_in_one_folder_are_not_added_up(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    small_people(300).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    for name in ("one", "two"):
        policy = small_policy(name=name, publish={"to": f"out/{name}"})
        make_release(policy, Locations.of(tmp_path, {}))
    found = verify(tmp_path)
    assert (found.refused, found.together) == ([], None)
    assert found.partitions.status is Status.UNMEASURED


def test_a_changed_release_is_refused_by_the_name_of_its_folder(
    made: Callable[..., Policy], tmp_path: Path
) -> None:
    policy = made()
    next((tmp_path / "out" / "a.2").glob("*.parquet")).write_bytes(b"other")
    (tmp_path / "out" / "a.3" / "manifest.json").write_text('{"manifest_version": 2}')
    found = verify(tmp_path, policy)
    assert found.refused == ["a.2", "a.3", "partitions"]  # a manifest that is none has no key
    assert found.together is None
    assert not found.each["a.1"].report.with_status(Status.REFUSED)


def test_other_columns_are_not_compared(made: Callable[..., Policy], tmp_path: Path) -> None:
    made(KEYS[:2])
    made(
        KEYS[2:],
        columns={"city": {"role": "identifier", "action": "drop", "hierarchy": None}},
        anonymize={"recoder": "fixed", "levels": {"age": 2}},
    )
    found = verify(tmp_path)
    assert found.refused == []
    assert found.together is not None
    assert (found.together.policies, found.together.classes) == (2, None)


def test_where_there_is_no_release(tmp_path: Path, made: Callable[..., Policy]) -> None:
    assert not holds_several(tmp_path)
    found = verify_together(tmp_path, Against())
    assert (found.each, found.refused, found.together) == ({}, [], None)
    made(KEYS[:1])
    assert holds_several(tmp_path / "out") and not holds_several(tmp_path / "out" / "a.1")
    assert not holds_several(tmp_path / "out" / "a.1" / "manifest.json")
