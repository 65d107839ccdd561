"""What a sticky release is booked with: what changed, and never less than what it spends."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline import GateRefused, InputError, Locations, Policy, make_release
from anon_pipeline.cli.ledgering import ledger as ledger_commands
from anon_pipeline.cli.releasing import run as run_command
from anon_pipeline.ledger import Ledger, ledger_at, requested_by
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.chain import Event
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import TYPE
from anon_pipeline.publish import Published, publish, release
from anon_pipeline.publish.accounting.adopt import Opened, adopt_releases
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.accounting.booking import booking, epsilon_in
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.private import STAGES, Chain, Means
from tests.acknowledging import acknowledged
from tests.forked import killed
from tests.projects import restore_or_make

Make = Callable[..., Any]
HEIGHT = {"sensitivity": "declared", "input_bounds": [145, 195]}
INCOME = {
    "role": "perturb",
    "resolution": 1000,
    "weight": 2,
    "distance": None,
    "sensitivity": "declared",
    "input_bounds": [20_000, 90_000],
}
KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "columns": {"height": HEIGHT},
    "perturb": {"republish": "sticky"},
    "suppress": None,
    "gate": {"suppression": None},
}
TWO = {"columns": {"height": HEIGHT, "income": INCOME}}
"""A second perturb column: of ε = 2, height has 2/3 and income 4/3."""
WEEKS = "people-{partition}.csv"


class World:
    """A project on disk whose sticky release is made again and again."""

    def __init__(self, folder: Path, kept: Path, policies: Make, people: pd.DataFrame) -> None:
        self.folder, self.kept, self.policies, self.people = folder, kept, policies, people
        self.locations = Locations.of(folder, {})

    def policy(self, **changes: Any) -> Policy:
        made: Policy = self.policies(**{**KEEPS, **changes})
        return made

    def archive(self, policy: Policy) -> VaultArchive:
        return VaultArchive(policy, self.locations)

    def facts(self) -> dict[str, Any]:
        """Return all facts of the last release, from the vault."""
        told = measured_of(self.policy(), self.locations, None).read()
        found: dict[str, Any] = told["facts"]
        return found

    def changed(self, **columns: Any) -> None:
        """Change the first record."""
        self.people = self.people.copy()
        for name, value in columns.items():
            self.people.loc[0, name] = value

    def release(self, policy: Policy, partition: str | None = None, **off: str) -> Published:
        self.people.to_csv(self.folder / "people.csv", index=False)
        places = replace(self.locations, **off) if off else self.locations
        return make_release(policy, places, partition=partition, archive=self.archive(policy))

    def begin(self, policy: Policy, **off: str) -> None:
        """Publish the first release: made once for a policy and its people, then put back byte by byte."""
        said = f"{policy.model_dump_json()}{off}{self.people.to_csv()}"
        self.folder = self.kept / hashlib.sha256(said.encode()).hexdigest()
        self.locations = Locations.of(self.folder, {})
        restore_or_make(self.folder, lambda: self.release(policy, **off))

    def drawn(self, policy: Policy, **off: str) -> Chain:
        """Go all the way to where a release could be published."""
        places = replace(self.locations, **off) if off else self.locations
        booked, archive = booking(policy, places), self.archive(policy)
        with archive.alone():
            memory = booked.only_booked(archive.read(None))
        key = hashing_key(policy, folder=places.sources)
        opened = Opening(booked, draws_of(policy, places, None))
        means = Means(places.hierarchies, key, system_entropy(), opens=opened, memory=memory)
        return pipeline.run(policy, self.people, means)

    def publish(self, policy: Policy, chain: Chain, **said: Any) -> Published:
        """Publish what was drawn, with other facts if wanted."""
        facts = {stage: dict(values) for stage, values in chain.suppressed.facts.items()}
        if "epsilon_spent" in said:
            composed = facts["perturbed"]["composition"]
            facts["perturbed"]["composition"] = {**composed, "epsilon_spent": said.pop("epsilon_spent")}
        facts["perturbed"].update(said)
        return publish(
            replace(chain.suppressed, facts=facts),
            chain.k_anonymized.frame,
            policy,
            locations=self.locations,
            archive=self.archive(policy),
        )

    @property
    def book(self) -> Ledger:
        return ledger_at(self.locations.ledger)

    def rows(self) -> list[tuple[str, str]]:
        """The state of each release and what it is booked with, in the order of opening."""
        return [
            (state.last.event, state.last.epsilon) for state in release_states(self.book.events()).values()
        ]

    def booked(self) -> list[str]:
        return [epsilon for event, epsilon in self.rows() if event in {"published", "opened"}]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for projects with a first release."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def world(
    tmp_path: Path, kept: Path, small_policy: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch
) -> World:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    return World(tmp_path, kept, small_policy, small_people())


def composition(world: World) -> dict[str, Any]:
    """Return what the last release says of those before it: to the curator, all of it."""
    found: dict[str, Any] = world.facts()["perturbed"]["composition"]
    return found


def kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_nothing_changed_passes_a_budget_that_is_exhausted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = world.policy(budget={"epsilon": 2})
    world.begin(policy)
    for _ in range(3):
        world.release(policy)
    assert world.rows() == [("published", "2")] + [("published", "0")] * 3
    world.changed(height=150)

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("anon_pipeline.encode.noise.add_noise", drawn)
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 0"):
        world.release(policy)
    assert len(world.rows()) == 4


@pytest.mark.parametrize(
    ("change", "share"),
    [
        ({}, "0"),
        ({"height": 150}, "2/3"),
        ({"income": 90_000}, "4/3"),
        ({"height": 150, "income": 90_000}, "2"),
        ({"person": "a new one"}, "2"),
        ({"age": 79, "city": "Galway"}, "0"),  # another class
        ({"note": "changed", "illness": "flu"}, "0"),
    ],
)
def test_what_changed_books_its_share(world: World, change: dict[str, Any], share: str) -> None:
    policy = world.policy(**TWO)
    world.changed(age=20, city="Cork", illness="none")
    world.begin(policy)
    world.changed(**change)
    world.release(policy)
    assert world.booked() == ["2", share]
    assert composition(world)["epsilon_spent"] == share
    assert composition(world)["values_drawn"] == {"0": 0, "2/3": 1, "4/3": 1, "2": 2}[share]


def test_two_records_that_change_cost_what_the_dearer_one_does(world: World) -> None:
    policy = world.policy(**TWO)
    world.begin(policy)
    world.changed(height=150)
    world.people.loc[1, "income"] = 90_000
    world.release(policy)
    assert world.booked() == ["2", "4/3"]


def test_thirds_are_added_without_rounding(world: World) -> None:
    policy = world.policy(**TWO, budget={"epsilon": 4})
    world.begin(policy)
    for height in (150, 151, 152):
        world.changed(height=height)
        world.release(policy)
    assert sum(map(Fraction, world.booked())) == 4
    world.changed(height=153)
    with pytest.raises(GateRefused, match="spent 4, requested 2/3, remaining 0"):
        world.release(policy)
    shown = CliRunner().invoke(ledger_commands, ["list", "--project", str(world.folder)])
    assert shown.output.endswith("small: ε = 4 spent, releases: 4\n"), shown.output


@pytest.mark.parametrize(
    "other",
    [{"perturb": {"republish": "fresh"}}, {"perturb": {"republish": "sticky", "epsilon": 2.5}}],
    ids=["fresh", "other terms"],
)
def test_fresh_noise_books_the_whole(world: World, other: dict[str, Any]) -> None:
    world.begin(world.policy())
    world.release(world.policy(**other))
    epsilon = str(other["perturb"].get("epsilon", 2))
    assert world.booked() == ["2", epsilon]
    world.release(world.policy())
    assert world.booked()[2:] == ["0"]  # noise of these terms is out


def test_without_perturb_columns_nothing_is_booked(world: World) -> None:
    world.release(
        world.policy(
            perturb=None,
            columns={"height": {"role": "insensitive", "unit": None, "resolution": None}},
            acknowledged=acknowledged("height", "note", share=0.5),
            gate={"attacks": {"known_columns": [{"columns": ["height"], "risk": 1}]}},
        )
    )
    assert world.booked() == ["0"]


def test_who_was_left_out_by_confidence_is_drawn_and_booked_again(world: World) -> None:
    policy = world.policy(suppress={"confidence": 0.3})
    world.release(policy)
    left_out = world.facts()["suppressed"]["suppressed_unconfident"]
    assert left_out > 0
    world.release(policy)
    assert composition(world)["values_drawn"] >= left_out
    assert world.booked() == ["2", "2"]


# What was published but is booked nowhere is booked when it is published again.


def test_what_was_published_without_a_ledger_is_booked_when_it_is_re_used(world: World) -> None:
    policy = world.policy()
    world.begin(policy, ledger="off")
    world.release(policy)
    assert composition(world)["values_drawn"] == 0
    assert composition(world)["epsilon_spent"] == "2"
    world.release(policy)
    assert world.booked() == ["2", "0"]


def test_what_another_ledger_has_booked_is_booked_when_it_is_re_used(world: World) -> None:
    policy = world.policy(budget={"epsilon": 2})
    first = world.release(policy)
    (world.folder / "ledger.sqlite").unlink()
    with pytest.raises(InputError, match="1 published release of small is missing from the ledger"):
        world.release(policy)
    (world.folder / "out" / "manifest.json").rename(world.folder / "away.json")
    with pytest.raises(
        InputError, match="1 published release of small is missing"
    ):  # the memory names it, too
        world.release(policy)
    (world.folder / "away.json").rename(world.folder / "out" / "manifest.json")
    opened = Opened(world.book, requested_by(policy, None), world.folder / "out")
    entered = adopt_releases(opened, policy, world.archive(policy).read_kept())
    assert [(a.release_id, a.epsilon) for a in entered] == [
        (first.manifest["facts"]["perturbed"]["release_id"], "2")
    ]
    assert adopt_releases(opened, policy, world.archive(policy).read_kept()) == []
    world.release(policy)
    assert world.booked() == ["2", "0"]


def test_what_was_published_for_another_dataset_is_booked_when_it_is_re_used(world: World) -> None:
    world.release(world.policy(dataset="one"))
    for _ in range(2):
        world.release(world.policy(dataset="two"))
    assert world.booked() == ["2", "2", "0"]


def test_each_partition_of_a_budget_per_record_books_its_own(world: World) -> None:
    weekly = {"schedule": {"cron": "0 3 * * 1", "partitions": "weekly"}, "source": {"path": WEEKS}}
    policy = world.policy(budget={"epsilon": 2, "per": "record"}, **weekly)
    for week in ("2026-01-05", "2026-01-12", "2026-01-12"):
        mixed = world.people.sample(frac=1, random_state=int(week[-2:]))  # one file for two is refused
        mixed.to_csv(world.folder / WEEKS.replace("{partition}", week), index=False)
        world.release(policy, week)
    assert world.booked() == ["2", "2", "0"]
    together = world.policy(budget={"epsilon": 4, "per": "dataset"}, schedule=weekly["schedule"])
    world.release(together, "2026-01-19")
    assert world.booked()[3:] == ["0"]


def test_a_withdrawn_release_was_seen_so_its_noise_is_free(world: World) -> None:
    policy = world.policy(budget={"epsilon": 2})
    world.begin(policy)
    world.book.withdraw(world.book.events()[0].release_id)
    world.release(policy)
    assert world.rows() == [("withdrawn", "2"), ("published", "0")]


# Crashes, retries, other runs in between.


def test_killed_between_rename_and_close(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = world.policy(budget={"epsilon": 2})
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "enter_published", kill)
        assert killed(lambda: world.release(policy))
    assert world.rows() == [("opened", "2")]
    world.release(policy)
    assert world.rows() == [("published", "2"), ("published", "0")]


def test_killed_before_the_rename_the_next_run_uses_its_draw(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = world.policy()
    with monkeypatch.context() as patch:
        patch.setattr(release, "write_release", kill)
        assert killed(lambda: world.release(policy))
    world.release(policy)
    assert composition(world)["values_reused"] == 0
    assert world.rows() == [("published", "2")]


def test_noise_of_which_nobody_knows_whether_it_was_published_is_booked_when_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, and the destination moved: the memory takes it for published, the ledger does not."""
    policy = world.policy()
    world.begin(policy)
    world.people["height"] += 1
    with monkeypatch.context() as patch:
        patch.setattr(release, "write_release", kill)
        assert killed(lambda: world.release(policy))
    (world.folder / "out").rename(world.folder / "away")
    unwritten = list(release_states(world.book.events()))[1]
    assert world.book.enter_failed(unwritten, begun=True)
    world.release(policy)
    assert composition(world)["values_drawn"] == 0
    assert world.rows() == [("published", "2"), ("failed", "2"), ("published", "2")]
    world.release(policy)
    assert world.booked() == ["2", "2", "0"]


def test_a_release_that_another_draw_has_overtaken_is_refused_and_stays_spent(world: World) -> None:
    policy = world.policy(budget={"epsilon": 4})
    late = world.drawn(policy)
    world.release(world.policy(budget={"epsilon": 5}))
    with pytest.raises(GateRefused, match="materialize perturbed again"):
        world.publish(policy, late)
    assert world.rows() == [("failed", "2"), ("published", "2")]


def test_what_stays_can_be_published_whoever_published_in_between(world: World) -> None:
    policy = world.policy(budget={"epsilon": 4})
    world.begin(policy)
    late = world.drawn(policy)
    before = world.people
    world.changed(height=150)
    world.release(policy)
    world.people = before
    world.publish(policy, late)
    assert world.rows() == [("published", "2"), ("published", "0"), ("published", "2")]


def test_a_failed_sticky_release_is_published_after_all_at_the_same_price(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = world.policy(budget={"epsilon": 2})
    chain = world.drawn(policy)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("anon_pipeline.publish.writer.replace_file", full)
        with pytest.raises(Exception, match="No space"):
            world.publish(policy, chain)
    assert world.rows() == [("failed", "2")]
    for _ in range(2):
        world.publish(policy, chain)
    assert world.rows() == [("published", "2")]


# The facts and the ledger's row must agree.


def test_facts_that_say_less_than_is_spent_are_refused(world: World) -> None:
    policy = world.policy()
    chain = world.drawn(policy)
    with pytest.raises(GateRefused, match="spends ε = 2, and was opened with 0"):
        world.publish(policy, chain, epsilon_spent="0")
    assert world.rows() == [("failed", "2")]
    world.publish(policy, chain)


@pytest.mark.parametrize("said", ["0", "1"])
def test_facts_that_say_otherwise_than_the_row_are_refused(world: World, said: str) -> None:
    policy = world.policy()
    world.begin(policy, ledger="off")
    chain = world.drawn(policy)  # re-uses all, and books it
    with pytest.raises(GateRefused, match="opened in the ledger with another epsilon"):
        world.publish(policy, chain, epsilon_spent=said)


def test_less_than_the_whole_must_have_been_opened_here(world: World) -> None:
    policy = world.policy()
    world.begin(policy, ledger="off")
    chain = world.drawn(policy, ledger="off")
    assert chain.suppressed.facts["perturbed"]["composition"]["epsilon_spent"] == "0"
    with pytest.raises(GateRefused, match="0 of 2, and this ledger has not opened it"):
        world.publish(policy, chain)
    assert world.rows() == []


@pytest.mark.parametrize("said", [None, 0, "", "-1", "1/0", "3", "nan", "1e9", "CANARY"])
def test_facts_that_do_not_say_are_refused(world: World, said: object) -> None:
    policy = world.policy()
    chain = world.drawn(policy)
    with pytest.raises(InputError, match="what that stage writes; these are not: composition") as refused:
        world.publish(policy, chain, epsilon_spent=said)
    assert "CANARY" not in str(refused.value)
    facts = {"perturbed": {"composition": {"epsilon_spent": said}}}
    with pytest.raises(InputError, match="must say what ε it spends") as refused:
        epsilon_in(policy, facts)
    assert "CANARY" not in str(refused.value)


# The other doors.


def test_on_the_command_line(world: World) -> None:
    attributes = world.policy(budget={"epsilon": 2}).model_dump(mode="json", exclude_defaults=True)
    file = world.folder / "policy.yaml"
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    for _ in range(3):
        world.people.to_csv(world.folder / "people.csv", index=False)
        done = CliRunner().invoke(run_command, [str(file)])
        assert done.exit_code == 0, done.output
    world.changed(height=150)
    world.people.to_csv(world.folder / "people.csv", index=False)
    done = CliRunner().invoke(run_command, [str(file)])
    assert isinstance(done.exception, GateRefused)
    assert "spent 2, requested 2, remaining 0" in str(done.exception)
    assert world.booked() == ["2", "0", "0"]
    shown = CliRunner().invoke(ledger_commands, ["list", "--project", str(world.folder)])
    assert shown.output.endswith("small: ε = 2 spent, releases: 3\n"), shown.output


def entered(folder: Path) -> list[Event]:
    return ledger_at(f"sqlite:///{folder}/ledger.sqlite").events()


def test_in_dagster(project: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made = project(**KEEPS, budget={"epsilon": 2})
    for _ in range(2):
        assert made.run("small_release").success
    assert made.materialize("published", checks=False).success  # the same noise again
    found = release_states(entered(made.folder)).values()
    assert [(state.last.event, state.last.epsilon) for state in found] == [
        ("published", "2"),
        ("published", "0"),
    ]
    small_people().assign(height=150).to_csv(made.folder / "people.csv", index=False)
    before = (made.folder / "vault" / "small" / "perturbed.parquet").read_bytes()
    assert made.materialize("raw", "deidentified", "k_anonymized").success
    result = made.materialize("perturbed")
    messages = "".join(e.step_failure_data.error.message for e in result.all_events if e.is_step_failure)
    assert "spent 2, requested 2, remaining 0" in messages
    assert (made.folder / "vault" / "small" / "perturbed.parquet").read_bytes() == before


def test_a_stage_that_runs_again_in_dagster_books_nothing_more(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made = project(**KEEPS)
    assert made.materialize(*STAGES).success
    assert made.materialize("perturbed", "shuffled", "suppressed").success
    assert [state.last.epsilon for state in release_states(entered(made.folder)).values()] == ["2"]
    assert made.run("small_release").success
    assert made.materialize("perturbed").success
    assert [event.epsilon for event in entered(made.folder) if event.event == "opened"][-1] == "0"


def test_dagster_too_books_what_is_booked_nowhere(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    assert project(**KEEPS, dataset="one").run("small_release").success
    made = project(**KEEPS, dataset="two")
    for _ in range(2):
        assert made.run("small_release").success
    found = release_states(entered(made.folder)).values()
    assert [(state.last.dataset, state.last.epsilon) for state in found] == [
        ("one", "2"),
        ("two", "2"),
        ("two", "0"),
    ]
