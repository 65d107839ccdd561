"""A vault that two projects, or two ledgers, share: nobody's paid draws are destroyed or drawn anew."""

from __future__ import annotations

import base64
import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline import Locations, make_release
from anon_pipeline.base.errors import GateRefused, InputError, PolicyError
from anon_pipeline.cli.ledgering import ledger as ledger_commands
from anon_pipeline.cli.vaulting import vault as vault_commands
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.publish import whole_chain as release_room
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.draws import drawing
from anon_pipeline.publish.draws.draw_keys import Draw, destroy_draw_key, draws_of
from anon_pipeline.vault.artifacts import Vault, rotate, survey
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.identity import PIN
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.names import OWN
from tests.forked import killed
from tests.publish.worlds import REFUSED, World

Small = Callable[..., Policy]
Noise = list[dict[str, float]]
KEY = base64.b64encode(bytes(range(32))).decode()


class Project:
    """A project whose vault is elsewhere, and the noise of each of its runs, by record."""

    def __init__(self, folder: Path, vault: Path, people: pd.DataFrame, noise: Noise) -> None:
        folder.mkdir()
        people.to_csv(folder / "people.csv", index=False)
        self.folder, self.noise = folder, noise
        self.places = Locations.of(folder, {"ANON_PIPELINE_VAULT": str(vault)})

    def with_ledger(self, name: str) -> Project:
        """Return the same project with another ledger, or none (off)."""
        other = object.__new__(Project)
        other.folder, other.noise = self.folder, self.noise
        url = name if name == "off" else f"sqlite:///{self.folder}/{name}"
        other.places = replace(self.places, ledger=url)
        return other

    def run(self, policy: Policy, **options: Any) -> bool:
        try:
            make_release(policy, self.places, **options)
        except GateRefused:
            return False
        return True

    def killed(self, policy: Policy) -> None:
        """Run in a child process that kills itself on the way."""
        assert killed(lambda: self.run(policy))

    @property
    def book(self) -> Ledger:
        return ledger_at(self.places.ledger)

    @property
    def states(self) -> dict[str, State]:
        return release_states(self.book.events())

    @property
    def sealed(self) -> set[str]:
        return {path.stem for path in self.places.vault.rglob("*.draw")}


@pytest.fixture
def project(
    tmp_path: Path,
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    traced: None,
) -> Callable[[str], Project]:
    people = small_people()
    people["note"] = [f"n{i}" for i in range(len(people))]
    run, noise = release_room.run, list[dict[str, float]]()

    def noted(*given: Any, **named: Any) -> Any:
        chain = run(*given, **named)
        released = chain.suppressed.frame
        noise.append(dict(zip(released["note"], released["height"], strict=True)))
        return chain

    monkeypatch.setattr(release_room, "run", noted)
    return lambda name: Project(tmp_path / name, tmp_path / "vault", people, noise)


@pytest.fixture(params=["plain", "encrypted"])
def encrypted(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "encrypted":
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", KEY)
    return bool(request.param == "encrypted")


@pytest.mark.usefixtures("encrypted")
def test_a_second_project_is_refused_and_leaves_the_draws_of_the_first(
    project: Callable[[str], Project], small_policy: Small
) -> None:
    first, second = project("first"), project("second")
    assert not first.run(small_policy(**REFUSED, budget={"epsilon": 2}))
    draws = first.sealed
    assert len(draws) == 1
    (second.folder / PIN).write_text(f"{'b' * 32}\n")
    with pytest.raises(InputError, match="the vault belongs to another project"):
        second.run(small_policy(**REFUSED))
    assert first.sealed == draws
    assert second.book.events() == []
    assert len(second.noise) == 1
    assert not first.run(small_policy(**REFUSED, budget={"epsilon": 2}))
    assert first.noise[0] == first.noise[1]


def test_a_policy_without_noise_does_not_ask_whose_vault_it_is(
    project: Callable[[str], Project], small_policy: Small
) -> None:
    made = project("first")
    plain = small_policy(
        perturb=None,
        suppress=None,
        columns={"height": {"role": "sensitive", "unit": None, "resolution": None}},
    )
    assert made.run(plain)
    assert not (made.folder / PIN).exists()
    kept = [path for path in made.places.vault.rglob("*") if path.is_file()]
    assert {path.name for path in kept} == {".gitignore", "gate.json"}


def test_a_memory_is_asked_whose_it_is(project: Callable[[str], Project], small_policy: Small) -> None:
    first, second = project("first"), project("second")
    keyed = small_policy(
        record_key="person",
        columns={"person": {"role": "identifier", "action": "drop"}},
        deidentify={"key_file": "key"},
    )
    for made in (first, second):
        (made.folder / "key").write_bytes(bytes(range(32)))
    with VaultArchive(keyed, first.places).alone():
        pass
    (second.folder / PIN).write_text(f"{'b' * 32}\n")
    archive = VaultArchive(keyed, second.places)
    with pytest.raises(InputError, match="belongs to another project"), archive.alone():
        pass
    file = second.folder / "policy.yaml"
    attributes = keyed.model_dump(mode="json", exclude_defaults=True)
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    done = CliRunner().invoke(
        ledger_commands, ["adopt", str(file)], env={"ANON_PIPELINE_VAULT": str(second.places.vault)}
    )
    assert "belongs to another project" in str(done.exception)


@pytest.mark.parametrize("command", [["rotate"], ["purge", "--older-than", "0"]])
def test_commands_do_not_change_the_vault_of_another_project(
    project: Callable[[str], Project], small_policy: Small, command: list[str]
) -> None:
    first, second = project("first"), project("second")
    assert not first.run(small_policy(**REFUSED))
    draws = first.sealed
    (second.folder / PIN).write_text(f"{'b' * 32}\n")
    env = {"ANON_PIPELINE_VAULT": str(first.places.vault), "ANON_PIPELINE_VAULT_KEY": KEY}
    done = CliRunner().invoke(vault_commands, [*command, "--project", str(second.folder)], env=env)
    assert "belongs to another project" in str(done.exception)
    assert first.sealed == draws
    place = ["--vault", str(first.places.vault)]
    done = CliRunner().invoke(vault_commands, [*command, *place, "--project", str(second.folder)], env=env)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("same", [True, False])
def test_another_ledger_leaves_paid_draws_and_books_the_same_noise_if_it_may(
    project: Callable[[str], Project], small_policy: Small, encrypted: bool, *, same: bool
) -> None:
    one = project("first")
    two = one.with_ledger("two.sqlite")
    policy = small_policy(**REFUSED, budget={"epsilon": 2})
    assert not one.run(policy)
    draws = one.sealed
    assert not two.run(policy if same else small_policy(gate={"attacks": {"prosecutor_risk": 0.002}}))
    assert draws <= one.sealed
    adopted = encrypted and same
    assert (set(two.states) == draws) is adopted
    assert (one.noise[0] == one.noise[1]) is adopted
    assert [state.counts for state in two.states.values()] == [True]
    assert not one.run(policy)  # paid for, and still there
    assert one.noise[0] == one.noise[2]
    assert len(one.states) == 1


def test_a_ledger_that_was_rolled_back_books_the_noise_that_was_seen(
    project: Callable[[str], Project], small_policy: Small, encrypted: bool
) -> None:
    """Else a refused release is drawn anew for each backup that is put back."""
    made, policy = project("first"), small_policy(**REFUSED, budget={"epsilon": 2})
    assert made.book.events() == []
    empty = (made.folder / "ledger.sqlite").read_bytes()
    for _ in range(3):
        (made.folder / "ledger.sqlite").write_bytes(empty)
        assert not made.run(policy)
        assert [(state.name, state.counts) for state in made.states.values()] == [("failed", True)]
    assert len({tuple(sorted(noise.items())) for noise in made.noise}) == (1 if encrypted else 3)


def test_a_ledger_that_is_turned_on_books_the_noise_that_was_seen(
    project: Callable[[str], Project], small_policy: Small, encrypted: bool
) -> None:
    made, policy = project("first"), small_policy(**REFUSED)
    assert not made.with_ledger("off").run(policy)
    draws = made.sealed
    assert not made.run(policy)
    assert (made.noise[0] == made.noise[1]) is encrypted
    assert (set(made.states) == draws) is encrypted
    assert draws <= made.sealed


def test_a_crash_between_sealing_and_booking_costs_once(
    project: Callable[[str], Project],
    small_policy: Small,
    encrypted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, policy = project("first"), small_policy(budget={"epsilon": 2})
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "open", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        made.killed(policy)
    (left,) = made.sealed
    assert made.run(policy)
    assert (set(made.states) == {left}) is encrypted
    assert [event.event for event in made.book.events()] == ["drawn", "opened", "opened", "published"]
    assert made.sealed == set()


def test_a_run_that_is_stopped_after_booking_keeps_its_key(
    project: Callable[[str], Project], small_policy: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ε is spent: without the key it would be spent for nothing."""
    made, policy = project("first"), small_policy(budget={"epsilon": 2})
    book = Ledger.open

    def stopped(self: Ledger, *given: Any, **named: Any) -> str:
        book(self, *given, **named)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "open", stopped)
        with pytest.raises(KeyboardInterrupt):
            made.run(policy)
    assert made.sealed == set(made.states)
    assert made.run(policy)
    assert len(made.states) == 1


@pytest.mark.parametrize("name", ["project", "sealed", "encrypting", "project_id"])
def test_no_release_has_the_name_of_one_of_the_files_of_the_vault(
    project: Callable[[str], Project], small_policy: Small, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A release has a folder of its name there: one named `project` could not be made in Dagster."""
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", KEY)
    assert not project("first").run(small_policy(name=name, **REFUSED))
    for own in OWN:
        with pytest.raises(PolicyError, match="name: must be letters, digits and underscores"):
            small_policy(name=own)


"""A limit that the gate judges after the noise, and that these people never keep."""


def test_names_of_draws_and_what_they_bind_carry_no_data(world: World) -> None:
    world.people.loc[0, ["note", "illness"]] = "CANARY-7f3a"
    assert not world.run(world.policy(**REFUSED), partition="w1")
    (sealed,) = world.sealed
    assert sealed.parent == world.folder / "vault" / "small" / "draws" / "w1"
    assert b"CANARY" not in sealed.read_bytes()
    document = json.loads(sealed.read_bytes())
    assert set(document) == {"version", "id", "release", "partition", "binding", "key"}
    commitment = world.book.events()[0].data_digest
    key = NoiseKey(bytes.fromhex(document["key"]), seeded=False)
    assert commitment == Draw(document["id"], document["binding"], key).commitment
    assert document["key"] not in repr(Draw(document["id"], document["binding"], key))


def forged(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, **changes}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "00" * 32}, "must be the one that the ledger has booked"),
        ({"key": "00" * 31}, "changed or exchanged"),
        ({"key": None}, "changed or exchanged"),
        ({"id": "0" * 32}, "changed or exchanged"),
        ({"release": "other"}, "changed or exchanged"),
        ({"partition": "w1"}, "changed or exchanged"),
        ({"version": 2}, "changed or exchanged"),
    ],
)
def test_a_draw_that_was_tampered_with_is_refused(world: World, change: dict[str, Any], message: str) -> None:
    """Also where the vault is not encrypted: the ledger knows which key it has booked."""
    policy = world.policy(**REFUSED)
    assert not world.run(policy)
    forged(world.sealed[0], **change)
    with pytest.raises(InputError, match=message) as refused:
        world.run(policy)
    assert "00000000" not in str(refused.value).replace(world.ids[0], "")
    assert len(world.noise) == 1


def test_a_foreign_draw_that_was_planted_is_never_used(world: World) -> None:
    """Somebody who can write to the vault, and knows the binding, puts a key of theirs there."""
    policy = world.policy(**REFUSED)
    assert not world.run(policy)
    (sealed,) = world.sealed
    document = json.loads(sealed.read_bytes())
    sealed.unlink()
    planted = sealed.with_name(f"{'0' * 32}.draw")
    planted.write_text(json.dumps({**document, "id": "0" * 32, "key": "11" * 32}))
    assert not world.run(policy)
    assert planted.exists()
    assert planted.stem not in {state.last.release_id for state in world.states}
    assert len(world.states) == 2  # another draw, paid for
    assert world.noise[0] != world.noise[1]
    assert not world.run(policy)
    assert world.noise[1] == world.noise[2]


def test_a_copy_of_a_key_that_is_put_back_after_publishing_is_never_used(world: World) -> None:
    policy = world.policy(**REFUSED)
    assert not world.run(policy)
    (sealed,) = world.sealed
    copy = sealed.read_bytes()
    published = world.policy(budget={"epsilon": 100})
    assert world.run(published)
    sealed.write_bytes(copy)  # of a draw that was not published: it may be used, it is the same noise
    assert not world.run(policy)
    assert world.noise[2] == world.noise[0]
    destroy_draw_key(LocalStore(world.folder / "vault"), sealed.stem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing.Draws, "destroy", lambda draws, names=None: None)
        assert world.run(published)
    assert len(world.sealed) == 1  # of the release that is published
    assert world.run(published)
    assert world.noise[3] != world.noise[4]
    assert world.sealed == []


def test_sealed_draws_open_by_their_name_and_key_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    key = base64.b64encode(bytes(range(32))).decode()
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", key)
    policy = world.policy(**REFUSED)
    assert not world.run(policy)
    (sealed,) = world.sealed
    assert survey(LocalStore(world.folder / "vault")).plain == 0
    content = sealed.read_bytes()
    assert not world.run(world.policy(gate={"attacks": {"prosecutor_risk": 0.003}}))
    other = next(path for path in world.sealed if path != sealed)
    sealed.write_bytes(other.read_bytes())  # exchanged
    with pytest.raises(InputError, match="changed, cut, renamed or exchanged"):
        world.run(policy)
    sealed.write_bytes(content)
    new = vault_key(bytes(range(1, 33)))
    store = LocalStore(world.folder / "vault")
    assert rotate(Vault(store, Keys(new, (vault_key(bytes(range(32))),)))).rewrapped == 3  # and gate.json
    with pytest.raises(InputError, match="is encrypted with key"):
        world.run(policy)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", base64.b64encode(bytes(range(1, 33))).decode())
    assert not world.run(policy)
    assert world.noise[0] == world.noise[-1]


def test_a_draw_given_up_on_another_machine_is_destroyed_and_not_used(world: World) -> None:
    policy = world.policy(**REFUSED)
    assert not world.run(policy)
    (sealed,) = world.sealed
    world.give_up(sealed.stem)  # where this vault is not at hand
    assert not world.run(policy)
    assert not sealed.exists()
    assert [state.name for state in world.states] == ["failed, closed", "failed"]
    assert [state.counts for state in world.states] == [True, True]


def test_other_files_in_the_folder_of_draws_are_left_alone(world: World) -> None:
    draws = draws_of(world.policy(), world.places, None)
    folder = world.folder / "vault" / "small" / "draws"
    folder.mkdir(parents=True)
    for name in ("README", "x.draw", f"{'g' * 32}.draw"):
        (folder / name).write_text("not ours")
    part = folder / f".{'a' * 32}.draw.1234.part"
    part.write_text("of a run that was killed")
    assert world.run(world.policy())
    assert sorted(path.name for path in folder.iterdir()) == ["README", f"{'g' * 32}.draw", "x.draw"]
    assert draws.ids() == {}
