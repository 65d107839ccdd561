"""A release that says it was made when nobody answered for what it shows is refused; others are not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.manifest.acknowledgement_dates import broken_acknowledgements
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.publish.whole_chain import make_release
from tests.acknowledging import acknowledged

Small = Callable[..., Policy]
HASHED = {"person": {"action": "hash"}}
ENTRY = {
    "share": 1,
    "who": "Data office",
    "why": "tables are joined",
    "when": "2026-01-01",
    "until": "2026-06-30",
}
OPEN = {name: {"role": "insensitive"} for name in ("shoe", "hat")}


def said(made_at: str, records: int = 100) -> dict[str, Any]:
    return {"made_at": made_at, "facts": {"raw": {"records": records}}}


def hashed(small_policy: Small, *entries: Mapping[str, Any]) -> Policy:
    found = [{**ENTRY, "columns": ["person"], **entry} for entry in entries]
    return small_policy(columns=HASHED, acknowledged=found, deidentify={"key_env": "SECRET"})


@pytest.mark.parametrize(
    ("made_at", "forged"),
    [
        ("2026-06-30T23:59:59+00:00", False),
        ("2026-07-01T08:00:00+00:00", False),  # judged before midnight
        ("2026-07-02T00:00:00+00:00", True),
        ("2026-07-02T01:00:00+02:00", False),  # the first of July, in UTC
        ("2026-01-01T00:00:00+00:00", False),
        ("2025-12-31T23:59:59+00:00", True),
        ("2099-01-01T00:00:00+00:00", True),
    ],
)
def test_a_hash_must_be_acknowledged_on_that_day(small_policy: Small, made_at: str, forged: bool) -> None:
    found = broken_acknowledgements(said(made_at), hashed(small_policy, {}), None)
    day = str(datetime.fromisoformat(made_at).astimezone(UTC).date())
    line = "made_at must be a day on which person is acknowledged (from 2026-01-01 until 2026-06-30), got "
    assert found == ([line + day] if forged else [])


def test_an_entry_may_have_taken_the_place_of_one_that_lapsed(small_policy: Small) -> None:
    policy = hashed(small_policy, {}, {"when": "2026-06-01", "until": "2027-05-31"})
    assert broken_acknowledgements(said("2027-01-01T00:00:00+00:00"), policy, None) == []
    assert broken_acknowledgements(said("2027-06-02T00:00:00+00:00"), policy, None) != []


@pytest.fixture
def sizes(small_policy: Small) -> tuple[Policy, pd.DataFrame]:
    """A table in which shoe and hat together single out about a third of 300 records."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"shoe": rng.integers(30, 50, 300), "hat": rng.integers(50, 70, 300), "note": "a"})
    entry = {**ENTRY, "columns": ["hat", "note", "shoe"]}
    return small_policy(columns=OPEN, acknowledged=[entry]), frame


@pytest.mark.parametrize(("missing", "forged"), [(0, True), (60, True), (200, False)])
def test_columns_that_single_out_many_must_be_acknowledged_then(
    sizes: tuple[Policy, pd.DataFrame], missing: int, forged: bool
) -> None:
    """Where many are missing, each may have been like one that is alone in the file: nothing is shown."""
    policy, frame = sizes
    found = broken_acknowledgements(said("2026-08-01T00:00:00+00:00", 300 + missing), policy, frame)
    assert [line.partition(" are ")[0] for line in found] == (
        ["made_at must be a day on which hat, shoe"] if forged else []
    )
    assert broken_acknowledgements(said("2026-05-01T00:00:00+00:00", 300), policy, frame) == []
    assert broken_acknowledgements(said("2026-08-01T00:00:00+00:00", 300), policy, None) == []


def test_an_entry_that_is_not_needed_any_more_may_lapse(sizes: tuple[Policy, pd.DataFrame]) -> None:
    policy, frame = sizes
    coarse = frame.assign(shoe=frame["shoe"] // 10, hat=frame["hat"] // 10)
    assert broken_acknowledgements(said("2026-08-01T00:00:00+00:00", 300), policy, coarse) == []


def test_verify_refuses_what_was_made_on_no_such_day(
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET", "0123456789abcdef")
    (entry,) = acknowledged("person")
    policy = hashed(small_policy, entry)
    small_people().to_csv(tmp_path / "people.csv", index=False)
    written, against = make_release(policy, Locations.of(tmp_path)), Against(policy, tmp_path)
    assert not verify_release(written.manifest_path, against).with_status(Status.REFUSED)
    document = json.loads(written.manifest_path.read_text())
    after = date.fromisoformat(entry["until"]) + timedelta(days=2)
    before = date.fromisoformat(entry["when"]) - timedelta(days=1)
    for day in (after, before):
        written.manifest_path.write_text(json.dumps({**document, "made_at": f"{day}T12:00:00+00:00"}))
        (refused,) = verify_release(written.manifest_path, against).with_status(Status.REFUSED)
        assert refused.limit == "statements"
        assert "made_at must be a day on which person is acknowledged" in str(refused.reason)
        by_public = verify_release(written.manifest_path, Against()).with_status(Status.REFUSED)
        assert [verdict.limit for verdict in by_public] == ["statements"]


def test_a_time_that_is_moved_past_an_acknowledgement_is_refused_before_anything_is_written(
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The release before was made when the clock ran ahead; a manifest is made no earlier than it."""
    monkeypatch.setenv("SECRET", "0123456789abcdef")
    (entry,) = acknowledged("person")
    policy = hashed(small_policy, entry)
    small_people().to_csv(tmp_path / "people.csv", index=False)
    places = Locations.of(tmp_path)
    first = make_release(policy, places)
    document = json.loads(first.manifest_path.read_text())
    ahead = f"{date.fromisoformat(entry['until']) + timedelta(days=30)}T12:00:00+00:00"
    first.manifest_path.write_text(json.dumps({**document, "made_at": ahead}))
    files = sorted(path.name for path in first.manifest_path.parent.iterdir())
    small_people(seed=5).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(PublishError, match="must be a day on which person is acknowledged") as refused:
        make_release(policy, places)
    assert "give this release another folder" in str(refused.value)
    assert sorted(path.name for path in first.manifest_path.parent.iterdir()) == files
    first.manifest_path.write_text(json.dumps(document))
    again = make_release(policy, places)
    against = Against(policy, tmp_path)
    assert not verify_release(again.manifest_path, against).with_status(Status.REFUSED)
