"""Adopting enters ε for the dataset that it was spent on: what may be another is refused or confirmed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline import InputError, Locations, Policy, make_release
from anon_pipeline.cli.ledgering import ledger as commands
from anon_pipeline.ledger import Ledger, ledger_at, requested_by
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.policy import TYPE
from anon_pipeline.policy.version_1 import digest_1
from anon_pipeline.publish import Published
from anon_pipeline.publish.accounting.adopt import Adopted, Opened, adopt_releases
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged

Small = Callable[..., Policy]


class World:
    """A project whose ledger is lost, with two partitions that are out."""

    def __init__(self, folder: Path, policies: Small, people: pd.DataFrame) -> None:
        people.to_csv(folder / "people.csv", index=False)
        self.folder, self.policies, self.places = folder, policies, Locations.of(folder, {})
        self.ids = list[str]()

    @property
    def book(self) -> Ledger:
        return ledger_at(self.places.ledger)

    def release(self, policy: Policy, *partitions: str) -> None:
        for partition in partitions:
            made = make_release(policy, self.places, partition=partition)
            self.ids.append(made.manifest["facts"]["perturbed"]["release_id"])

    def lose_ledger(self) -> None:
        (self.folder / "ledger.sqlite").unlink()

    def adopt(self, policy: Policy, dataset: str | None = None) -> list[Adopted]:
        opened = Opened(self.book, requested_by(policy, None), self.places.release(policy))
        return adopt_releases(opened, policy, None, dataset=dataset)

    def command(self, policy: Policy, *options: str) -> Any:
        file = self.folder / "policy.yaml"
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        return CliRunner().invoke(commands, ["adopt", str(file), *options])

    def datasets(self) -> list[str]:
        return [state.last.dataset for state in release_states(self.book.events()).values()]


@pytest.fixture
def world(tmp_path: Path, small_policy: Small, small_people: Callable[..., pd.DataFrame]) -> World:
    return World(tmp_path, small_policy, small_people())


def test_releases_of_another_dataset_are_not_entered_under_this_one(world: World) -> None:
    """Else their ε is gone from the budget that it belongs to, and that dataset can be published anew."""
    one, two = world.policies(dataset="one"), world.policies(dataset="two")
    world.release(one, "w1", "w2")
    world.lose_ledger()
    with pytest.raises(InputError) as refused:
        world.adopt(two)
    assert all(release_id in str(refused.value) for release_id in world.ids)
    assert "--dataset two" in str(refused.value)
    assert world.book.events() == []
    assert [entered.release_id for entered in world.adopt(one)] == world.ids
    assert world.datasets() == ["one", "one"]


def test_what_the_ledger_has_under_another_dataset_stops_the_rest(world: World) -> None:
    one = world.policies(dataset="one")
    world.release(one, "w1")
    before = (world.folder / "ledger.sqlite").read_bytes()
    world.release(one, "w2")
    (world.folder / "ledger.sqlite").write_bytes(before)
    before_events = world.book.events()
    with pytest.raises(InputError, match=rf"{world.ids[0]} \(in the ledger, of one\)") as refused:
        world.adopt(world.policies(dataset="two"))
    assert world.ids[1] in str(refused.value)  # all of them at once
    assert world.book.events() == before_events
    assert [entered.release_id for entered in world.adopt(one)] == world.ids[1:]


def test_a_dataset_that_is_confirmed_counts(world: World) -> None:
    """The policy has changed since, in another section, and somebody knows whose data it was."""
    world.release(world.policies(), "w1")
    world.lose_ledger()
    changed = world.policies(gate={"k": 4})
    refused = world.command(changed)
    assert isinstance(refused.exception, InputError)
    assert "--dataset small" in str(refused.exception)
    wrong = world.command(changed, "--dataset", "other")
    assert isinstance(wrong.exception, InputError)
    assert "--dataset must be the policy's dataset small, got other" in str(wrong.exception)
    assert world.book.events() == []
    done = world.command(changed, "--dataset", "small")
    assert done.exit_code == 0, done.output
    assert world.datasets() == ["small"]


def test_a_manifest_of_version_1_names_the_policy_by_the_digest_of_then(world: World) -> None:
    policy = world.policies()
    world.release(policy, "w1")
    world.lose_ledger()
    path = world.places.release(policy, "w1") / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "manifest_version": 1, "policy_digest": digest_1(policy)}))
    assert [entered.release_id for entered in world.adopt(policy)] == world.ids


class Keeping(World):
    """A project with a memory, whose releases are given away from their destination."""

    def make(self, epsilon: float) -> Published:
        policy = self.keeping(epsilon)
        return make_release(policy, self.places, archive=VaultArchive(policy, self.places))

    def adopt_remembered(self, policy: Policy, *options: str, older: bool = False) -> Any:
        """Run `ledger adopt` where only the memory knows the releases, in its form of 0.1.0 if wanted."""
        self.lose_ledger()
        for path in (self.folder / "out").rglob("manifest.json"):
            path.unlink()
        if older:
            archive = VaultArchive(policy, self.places)
            path, vault = archive._file, archive._vault()
            kept = read_staged(path, vault=vault)
            facts = kept.facts["memory"]
            releases = [release[:3] for release in facts["releases"]]
            past = {"version": 3, "key": facts["key"], "releases": releases}
            write_staged(path, Staged(kept.frame, {"memory": past}), vault=vault)
        return self.command(policy, "--dataset", "small", *options)

    def spent(self) -> list[str]:
        return [state.last.epsilon for state in release_states(self.book.events()).values()]

    def keeping(self, epsilon: float) -> Policy:
        return self.policies(
            record_key="person", deidentify={"key_env": "ADOPTING_KEY"}, perturb={"epsilon": epsilon}
        )


@pytest.fixture
def keeping(
    tmp_path: Path,
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> Keeping:
    monkeypatch.setenv("ADOPTING_KEY", "k" * 32)
    return Keeping(tmp_path, small_policy, small_people())


def test_a_release_that_only_the_memory_knows_counts_with_its_own_epsilon(keeping: Keeping) -> None:
    """Else whoever lowers ε in the policy and loses the ledger gets the difference back."""
    for epsilon in (8, 0.5):
        keeping.make(epsilon)
    done = keeping.adopt_remembered(keeping.keeping(1))
    assert done.exit_code == 0, done.output
    assert keeping.spent() == ["8", "1"]  # never less than the policy's of now


def test_a_manifest_that_states_less_than_the_memory_does_not_count(keeping: Keeping) -> None:
    made = keeping.make(8)
    document = json.loads(made.manifest_path.read_text())
    made.manifest_path.write_text(json.dumps({**document, "epsilon": 0.5}))
    keeping.lose_ledger()
    done = keeping.command(keeping.keeping(0.5), "--dataset", "small")
    assert done.exit_code == 0, done.output
    assert keeping.spent() == ["8"]


def test_an_epsilon_that_an_older_memory_does_not_tell_must_be_said(keeping: Keeping) -> None:
    for epsilon in (8, 0.5):
        keeping.make(epsilon)
    refused = keeping.adopt_remembered(keeping.keeping(1), older=True)
    assert isinstance(refused.exception, InputError)
    assert "got 2 of 2 releases whose ε is not" in str(refused.exception)
    assert "--epsilon E" in str(refused.exception)
    assert keeping.book.events() == []
    wrong = keeping.command(keeping.keeping(1), "--dataset", "small", "--epsilon", "inf")
    assert isinstance(wrong.exception, InputError)
    assert keeping.book.events() == []
    done = keeping.command(keeping.keeping(1), "--dataset", "small", "--epsilon", "8")
    assert done.exit_code == 0, done.output
    assert keeping.spent() == ["8", "8"]
    again = keeping.command(keeping.keeping(1), "--dataset", "small")  # the ledger knows them now
    assert again.exit_code == 0, again.output
    assert keeping.spent() == ["8", "8"]


def test_an_epsilon_that_is_told_need_not_be_said(keeping: Keeping) -> None:
    keeping.make(8)
    done = keeping.adopt_remembered(keeping.keeping(1), "--epsilon", "9")
    assert done.exit_code == 0, done.output
    assert keeping.spent() == ["8"]
