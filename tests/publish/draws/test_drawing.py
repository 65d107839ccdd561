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
from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import AnonPipelineError, GateRefused, InputError, PublishError
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.perturb import keys as perturb_keys
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish import whole_chain as release_room
from anon_pipeline.publish.draws import drawing
from tests.publish.worlds import REFUSED, World

Small = Callable[..., Policy]


def kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


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
            patch.setattr("anon_pipeline.publish.whole_chain.publish", _refuse)
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
        others["gate"] = {"attacks": {"prosecutor_risk": 0.002}}
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
        "columns": {"height": {"role": "sensitive", "unit": None, "resolution": None}},
    }
    assert not world.run(world.policy(**plain, **REFUSED))
    assert world.run(world.policy(**plain))
    kept = [path for path in (world.folder / "vault").rglob("*") if path.is_file()]
    assert {path.name for path in kept} == {".gitignore", "gate.json"}
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
        "enter": (Ledger, "enter_published"),
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
