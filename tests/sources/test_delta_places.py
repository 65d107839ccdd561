"""Places of Delta Lake tables: folders, object stores, variables; nothing quoted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.delta import DeltaSource
from anon_pipeline.sources.delta_places import source_place, store_place
from tests.sources.delta_logs import CANARY, PEOPLE, library
from tests.sources.test_delta_tables import policy, read, refused

Small = Callable[..., Policy]
NOBODY = "http://127.0.0.1:9"


def test_a_folder_or_a_url_of_a_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "of 1").mkdir()
    monkeypatch.setenv("PLACE", "az://box/{partition}/")
    for named, uri, key in (
        ({"path": "of {partition}"}, str(tmp_path / "of 1"), "source.delta.path"),
        ({"url": "s3://bucket/{partition}/"}, "s3://bucket/1", "source.delta.url"),
        ({"url_env": "PLACE"}, "az://box/1", "source.delta.url_env"),
    ):
        place = source_place(DeltaSource.model_validate(named), "source.delta", tmp_path, "1")
        assert (place.uri, place.key, place.folder is None) == (uri, key, "path" not in named)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "the environment variable PLACE is not set"),
        (f"s3://key:{CANARY}@bucket/a", "the variable must not hold credentials"),
        (f"file:///{CANARY}", "the variable must be a URL that begins with s3://"),
        (f"https://{CANARY}/a", "the variable must be a URL that begins with s3://"),
        (f"s3://{CANARY}/{{partition}}", "{partition} must be filled in"),
    ],
)
def test_what_a_variable_must_not_hold(monkeypatch: pytest.MonkeyPatch, value: str | None, said: str) -> None:
    monkeypatch.delenv("PLACE", raising=False)
    if value is not None:
        monkeypatch.setenv("PLACE", value)
    with pytest.raises(InputError) as caught:
        store_place(DeltaSource(url_env="PLACE"), "source.delta", None)
    assert said in str(caught.value)
    assert CANARY not in str(caught.value)


def test_a_table_in_an_object_store(small_policy: Small, s3_apart: str, monkeypatch: Any) -> None:
    library().write_deltalake(f"{s3_apart}/people", PEOPLE)
    library().write_deltalake(f"{s3_apart}/people", PEOPLE.slice(0, 1), mode="overwrite")
    assert read(small_policy, Path(), url=f"{s3_apart}/people")["id"].tolist() == ["007"]
    assert len(read(small_policy, Path(), url=f"{s3_apart}/people", version=0)) == 5
    monkeypatch.setenv("PLACE", f"{s3_apart}/people")
    assert len(read(small_policy, Path(), url_env="PLACE")) == 1
    found = policy(small_policy, url=f"{s3_apart}/people", limits={"file_bytes": 10})
    assert "must keep the limit file_bytes (10)" in refused(found, Path("nowhere"))
    found = policy(small_policy, url=f"{s3_apart}/{CANARY}")
    assert refused(found, Path("nowhere")) == "source.delta.url: there must be a Delta Lake table, got none"


def test_a_store_that_does_not_answer(small_policy: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AWS_ENDPOINT_URL": NOBODY, "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    said = refused(policy(small_policy, url=f"s3://{CANARY}/people"), Path("nowhere"))
    assert said == "source.delta.url: must be a Delta Lake table that the package deltalake can read: OSError"
