"""A clock that jumps: what is kept, counted and held does not get less when it is set back."""

from __future__ import annotations

import datetime
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, Policy, make_release
from anon_pipeline.base.errors import GateRefused, PublishError
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.orchestration.vault import VaultIOManager, retain_by_policy
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.publish import lock, publish, release
from anon_pipeline.publish.accounting import booking
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.publish.lock import LOCK, hold_folder, this_process
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import STAGES, Means, Staged
from anon_pipeline.stages.vault_tables import write_staged

START = datetime.datetime(2026, 6, 1, tzinfo=datetime.UTC)
Small = Callable[..., Policy]


class Clock:
    """The wall clock of ledger and manifest, set by hand."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime.datetime:
        return self.time

    def now(self, zone: datetime.tzinfo) -> datetime.datetime:
        return self.time.astimezone(zone)

    def jump(self, days: float) -> None:
        self.time += timedelta(days=days)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(booking, "ledger_at", lambda url, run: replace(ledger_at(url, run=run), now=made))
    monkeypatch.setattr(release, "datetime", made)
    return made


@pytest.fixture
def places(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def book(places: Locations) -> Ledger:
    return ledger_at(places.ledger)


def manifest(places: Locations) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((places.releases / "out" / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("days", [-400, -1, 1, 400])
def test_a_jump_between_opening_and_publishing(
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    places: Locations,
    clock: Clock,
    days: float,
) -> None:
    """It is published, the ledger's times never go back, and it counts in every window that follows."""
    policy = small_policy(budget={"epsilon": 2, "window": 30})
    opens = Opening(booking.booking(policy, places), draws_of(policy, places, None))
    made = pipeline.run(policy, small_people(), Means(Path(), None, system_entropy(), opens=opens))
    clock.jump(days)
    publish(made.suppressed, made.k_anonymized.frame, policy, locations=places)
    times = [event.at for event in book(places).events()]
    assert times == sorted(times)
    assert book(places).verify() is None
    assert [state.last.event for state in release_states(book(places).events()).values()] == ["published"]
    with pytest.raises(GateRefused, match="spent 2"):
        make_release(policy, places)
    clock.jump(29)
    with pytest.raises(GateRefused, match="spent 2"):
        make_release(policy, places)


@pytest.mark.parametrize("days", [0.01, 31, 4000])
def test_set_back_it_frees_no_budget_and_made_at_stays(
    small_policy: Small, places: Locations, clock: Clock, days: float
) -> None:
    policy = small_policy(budget={"epsilon": 2, "window": 30})
    make_release(policy, places)
    before = manifest(places)["made_at"]
    clock.jump(-days)
    with pytest.raises(GateRefused, match="spent 2"):
        make_release(policy, places)
    make_release(small_policy(budget={"epsilon": 4, "window": 30}), places)
    assert manifest(places)["made_at"] == before


def test_ahead_and_back_again_what_was_entered_ahead_still_counts(
    small_policy: Small, places: Locations, clock: Clock
) -> None:
    policy = small_policy(budget={"epsilon": 4, "window": 30})
    clock.jump(365)
    make_release(policy, places)
    clock.jump(-365)
    make_release(policy, places)
    clock.jump(40)  # what was entered at today's date counts from the ledger's own last time
    with pytest.raises(GateRefused, match="spent 4"):
        make_release(policy, places)


def test_set_ahead_a_window_passes(small_policy: Small, places: Locations, clock: Clock) -> None:
    """What docs/known-limits.md admits."""
    policy = small_policy(budget={"epsilon": 2, "window": 30})
    make_release(policy, places)
    clock.jump(30)
    make_release(policy, places)
    assert sum(state.epsilon for state in release_states(book(places).events()).values()) == 4


def test_without_a_window_no_clock_frees_anything(
    small_policy: Small, places: Locations, clock: Clock
) -> None:
    policy = small_policy(budget={"epsilon": 2})
    make_release(policy, places)
    for days in (-4000, 8000):
        clock.jump(days)
        with pytest.raises(GateRefused, match="spent 2"):
            make_release(policy, places)


def private_tables(folder: Path, clock: datetime.datetime) -> Callable[[], int]:
    """Write the private tables at a time; return how many there are."""
    for stage in STAGES:
        path = folder / "small" / f"{stage}.parquet"
        write_staged(path, Staged(pd.DataFrame({"x": [1]}), {}))
        os.utime(path, (clock.timestamp(), clock.timestamp()))
    return lambda: len(list(folder.rglob("*.parquet")))


@pytest.mark.parametrize(("days", "left"), [(-4000, 6), (-31, 6), (0, 6), (29, 6), (31, 0)])
def test_retention_set_back_deletes_nothing_and_set_ahead_deletes_early(
    small_policy: Small, tmp_path: Path, days: float, left: int
) -> None:
    count = private_tables(tmp_path, START)
    manager, policy = VaultIOManager(folder=str(tmp_path)), small_policy(vault={"retain": 30})
    retain_by_policy(manager, policy, None, now=START + timedelta(days=days))
    assert count() == left


def test_a_table_written_ahead_of_the_clock_stays_until_the_clock_has_passed_it(
    small_policy: Small, tmp_path: Path
) -> None:
    count = private_tables(tmp_path, START + timedelta(days=365))
    manager, policy = VaultIOManager(folder=str(tmp_path)), small_policy(vault={"retain": 30})
    for days, left in ((0, 6), (394, 6), (396, 0)):
        retain_by_policy(manager, policy, None, now=START + timedelta(days=days))
        assert count() == left


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the wall clock that the lock's module can see; the monotonic one goes on."""
    real, since = time.time, [0.0]

    class Shifted(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
            return datetime.datetime.now(tz) + timedelta(seconds=since[0])

    monkeypatch.setattr(time, "time", lambda: real() + since[0])
    monkeypatch.setattr(lock, "datetime", Shifted)

    def set_to(seconds: float) -> None:
        since[0] = seconds

    return set_to


@pytest.mark.parametrize("days", [-400, -1, 1, 400])
@pytest.mark.parametrize("flock", [True, False])
def test_no_jump_takes_over_a_live_lock_of_this_machine(
    tmp_path: Path, wall: Callable[[float], None], monkeypatch: pytest.MonkeyPatch, days: float, flock: bool
) -> None:
    if not flock:
        monkeypatch.setattr(lock.fcntl, "flock", _unsupported)
    with hold_folder(tmp_path, wait=0) as still_held:
        wall(days * 86_400)
        shifted = time.time()
        os.utime(tmp_path / LOCK, (shifted, shifted))
        with (
            pytest.raises(PublishError, match=f"held by process {os.getpid()}"),
            hold_folder(tmp_path, wait=0),
        ):
            raise AssertionError
        still_held()


def _unsupported(handle: int, operation: int) -> None:
    raise OSError(37, "No locks available")


@pytest.mark.parametrize("days", [0, 1, 400])
def test_a_file_system_whose_clock_was_set_back_takes_over_no_other_machines_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, days: float
) -> None:
    """Seen from a clock that was set back, another machine's lock is of the future, so never old."""
    monkeypatch.setattr(lock, "_WATCHED", 0.0)
    other = replace(this_process(), host="elsewhere", boot="other")
    (tmp_path / LOCK).write_text(json.dumps(lock.asdict(other)))
    ahead = time.time() + days * 86_400
    os.utime(tmp_path / LOCK, (ahead, ahead))
    with pytest.raises(PublishError, match="on elsewhere since"), hold_folder(tmp_path, wait=0):
        raise AssertionError


def test_a_file_system_whose_clock_was_set_ahead_may_take_over_but_one_alone_publishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What docs/known-limits.md admits of two machines: the one taken over notices before its manifest."""
    monkeypatch.setattr(lock, "_WATCHED", 0.0)
    with hold_folder(tmp_path, wait=0) as first:
        there = json.loads((tmp_path / LOCK).read_text()) | {"host": "elsewhere", "boot": "other"}
        (tmp_path / LOCK).write_text(json.dumps(there))
        ahead = time.time() - 2 * lock.FOREIGN_AGE
        os.utime(tmp_path / LOCK, (ahead, ahead))
        monkeypatch.setattr(lock.fcntl, "flock", _unsupported)  # which another machine may not see
        monkeypatch.setattr(lock, "this_process", lambda: replace(this_process(), host="second"))
        with hold_folder(tmp_path, wait=0) as second:
            second()
            with pytest.raises(PublishError, match="was taken over while this run was writing"):
                first()
