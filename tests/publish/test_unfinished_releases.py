"""What a run leaves that is killed right after publishing: entered, without a key, delivered, at no cost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.unfinished_releases import finish_published
from anon_pipeline.publish.whole_chain import make_release
from tests.adversarial.faulty_disk import killed_at, points_of

KEYS = ["north", "south", "west"]


class World:
    """A policy with three partitions, which are delivered to a database."""

    def __init__(self, folder: Path, small_policy: Callable[..., Policy], people: pd.DataFrame) -> None:
        (folder / "shop.db").touch()
        self.folder, self.locations = folder, Locations.of(folder, {})
        self.policy = small_policy(
            source={"path": "{partition}.csv"},
            schedule={"partitions": "listed", "keys": KEYS},
            budget={"epsilon": 9, "per": "record"},  # which is asked of a partition alone
            publish={"deliver": {"database_env": "SHOP_URL", "table": "visits"}},
        )
        for number, key in enumerate(KEYS):
            people.assign(age=people["age"] + number).to_csv(folder / f"{key}.csv", index=False)

    def make(self, key: str) -> None:
        make_release(self.policy, self.locations, partition=key)

    def finish(self, *keys: str) -> list[str]:
        return finish_published(self.policy, self.locations, keys)

    def states(self) -> dict[str | None, str]:
        events = ledger_at(self.locations.ledger).events()
        return {state.last.partition: state.name for state in release_states(events).values()}

    def spent(self) -> float:
        events = ledger_at(self.locations.ledger).events()
        return float(sum(one.epsilon for one in release_states(events).values() if one.counts))

    def tables(self) -> set[str]:
        with closing(sqlite3.connect(self.folder / "shop.db")) as opened:
            named = opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name for (name,) in named} - {"anon_pipeline_releases"}

    def keys(self) -> list[str]:
        return list(draws_of(self.policy, self.locations, None).ids())


@pytest.fixture
def world(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path}/shop.db")
    return World(tmp_path, small_policy, small_people())


def test_what_was_killed_after_the_rename_is_finished_without_a_new_release(world: World) -> None:
    names = points_of(partial(world.make, "north"))
    at = names.index("before rename manifest") + 1
    assert killed_at(partial(world.make, "south"), names[:at].count(names[at]), names[at])
    document = (world.locations.release(world.policy, "south") / "manifest.json").read_bytes()
    assert world.states() == {"north": "published", "south": "open"}
    assert len(world.keys()) == 1 and world.tables() == {"visits_north"}
    before = world.spent()
    assert world.finish("north", "south") == ["south"]
    assert world.states() == {"north": "published", "south": "published"}
    assert world.keys() == [] and world.tables() == {"visits_north", "visits_south"}
    assert world.spent() == before
    assert (world.locations.release(world.policy, "south") / "manifest.json").read_bytes() == document
    assert world.finish("north", "south") == []


def test_the_key_of_a_release_that_waits_stays(world: World) -> None:
    names = points_of(partial(world.make, "north"))
    at = names.index("before rename manifest")
    assert killed_at(partial(world.make, "south"), names[:at].count(names[at]), names[at])
    held = world.keys()
    assert len(held) == 1
    assert world.finish("north") == []
    assert world.keys() == held and world.states()["south"] == "open"


def test_what_failed_to_be_delivered_is_delivered(world: World) -> None:
    world.make("north")
    with closing(sqlite3.connect(world.folder / "shop.db")) as opened:
        opened.execute("DROP TABLE visits_north")
        opened.commit()
    assert world.finish("north") == ["north"]
    assert world.tables() == {"visits_north"}


def test_what_was_withdrawn_is_not_delivered_and_stops_no_other(world: World) -> None:
    for key in ("north", "south"):
        world.make(key)
    book = ledger_at(world.locations.ledger)
    states = release_states(book.events()).values()
    book.withdraw(next(one.last.release_id for one in states if one.last.partition == "north"))
    with closing(sqlite3.connect(world.folder / "shop.db")) as opened:
        opened.executescript("DROP TABLE visits_north; DROP TABLE visits_south")
    assert world.finish("north", "south") == ["south"]
    assert world.tables() == {"visits_south"}


def test_without_ledger_and_destination_nothing_is_done(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> None:
    locations = Locations.of(tmp_path, {"ANON_PIPELINE_LEDGER": "off"})
    policy = small_policy(source={"path": "{partition}.csv"}, schedule={"partitions": "listed", "keys": KEYS})
    small_people().to_csv(tmp_path / "north.csv", index=False)
    make_release(policy, locations, partition="north")
    assert finish_published(policy, locations, ["north"]) == []
