"""A memory or a ledger that was lost, rolled back or exchanged is noticed wherever the next release goes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline import GateRefused, InputError, Locations, Policy, make_release
from anon_pipeline.cli.ledgering import ledger as ledger_commands
from anon_pipeline.ledger import Ledger, ledger_at, requested_by
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.recovery import forget_memory
from anon_pipeline.policy import TYPE
from anon_pipeline.publish import Published
from anon_pipeline.publish.accounting.adopt import Opened, adopt_releases
from anon_pipeline.publish.accounting.archive import VaultArchive

Make = Callable[..., Any]
WEEK = "2026-01-05", "2026-01-12", "2026-01-19"
KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "suppress": None,
    "gate": {"suppression": None, "cross_release_k": 3},
    "schedule": {"cron": "0 3 * * 1", "partitions": "weekly"},
}


class World:
    """A project whose weekly releases of the same people are judged together."""

    def __init__(self, folder: Path, policies: Make, people: pd.DataFrame) -> None:
        self.folder, self.policies, self.people = folder, policies, people
        self.locations = Locations.of(folder, {})
        self.memory = folder / "vault" / "small" / "memory.parquet"

    def policy(self, **changes: Any) -> Policy:
        made: Policy = self.policies(**{**KEEPS, **changes})
        return made

    def release(self, partition: str, **changes: Any) -> Published:
        policy = self.policy(**changes)
        self.people.to_csv(self.folder / "people.csv", index=False)
        archive = VaultArchive(policy, self.locations)
        return make_release(policy, self.locations, partition=partition, archive=archive)

    def isolating(self) -> None:
        """Exchange the quasi-identifiers of some people: a class of each release isolates them together."""
        self.people = self.people.assign(
            age=self.people["age"].sample(frac=1, random_state=1).to_numpy(),
            city=self.people["city"].sample(frac=1, random_state=2).to_numpy(),
        )

    def out(self) -> list[Path]:
        return sorted(self.folder.rglob("manifest.json"))

    @property
    def book(self) -> Ledger:
        return ledger_at(self.locations.ledger)


@pytest.fixture
def world(tmp_path: Path, small_policy: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    return World(tmp_path, small_policy, small_people())


def id_of(written: Published) -> str:
    return str(written.manifest["facts"]["perturbed"]["release_id"])


def test_with_its_memory_the_second_release_is_refused(world: World) -> None:
    """The control: without what is tested below these two releases do not go out together."""
    world.release(WEEK[0])
    world.isolating()
    with pytest.raises(GateRefused, match="cross_release_k"):
        world.release(WEEK[1])


@pytest.mark.parametrize(
    ("lost", "partition", "to"),
    [
        (True, WEEK[1], "out"),  # the memory is gone, and another partition is asked for
        (True, WEEK[0], "elsewhere"),  # gone, and another destination
        (False, WEEK[2], "out"),  # rolled back to before the second release, and a third one is asked for
        (False, WEEK[1], "elsewhere"),
    ],
)
def test_a_memory_that_was_lost_or_rolled_back_is_noticed(
    world: World, lost: bool, partition: str, to: str
) -> None:
    people = world.people
    world.people = people if lost else people.head(120)
    world.release(WEEK[0])
    backup = world.memory.read_bytes()
    if not lost:
        world.people = people.tail(120)
        world.release(WEEK[1])
    world.isolating()
    before = world.out()
    if lost:
        shutil.rmtree(world.folder / "vault")
    else:
        world.memory.write_bytes(backup)
    lacks = "memory lacks 1 of 1" if lost else "memory lacks 1 of 2"
    with pytest.raises(InputError, match=rf"{lacks} releases of small"):
        world.release(partition, publish={"to": to})
    assert world.out() == before
    assert len([s for s in release_states(world.book.events()).values() if s.last.event == "opened"]) == 0


def test_a_withdrawn_release_must_be_known_too_and_one_of_another_name_or_dataset_need_not(
    world: World,
) -> None:
    world.book.withdraw(id_of(world.release(WEEK[0])))
    world.memory.unlink()
    shutil.rmtree(world.folder / "out")
    with pytest.raises(InputError, match="memory lacks 1 of 1"):
        world.release(WEEK[1])
    world.release(WEEK[1], name="other", publish={"to": "other"})
    world.release(WEEK[1], dataset="others")


def test_what_was_published_without_a_memory_need_not_be_known(world: World) -> None:
    world.release(WEEK[0])  # with one
    made = world.policy(record_key=None, gate={"suppression": None, "cross_release_k": None})
    make_release(made, world.locations, partition=WEEK[1])
    world.release(WEEK[2])


def test_events_of_older_ledgers_tell_by_their_making(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    add = Ledger.add

    def as_before(
        self: Ledger, page: Any, release_id: str, kind: Any, asked: Any, *rest: Any, **kw: Any
    ) -> str:
        from dataclasses import replace

        return add(
            self, page, release_id, kind, replace(asked, memory=None, partition_kind=None), *rest, **kw
        )

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "add", as_before)
        world.release(WEEK[0])
    assert {(e.memory, e.partition_kind) for e in world.book.events()} == {(None, None)}
    world.release(WEEK[1])
    shutil.rmtree(world.folder / "vault")
    with pytest.raises(InputError, match="memory lacks 2 of 2"):
        world.release(WEEK[2])


def test_a_memory_of_before_the_ids_is_known_by_its_tables(world: World) -> None:
    from anon_pipeline.stages.private import Staged
    from anon_pipeline.stages.vault_tables import read_staged, write_staged

    world.release(WEEK[0])
    archive = VaultArchive(world.policy(), world.locations)
    kept = read_staged(archive._file, vault=archive._vault())
    old = {**kept.facts["memory"], "version": 2}
    old["releases"] = [past[:2] for past in old["releases"]]
    write_staged(archive._file, Staged(kept.frame, {"memory": old}), vault=archive._vault())
    world.release(WEEK[1])


def test_a_crash_after_the_ledger_and_before_the_memory_loses_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the manifest is gone by then: the staged memory is kept because the ledger has the release."""

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(VaultArchive, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            world.release(WEEK[0])
    shutil.rmtree(world.folder / "out")
    world.isolating()
    with pytest.raises(GateRefused, match="cross_release_k"):
        world.release(WEEK[1])


def test_a_ledger_that_was_rolled_back_is_noticed_at_every_partition(world: World) -> None:
    world.release(WEEK[0])
    backup = (world.folder / "ledger.sqlite").read_bytes()
    world.release(WEEK[1])
    (world.folder / "ledger.sqlite").write_bytes(backup)
    before = world.out()
    for partition in WEEK:
        with pytest.raises(InputError, match="1 published release of small is missing from the ledger"):
            world.release(partition)
    assert world.out() == before


@pytest.mark.parametrize("keyed", [False, True])
def test_adopting_counts_what_is_out_and_lets_releases_go_on(world: World, keyed: bool) -> None:
    without = {} if keyed else {"record_key": None, "gate": {"suppression": None, "cross_release_k": None}}
    policy = world.policy(budget={"epsilon": 6}, **without)
    file = world.folder / "policy.yaml"
    attributes = policy.model_dump(mode="json", exclude_defaults=True)
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    world.people.to_csv(world.folder / "people.csv", index=False)

    def made(partition: str) -> Published:
        archive = VaultArchive(policy, world.locations) if keyed else None
        return make_release(policy, world.locations, partition=partition, archive=archive)

    first, second = made(WEEK[0]), made(WEEK[1])
    (world.folder / "ledger.sqlite").unlink()
    with pytest.raises(InputError, match=r"2 published releases .* anon-pipeline ledger adopt POLICY"):
        made(WEEK[2])
    done = CliRunner().invoke(ledger_commands, ["adopt", str(file)])
    assert done.exit_code == 0, done.output
    assert "small: releases entered: 2. They count, even beyond the budget." in done.output
    assert "releases entered: 0" in CliRunner().invoke(ledger_commands, ["adopt", str(file)]).output
    found = release_states(world.book.events())
    assert set(found) == {id_of(first), id_of(second)}
    assert {(s.name, s.last.epsilon, s.last.partition_kind) for s in found.values()} == {
        ("published, adopted", "2", "weekly")
    }
    assert {s.last.memory for s in found.values()} == {"person" if keyed else None}
    made(WEEK[2])
    with pytest.raises(GateRefused, match="spent 6, requested 2, remaining 0"):
        made("2026-01-26")


def test_what_was_published_before_the_ledger_was_turned_on_can_be_counted(world: World) -> None:
    policy = world.policy(record_key=None, gate={"suppression": None, "cross_release_k": None})
    world.people.to_csv(world.folder / "people.csv", index=False)
    off = Locations.of(world.folder, {"ANON_PIPELINE_LEDGER": "off"})
    make_release(policy, off, partition=WEEK[0])
    opened = Opened(world.book, requested_by(policy, None), world.folder / "out")
    (entered,) = adopt_releases(opened, policy, None)
    assert entered.epsilon == "2"
    assert adopt_releases(opened, policy, None) == []
    limited = world.policy(**{"record_key": None, "gate": {"suppression": None, "cross_release_k": None}},
                           budget={"epsilon": 3})  # fmt: skip
    with pytest.raises(GateRefused, match="spent 2"):
        make_release(limited, world.locations, partition=WEEK[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data_digest", "x"),
        ("policy_digest", 3),
        ("partition", "../x"),
        ("partition", 3),
        ("facts", {"perturbed": {"release_id": "CANARY"}}),
    ],
)
def test_a_forged_manifest_is_not_entered(world: World, name: str, value: object) -> None:
    written = world.release(WEEK[0])
    document = {**json.loads(written.manifest_path.read_text()), name: value}
    written.manifest_path.write_text(json.dumps(document))
    (world.folder / "ledger.sqlite").unlink()
    policy = world.policy()
    with pytest.raises(InputError):
        adopt_releases(Opened(world.book, requested_by(policy, None), world.folder / "out"), policy, None)
    assert world.book.events() == []


def test_a_memory_that_is_lost_for_good_is_given_up_loudly(world: World) -> None:
    """The ε stays spent, the ledger says so for ever, and the next memory must be kept again."""
    policy = world.policy()
    file = world.folder / "policy.yaml"
    attributes = policy.model_dump(mode="json", exclude_defaults=True)
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    world.release(WEEK[0])
    shutil.rmtree(world.folder / "vault")
    done = CliRunner().invoke(ledger_commands, ["forget", str(file)])
    assert done.output == "small: releases that the memory no longer has to contain: 1\n", done.exception
    world.isolating()
    world.release(WEEK[1])
    assert [s.name for s in release_states(world.book.events()).values()] == [
        "published",
        "forgotten",
        "published",
    ]
    shown = CliRunner().invoke(ledger_commands, ["list", "--project", str(world.folder)]).output
    assert "forgotten" in shown
    assert shown.endswith("small: ε = 4 spent, releases: 2\n")
    shutil.rmtree(world.folder / "vault")
    with pytest.raises(InputError, match="memory lacks 1 of 1"):
        world.release(WEEK[2])
    again = CliRunner().invoke(ledger_commands, ["forget", str(file), "--json"])
    assert json.loads(again.output) == {"release": "small", "releases": 1}


def test_giving_up_spends_and_frees_nothing(world: World) -> None:
    world.release(WEEK[0], budget={"epsilon": 3})
    forget_memory(world.book, requested_by(world.policy(), None))
    with pytest.raises(GateRefused, match="spent 2"):
        world.release(WEEK[1], budget={"epsilon": 3})


@pytest.mark.parametrize("facts", [3, [], {"perturbed": []}, {"perturbed": {"release_id": 3}}])
def test_a_manifest_whose_facts_are_none_names_no_release(world: World, facts: object) -> None:
    written = world.release(WEEK[0])
    document = {**json.loads(written.manifest_path.read_text()), "facts": facts}
    other = world.folder / "out" / "copy" / "manifest.json"
    other.parent.mkdir()
    other.write_text(json.dumps(document))
    world.release(WEEK[1])
