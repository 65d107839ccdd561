"""Noise is drawn once and paid for: a retry has the same noise, any other draw costs its ε."""

from __future__ import annotations

import base64
import json
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline import release as release_room
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import AnonPipelineError, GateRefused, InputError, PublishError
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.ledger.fence import close
from anon_pipeline.perturb import keys as perturb_keys
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish import drawing
from anon_pipeline.publish.draw_keys import Draw, destroy_draw_key, draws_of
from anon_pipeline.vault.artefacts import Vault, rotate, survey
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore

Small = Callable[..., Policy]
REFUSED: dict[str, Any] = {"gate": {"k": 100}}
"""A limit that the gate judges after the noise, and that these people never keep."""


class World:
    """A project on disk, and what came of each run in it: the noise that was made, in the records' order."""

    def __init__(self, folder: Path, policies: Small, people: pd.DataFrame) -> None:
        self.folder, self.policies, self.people = folder, policies, people
        self.places = Locations.of(folder, {})
        self.noise: list[dict[str, float]] = []

    def policy(self, **changes: Any) -> Policy:
        return self.policies(**changes)

    def run(self, policy: Policy, **options: Any) -> bool:
        """Make a release; say whether it was published."""
        self.people.to_csv(self.folder / "people.csv", index=False)
        try:
            make_release(policy, options.pop("places", self.places), **options)
        except GateRefused:
            return False
        return True

    @property
    def book(self) -> Ledger:
        return ledger_at(self.places.ledger)

    @property
    def states(self) -> list[State]:
        return list(release_states(self.book.events()).values())

    @property
    def sealed(self) -> list[Path]:
        """Every file that may hold the key of a draw."""
        return sorted(path for path in (self.folder / "vault").rglob("*") if ".draw" in path.name)

    @property
    def ids(self) -> list[str]:
        return [path.stem for path in self.sealed]

    def give_up(self, release_id: str) -> None:
        seen = release_states(self.book.events())[release_id].last.hash
        close(self.book, release_id, seen=seen, there=lambda: False)

    def killed(self, work: Callable[[], object]) -> None:
        """Do some work in a child process that must kill itself on the way."""
        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


def kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def world(
    tmp_path: Path,
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> World:
    people = small_people()
    people["note"] = [f"n{i}" for i in range(len(people))]  # says whose noise it is
    made = World(tmp_path, small_policy, people)
    perturb = release_room.run

    def noted(*given: Any, **named: Any) -> Any:
        chain = perturb(*given, **named)
        released = chain.suppressed.frame
        made.noise.append(dict(zip(released["note"], released["height"], strict=True)))
        return chain

    monkeypatch.setattr(release_room, "run", noted)
    return made


def test_a_refused_release_has_the_same_noise_each_time_it_is_made(world: World) -> None:
    """Else the gate is a rejection sampler: it is asked until it accepts, and that tells the originals."""
    policy = world.policy(**REFUSED, budget={"epsilon": 2})
    assert [world.run(policy) for _ in range(4)] == [False] * 4
    assert world.noise[1:] == world.noise[:1] * 3
    assert [(state.name, state.counts) for state in world.states] == [("failed", True)]
    assert len(world.sealed) == 1


def test_the_gate_cannot_be_asked_until_it_accepts(tmp_path: Path) -> None:
    """Two people of one class, ε = 1, `linking_risk: 0`, budget 1: 0.1.0 accepted after 5 to 13 tries.

    In an accepted release each value is nearer to the other person's original: it tells both.
    """
    people = pd.DataFrame({"city": ["Cork", "Cork"], "who": ["a", "b"], "income": [120, 870]})
    people.to_csv(tmp_path / "people.csv", index=False)
    policy = policy_from(
        {
            "name": "two",
            "source": {"path": "people.csv"},
            "columns": {
                "city": {"role": "generalize", "hierarchy": {"suppress": True}},
                "who": {"role": "insensitive"},
                "income": {"role": "perturb", "resolution": 1},
            },
            "anonymize": {"k": 2, "suppression_limit": 0},
            "perturb": {"epsilon": 1},
            "gate": {"k": 2, "linking_risk": 0.0},
            "budget": {"epsilon": 1},
            "publish": {"to": "out"},
        }
    )
    places = Locations.of(tmp_path, {})
    said = []
    for _ in range(12):
        with suppress(GateRefused):
            make_release(policy, places)
            said.append("published")
    assert said in ([], ["published"])  # by the first draw or never; the budget refuses the second
    assert len(release_states(ledger_at(places.ledger).events())) == 1
    people.assign(income=[121, 870]).to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(GateRefused, match="spent 1, requested 1, remaining 0"):
        make_release(policy, places)


@pytest.mark.parametrize("ledger", [True, False])
@pytest.mark.parametrize("end", ["gate", "stage", "disk"])
def test_a_retry_uses_the_draw_whatever_ended_the_release(
    world: World, monkeypatch: pytest.MonkeyPatch, end: str, *, ledger: bool
) -> None:
    places = world.places if ledger else replace(world.places, ledger="off")
    policy = world.policy(**({"budget": {"epsilon": 2}} if ledger else {}))
    with monkeypatch.context() as patch:
        if end == "gate":
            patch.setattr("anon_pipeline.publish.release.refuse_unless_passed", _refuse)
        elif end == "stage":
            patch.setattr("anon_pipeline.release.publish", _refuse)
        else:
            patch.setattr("anon_pipeline.publish.writer.replace_file", _full)
        with pytest.raises(AnonPipelineError):
            world.people.to_csv(world.folder / "people.csv", index=False)
            make_release(policy, places)
    assert world.run(policy, places=places)
    assert world.noise[0] == world.noise[1]
    assert world.sealed == []
    if ledger:
        assert [state.name for state in world.states] == ["published"]


def _refuse(*_: object, **__: object) -> None:
    raise GateRefused("refused")


def _full(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_the_order_of_the_source_is_not_another_input(world: World) -> None:
    policy = world.policy(**REFUSED, budget={"epsilon": 2})
    assert not world.run(policy)
    world.people = world.people.sample(frac=1, random_state=1)
    assert not world.run(policy)
    assert len(world.states) == 1
    assert world.noise[0] == world.noise[1]


@pytest.mark.parametrize(
    "change",
    ["a row more", "a value", "another policy", "another limit of the gate", "another partition"],
)
def test_any_other_draw_costs_its_epsilon_even_where_the_first_was_refused(world: World, change: str) -> None:
    limit = {"budget": {"epsilon": 3}}
    assert not world.run(world.policy(**REFUSED, **limit), partition="w1")
    others: dict[str, Any] = dict(REFUSED)
    if change == "a row more":
        world.people = pd.concat([world.people, world.people.tail(1).assign(note="new")])
    elif change == "a value":
        world.people.loc[0, "income"] += 1000
    elif change == "another policy":
        others["perturb"] = {"epsilon": 1.5}
    elif change == "another limit of the gate":
        others["gate"] = {"k": 99}
    partition = "w2" if change == "another partition" else "w1"
    wanted = others.get("perturb", {"epsilon": 2})["epsilon"]
    with pytest.raises(GateRefused, match=f"spent 2, requested {wanted}, remaining 1"):
        world.people.to_csv(world.folder / "people.csv", index=False)
        make_release(world.policy(**others, **limit), world.places, partition=partition)
    assert len(world.states) == len(world.noise) == len(world.sealed) == 1  # refused, and its key destroyed
    others["budget"] = {"epsilon": 4}
    assert not world.run(world.policy(**others), partition=partition)
    assert [state.counts for state in world.states] == [True, True]
    assert world.noise[0] != world.noise[1]


def test_after_publishing_the_same_data_is_another_draw(world: World) -> None:
    policy = world.policy(budget={"epsilon": 5})
    assert [world.run(policy) for _ in range(3)] == [True, True, False]
    assert world.noise[0] != world.noise[1]
    assert len(world.noise) == 2  # beyond the budget nothing is drawn
    assert world.sealed == []


def test_publishing_destroys_the_keys_of_earlier_draws_for_the_place(world: World) -> None:
    assert not world.run(world.policy(**REFUSED))
    assert not world.run(world.policy(**REFUSED), partition="w1")
    assert len(world.sealed) == 2
    assert world.run(world.policy())
    assert [path.parent.name for path in world.sealed] == ["w1"]
    assert [state.name for state in world.states] == ["failed", "failed", "published"]


def test_a_policy_without_noise_leaves_no_key_and_gives_back(world: World) -> None:
    plain = {
        "perturb": None,
        "suppress": None,
        "columns": {"height": {"role": "insensitive", "unit": None, "resolution": None}},
    }
    assert not world.run(world.policy(**plain, **REFUSED))
    assert world.run(world.policy(**plain))
    assert not (world.folder / "vault").exists()
    assert [event.event for event in world.book.events()][:2] == ["opened", "failed"]


# Crashes between each two steps: seal, book, use, publish, destroy.


@pytest.mark.parametrize("step", ["seal", "book", "use", "begin", "publish", "enter", "destroy"])
def test_a_crash_between_two_steps_ends_right(
    world: World, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    places = {
        "seal": (drawing.Draws, "seal"),
        "book": (Ledger, "open"),
        "use": (release_room, "publish"),
        "begin": (Ledger, "begin"),
        "publish": ("anon_pipeline.publish.release", "write_release"),
        "enter": (Ledger, "published"),
        "destroy": (drawing.Draws, "destroy"),
    }
    where, name = places[step]
    policy = world.policy(budget={"epsilon": 4})
    died = kill
    if step == "destroy":  # which `take` calls, too
        destroy = drawing.Draws.destroy

        def died(draws: drawing.Draws, names: object = None) -> None:
            return kill() if names is None else destroy(draws, names)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        if isinstance(where, str):
            patch.setattr(f"{where}.{name}", died)
        else:
            patch.setattr(where, name, died)
        world.killed(lambda: world.run(policy))
    before = world.ids
    assert len(before) == (0 if step == "seal" else 1)
    known = [state.last.release_id for state in world.states]
    assert known == ([] if step in {"seal", "book"} else before)
    published = step in {"enter", "destroy"}
    assert world.run(policy)
    found = world.states
    assert [state.last.event for state in found] == ["published"] * (2 if published else 1)
    # what was booked and not published is the one that is published; an unbooked key is never used
    again = [state.last.release_id for state in found]
    assert (again[0] in before) == (step not in {"seal", "book"})
    assert world.sealed == []


def test_a_key_that_was_sealed_and_not_booked_is_not_used_from_a_plain_vault(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else may have put it there. It may be another ledger's, too: it is left."""
    policy = world.policy(**REFUSED, budget={"epsilon": 4})
    used: list[bytes] = []
    make = perturb_keys.fresh_key

    def noted(entropy: Any) -> NoiseKey:
        key = make(entropy)
        used.append(key.secret)
        return key

    monkeypatch.setattr(drawing, "fresh_key", noted)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "open", kill)
        world.killed(lambda: world.run(policy))
    (unbooked,) = world.sealed
    secret = bytes.fromhex(json.loads(unbooked.read_bytes())["key"])
    for _ in range(2):
        assert not world.run(policy)
    assert unbooked.exists()
    assert secret not in used
    assert len(used) == len(world.states) == 1
    assert world.run(world.policy(budget={"epsilon": 4}))
    assert world.sealed == []


def test_a_ledger_that_cannot_book_leaves_no_key(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> None:
        raise InputError("the ledger must be reachable")

    monkeypatch.setattr(Ledger, "open", lost)
    with pytest.raises(InputError, match="must be reachable"):
        world.run(world.policy())
    assert world.sealed == []
    assert world.noise == []


def test_a_vault_that_cannot_be_written_books_nothing(world: World) -> None:
    def full(name: str) -> None:
        if name == "before write private table":
            raise OSError(28, "No space left on device")

    with use_disk(Disk(full)), pytest.raises(InputError, match="vault must be writable"):
        world.run(world.policy())
    assert world.book.events() == []
    assert world.noise == []


def test_a_key_that_cannot_be_destroyed_is_told_and_destroyed_by_the_next_run(world: World) -> None:
    def fail(name: str) -> None:
        if name == "before unlink private table":
            raise OSError(1, "Operation not permitted")

    with use_disk(Disk(fail)), pytest.raises(InputError, match="is published, its next run destroys the key"):
        world.run(world.policy())
    assert [state.name for state in world.states] == ["published"]
    assert len(world.sealed) == 1
    assert not world.run(world.policy(**REFUSED))
    assert world.noise[0] != world.noise[1]
    assert len(world.sealed) == 1
    assert len(world.states) == 2


def test_two_runs_at_once_make_one_draw(world: World) -> None:
    policy = world.policy(**REFUSED, budget={"epsilon": 2})
    world.people.to_csv(world.folder / "people.csv", index=False)
    ended: list[str] = []

    def run() -> None:
        try:
            make_release(policy, world.places)
        except GateRefused as error:
            ended.append(str(error).splitlines()[-1])

    both = [threading.Thread(target=run) for _ in range(3)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(ended) == 3
    assert not any("spent" in line for line in ended)
    assert world.noise[1:] == world.noise[:1] * 2
    assert len(world.states) == len(world.sealed) == 1


# Keys: none is left, none of others' is used.


@pytest.mark.parametrize("encrypted", [True, False])
def test_no_file_holds_the_key_after_publishing(
    world: World, monkeypatch: pytest.MonkeyPatch, *, encrypted: bool
) -> None:
    if encrypted:
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", base64.b64encode(bytes(range(32))).decode())
    secrets: list[bytes] = []
    make = perturb_keys.fresh_key

    def noted(entropy: Any) -> NoiseKey:
        key = make(entropy)
        secrets.append(key.secret)
        return key

    monkeypatch.setattr(drawing, "fresh_key", noted)
    with pytest.raises(PublishError), monkeypatch.context() as patch:
        patch.setattr("anon_pipeline.publish.writer.replace_file", _full)
        world.run(world.policy())
    (sealed,) = world.sealed
    assert sealed.stat().st_mode & 0o777 == 0o600
    assert (secrets[0].hex().encode() in sealed.read_bytes()) is not encrypted
    assert world.run(world.policy())
    assert len(secrets) == 1
    forms = [secrets[0], secrets[0].hex().encode(), base64.b64encode(secrets[0])[:-1]]
    forms += [base64.urlsafe_b64encode(secrets[0])[:-1], secrets[0].hex().upper().encode()]
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    assert len(files) >= 4  # source, ledger, release, manifest
    assert not [path.name for path in files if any(form in path.read_bytes() for form in forms)]


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
    assert not world.run(world.policy(gate={"k": 101}))
    other = next(path for path in world.sealed if path != sealed)
    sealed.write_bytes(other.read_bytes())  # exchanged
    with pytest.raises(InputError, match="changed, cut, renamed or exchanged"):
        world.run(policy)
    sealed.write_bytes(content)
    new = vault_key(bytes(range(1, 33)))
    store = LocalStore(world.folder / "vault")
    assert rotate(Vault(store, Keys(new, (vault_key(bytes(range(32))),)))).rewrapped == 2
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


def test_a_run_whose_draw_is_given_up_meanwhile_does_not_publish(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = release_room.publish

    def late(*given: Any, **named: Any) -> Any:
        world.give_up(world.ids[0])
        return judge(*given, **named)

    monkeypatch.setattr(release_room, "publish", late)
    assert not world.run(world.policy())
    assert [state.name for state in world.states] == ["failed, closed"]
    assert not (world.folder / "out" / "manifest.json").exists()


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
