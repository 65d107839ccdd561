"""Object stores as a destination: complete releases only, whatever put fails; others' objects stay."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import fsspec
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver.deliver_urls import TRIED, UNWRITABLE, at_url, is_released_name
from anon_pipeline.publish.deliver.delivery import deliver_release
from tests.publish.delivered import assert_held, parcel_of, publish_in

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
STORE = fsspec.filesystem("memory")


@pytest.fixture
def url() -> str:
    return f"memory://bucket-{uuid.uuid4().hex}/inner"


def complete(place: str) -> dict[str, Any]:
    """Return the manifest that readers find, after looking that all it names is there."""
    fs, path = fsspec.core.url_to_fs(place)
    fs.invalidate_cache()
    document: dict[str, Any] = json.loads(fs.cat_file(f"{path}/manifest.json"))
    for item in (*document["files"], document["report"]):
        assert hashlib.sha256(fs.cat_file(f"{path}/{item['name']}")).hexdigest() == item["sha256"]
    return document


def names(place: str) -> set[str]:
    fs, path = fsspec.core.url_to_fs(place)
    fs.invalidate_cache()
    return {str(name).rpartition("/")[2] for name in fs.ls(path, detail=False)}


@pytest.mark.parametrize("kind", ["url", "url_env"])
def test_a_release_is_delivered_to_an_object_store_byte_by_byte(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    bucket: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLACE", bucket)
    policy = small_policy(publish={"deliver": {kind: bucket if kind == "url" else "PLACE"}})
    written = publish_in(tmp_path, policy, small_people())
    assert complete(bucket) == written.manifest
    assert_held(policy, written, Locations.of(tmp_path))
    assert names(bucket) == {path.name for path in (tmp_path / "out").iterdir()}


def test_the_next_release_keeps_the_files_before_and_removes_older_ones(
    small_policy: Small, small_people: People, tmp_path: Path, bucket: str
) -> None:
    policy = small_policy(publish={"deliver": {"url": bucket}})
    made = [publish_in(tmp_path, policy, small_people()) for _ in range(3)]
    fsspec.core.url_to_fs(bucket)[0].pipe_file(f"{bucket}/of-somebody-else.csv", b"1")
    made.append(publish_in(tmp_path, policy, small_people()))
    assert complete(bucket) == made[-1].manifest
    kept = {path.name for one in made[-2:] for path in (one.path, one.report_path)}
    kept |= {one.manifest["policy"]["name"] for one in made[-2:]}
    assert names(bucket) == {"manifest.json", "of-somebody-else.csv", *kept}


@pytest.mark.parametrize("dies_at", range(5))
@pytest.mark.parametrize("half", [False, True])
def test_whatever_put_fails_readers_see_a_complete_release(  # noqa: PLR0917 - fixtures
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    url: str,
    dies_at: int,
    half: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``half``: the object was put, the answer was lost."""
    policy = small_policy(publish={"deliver": {"url": url}})
    before = publish_in(tmp_path, policy, small_people()).manifest
    puts, put = iter(range(10)), STORE.pipe_file

    def dying(path: str, data: bytes, *rest: object, **more: object) -> None:
        dies = not path.endswith(TRIED) and next(puts) == dies_at
        if half or not dies:
            put(path, data, *rest, **more)
        if dies:
            raise OSError("s3://key:CANARY@host refused")

    with monkeypatch.context() as patch:
        patch.setattr(type(STORE), "pipe_file", lambda self, *a, **k: dying(*a, **k))
        if dies_at == 4:
            publish_in(tmp_path, policy, small_people())  # three files and the manifest: all were put
        else:
            with pytest.raises(PublishError, match="published in its folder, and booked") as error:
                publish_in(tmp_path, policy, small_people())
            assert error.value.in_place
            assert "CANARY" not in str(error.value)
    after = json.loads((tmp_path / "out/manifest.json").read_text())
    assert after != before
    assert complete(url) == (after if dies_at == 4 or (half and dies_at == 3) else before)
    assert deliver_release(policy, Locations.of(tmp_path, {})) == after
    assert complete(url) == after


def test_what_reads_back_otherwise_is_not_pointed_to(
    small_policy: Small, small_people: People, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": {"url": url}})
    before = publish_in(tmp_path, policy, small_people()).manifest
    read = STORE.cat_file
    monkeypatch.setattr(
        type(STORE), "cat_file", lambda self, path: read(path) + b" " * path.endswith(".parquet")
    )
    with pytest.raises(PublishError, match="does not read back the same"):
        publish_in(tmp_path, policy, small_people())
    monkeypatch.undo()
    assert complete(url) == before


@pytest.mark.parametrize("there", [b"{}", b"not json", b'{"release": "other", "files": []}'])
def test_a_place_of_something_else_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, url: str, there: bytes
) -> None:
    STORE.pipe_file(f"{url}/manifest.json", there)
    policy = small_policy(publish={"deliver": {"url": url}})
    with pytest.raises(PublishError, match="the place of the release small alone"):
        publish_in(tmp_path, policy, small_people())
    assert not (tmp_path / "out").exists()
    assert names(url) == {"manifest.json"}


def test_the_place_of_a_partition_is_not_that_of_a_release_of_one_piece(
    small_policy: Small, small_people: People, tmp_path: Path, url: str
) -> None:
    policy = small_policy(publish={"deliver": {"url": f"{url}/2026-01-01"}})
    publish_in(tmp_path, policy, small_people())
    partition = at_url(
        small_policy(publish={"deliver": {"url": url}}), Locations.of(tmp_path, {}), "2026-01-01"
    )
    with pytest.raises(
        PublishError, match="the place of the release small alone, or of one of its partitions"
    ):
        partition.ready()


def test_a_later_release_is_not_replaced_by_an_earlier_one(
    small_policy: Small, small_people: People, tmp_path: Path, url: str
) -> None:
    policy = small_policy(publish={"deliver": {"url": url}})
    publish_in(tmp_path, policy, small_people())
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    destination = at_url(policy, Locations.of(tmp_path, {}), None)
    destination.deliver(parcel_of(tmp_path / "out", made_at=later))
    with pytest.raises(PublishError, match="must not hold a later release"):
        deliver_release(policy, Locations.of(tmp_path, {}))
    assert complete(url)["made_at"] == later


def test_a_place_in_the_vault_is_refused(small_policy: Small, tmp_path: Path) -> None:
    locations = Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": "memory://bucket/vault"})
    for place in ("memory://bucket", "memory://bucket/vault", "memory://bucket/vault/small"):
        policy = small_policy(publish={"deliver": {"url": place}})
        with pytest.raises(Exception, match="a place of the release alone"):
            at_url(policy, locations, None)
    assert at_url(small_policy(publish={"deliver": {"url": "memory://bucket/out"}}), locations, None)


@pytest.mark.parametrize("held", ["memory://bucket/in", "memory://me:secret@bucket/in?token=1"])
@pytest.mark.parametrize("key", ["url", "url_env"])
def test_a_place_in_the_source_is_refused_however_its_url_is_named(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, held: str
) -> None:
    monkeypatch.setenv("PEOPLE_URL", held)
    source = {"path": None, key: "memory://bucket/in" if key == "url" else "PEOPLE_URL"}

    def opened(place: str) -> Any:
        policy = small_policy(source=source, publish={"deliver": {"url": place}})
        return at_url(policy, Locations.of(tmp_path, {}), None)

    for place in ("memory://bucket", "memory://bucket/in", "memory://bucket/in/small"):
        with pytest.raises(InputError, match="one that holds or is in the source") as refused:
            opened(place)
        assert "secret" not in str(refused.value)
    assert opened("memory://bucket/out") and opened("memory://bucket/inner")
    monkeypatch.delenv("PEOPLE_URL")
    assert key == "url" or opened("memory://bucket/in")  # nothing tells where the source is


def test_a_partition_has_a_place_of_its_own(small_policy: Small, tmp_path: Path, url: str) -> None:
    policy = small_policy(publish={"deliver": {"url": url}})
    opened = at_url(policy, Locations.of(tmp_path, {}), "2026-01-01")
    assert opened.place.path.endswith("/inner/2026-01-01")


def test_names_of_released_files() -> None:
    assert is_released_name("a.b", "a.b-report-0123456789abcdef.html")
    assert not is_released_name("a.b", "axb-0123456789abcdef.csv")
    assert not is_released_name("a", "a-notes.csv")


def test_a_bucket_that_is_not_there_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, bucket: str
) -> None:
    missing = bucket.replace("://bucket-", "://other-").replace("://vault-", "://other-")
    assert missing != bucket
    with pytest.raises(PublishError, match=rf"publish\.deliver\.url: {UNWRITABLE}") as refused:
        publish_in(tmp_path, small_policy(publish={"deliver": {"url": missing}}), small_people())
    assert not refused.value.in_place
    assert not ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events()


def test_a_place_that_may_not_be_written_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": {"url": url}})
    before = publish_in(tmp_path, policy, small_people()).manifest
    spent = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events()

    def denied(*_: object, **__: object) -> None:
        raise PermissionError("s3://key:CANARY@host refused")

    with monkeypatch.context() as patch:
        patch.setattr(type(STORE), "pipe_file", denied)
        with pytest.raises(PublishError, match=UNWRITABLE) as refused:
            publish_in(tmp_path, policy, small_people())
        assert "CANARY" not in str(refused.value)
    with monkeypatch.context() as patch:
        patch.setattr(type(STORE), "cat_file", lambda self, path: b"{}")
        with pytest.raises(PublishError, match="does not read back the same"):
            other = small_policy(publish={"deliver": {"url": f"{url}2"}})
            at_url(other, Locations.of(tmp_path), None).ready()
    assert complete(url) == before
    assert ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events() == spent


def test_what_was_tried_is_removed_where_that_is_allowed(
    small_policy: Small, tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = at_url(small_policy(publish={"deliver": {"url": url}}), Locations.of(tmp_path), None)
    place.ready()
    assert STORE.find(url) == []

    def denied(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(type(STORE), "rm_file", denied)
    place.ready()
    place.ready()
    assert names(url) == {TRIED}
