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
from anon_pipeline.ledger import Ledger, asked_by, ledger_at
from anon_pipeline.ledger.budget import states
from anon_pipeline.policy import TYPE
from anon_pipeline.policy.version_1 import digest_1
from anon_pipeline.publish.adopting import Adopted, Opened, adopted

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
        opened = Opened(self.book, asked_by(policy, None), self.places.release(policy))
        return adopted(opened, policy, None, dataset=dataset)

    def command(self, policy: Policy, *options: str) -> Any:
        file = self.folder / "policy.yaml"
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        return CliRunner().invoke(commands, ["adopt", str(file), *options])

    def datasets(self) -> list[str]:
        return [state.last.dataset for state in states(self.book.events()).values()]


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
