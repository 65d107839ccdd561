"""Delivering what is published: checked against its manifest, repeated at no cost, confined."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver.delivery import deliver_release, is_later
from tests.publish.delivered import publish_in

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


@pytest.fixture
def policy(small_policy: Small) -> Policy:
    return small_policy(publish={"deliver": {"url": f"memory://bucket-{uuid.uuid4().hex}/inner"}})


def test_delivering_again_draws_and_books_nothing(
    policy: Policy, small_people: People, tmp_path: Path
) -> None:
    written = publish_in(tmp_path, policy, small_people())
    locations = Locations.of(tmp_path, {})
    before = ledger_at(locations.ledger).events()
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert deliver_release(policy, locations) == written.manifest
    assert list(ledger_at(locations.ledger).events()) == list(before)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files


def test_what_was_published_before_the_policy_said_where_to_can_be_delivered(
    policy: Policy, small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    written = publish_in(tmp_path, small_policy(), small_people())
    assert deliver_release(policy, Locations.of(tmp_path, {})) == written.manifest


@pytest.mark.parametrize("which", ["data", "report"])
def test_files_that_are_not_the_manifest_s_are_not_delivered(
    policy: Policy, small_people: People, tmp_path: Path, which: str
) -> None:
    written = publish_in(tmp_path, policy, small_people())
    path = written.path if which == "data" else written.report_path
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(InputError, match="SHA-256 is another"):
        deliver_release(policy, Locations.of(tmp_path, {}))
    path.unlink()
    with pytest.raises(InputError, match="must be a file next to the manifest"):
        deliver_release(policy, Locations.of(tmp_path, {}))


def test_what_cannot_be_delivered_is_said(
    policy: Policy, small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    locations = Locations.of(tmp_path, {})
    with pytest.raises(InputError, match="must be the manifest of a release"):
        deliver_release(policy, locations)
    publish_in(tmp_path, policy, small_people())
    with pytest.raises(
        InputError, match=r"publish\.deliver: must be set .*\. For example publish: "
    ) as raised:
        deliver_release(small_policy(), locations)
    example = str(raised.value).split("For example ")[1].split(", with the environment variable")[0]
    deliver = small_policy(**yaml.safe_load(example)).publish.deliver
    assert deliver is not None and deliver.database_env == "SHOP_URL"
    with pytest.raises(InputError, match="must be of the release other"):
        deliver_release(policy.model_copy(update={"name": "other"}), locations)
    shutil.copytree(tmp_path / "out", tmp_path / "out" / "2026-01-01")
    with pytest.raises(InputError, match="the partition that is asked for"):
        deliver_release(policy, locations, partition="2026-01-01")


def test_a_release_that_was_withdrawn_is_not_delivered(
    policy: Policy, small_people: People, tmp_path: Path
) -> None:
    publish_in(tmp_path, policy, small_people())
    locations = Locations.of(tmp_path, {})
    book = ledger_at(locations.ledger)
    book.withdraw(book.events()[-1].release_id)
    with pytest.raises(InputError, match="must not be of a release that was withdrawn"):
        deliver_release(policy, locations)


def test_a_variable_that_is_not_set_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLACE", raising=False)
    policy = small_policy(publish={"deliver": {"url_env": "PLACE"}})
    with pytest.raises(PublishError, match="variable PLACE is not set: it must hold a URL"):
        publish_in(tmp_path, policy, small_people())
    assert not (tmp_path / "out").exists()
    monkeypatch.setenv("PLACE", "file:///srv/CANARY")
    with pytest.raises(PublishError, match="must be a URL that begins with s3://") as error:
        publish_in(tmp_path, policy, small_people())
    assert "CANARY" not in str(error.value)


def test_where_it_goes_is_in_no_manifest_and_no_report(
    policy: Policy, small_people: People, tmp_path: Path
) -> None:
    written = publish_in(tmp_path, policy, small_people())
    place = str(policy.publish.deliver and policy.publish.deliver.url)
    assert place not in json.dumps(written.manifest)
    assert place not in written.report_path.read_text()


def test_which_manifest_is_later() -> None:
    early, late = {"made_at": "2026-01-01T00:00:00+00:00"}, {"made_at": "2026-01-01T00:30:00-01:00"}
    assert is_later(late, early)
    assert not is_later(early, late)
    assert not is_later(early, early)
    assert not is_later({}, early)
    assert not is_later({"made_at": "soon"}, early)
