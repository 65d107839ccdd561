"""The memory in the vault: it learns of a release when it is published, whatever dies in between."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import GateRefused, InputError, Locations, Policy, anonymize, make_release
from anon_pipeline.ledger import ledger_at, requested_by
from anon_pipeline.ledger.recovery import forget_memory
from anon_pipeline.orchestration.vault import published_before
from anon_pipeline.publish import Published, writer
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.history.memory import Memory

Make = Callable[..., Any]
KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}},
    "perturb": {"republish": "sticky"},
    "suppress": None,
    "gate": {"suppression": None, "cross_release_k": 3, "linking_risk": 1.0},
}


class World:
    """A project on disk whose release is made again and again."""

    def __init__(self, folder: Path, policy: Policy, people: pd.DataFrame) -> None:
        self.folder, self.policy, self.people = folder, policy, people
        self.locations = Locations.of(folder, {})
        self.archive = VaultArchive(policy, self.locations)
        self.file = folder / "vault" / "small" / "memory.parquet"

    def release(self, **changes: Any) -> Published:
        self.people.assign(**changes).to_csv(self.folder / "people.csv", index=False)
        return make_release(self.policy, self.locations, archive=self.archive)

    def memory(self) -> Memory:
        with self.archive.alone():
            return self.archive.read(None)

    def composition(self, partition: str | None = None) -> dict[str, Any]:
        return composition(self.policy, self.folder, partition)

    def digest(self) -> str | None:
        manifest = read_manifest(self.folder / "out")
        return None if manifest is None else str(manifest["data_digest"])


@pytest.fixture
def world(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    yield World(tmp_path, small_policy(**KEEPS), small_people())


def composition(policy: Policy, folder: Path, partition: str | None = None) -> dict[str, Any]:
    """Return what the facts of the last release say of those before it: to the curator, all of it."""
    told = measured_of(policy, Locations.of(folder, {}), partition).read()
    found: dict[str, Any] = told["facts"]["perturbed"]["composition"]
    return found


def test_it_learns_of_each_release(world: World) -> None:
    one = world.release()
    assert world.composition()["values_reused"] == 0
    two = world.release()
    spent = world.composition()
    assert (spent["values_reused"], spent["epsilon_spent"]) == (240, "0")
    assert two.manifest["facts"]["perturbed"]["composition"] == {"releases_before": 1, "epsilon_spent": "0"}
    assert [past.digest for past in world.memory().releases] == [
        one.manifest["data_digest"],
        two.manifest["data_digest"],
    ]
    kept = world.file.parent
    assert sorted(item.name for item in kept.iterdir()) == ["draws", "gate.json", "memory.parquet"]
    assert not list((kept / "draws").iterdir())  # no key; the folder stays, for it is locked by its handle
    assert "_person_id" not in pd.read_parquet(two.path).columns


def test_it_is_for_its_owner_alone(world: World) -> None:
    world.release()
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o600
    for folder in (world.file.parent, world.file.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_refused_release_leaves_it_as_it_was(world: World) -> None:
    world.release()
    before = world.file.read_bytes()
    with pytest.raises(GateRefused, match="must hold no e-mail addresses"):  # before noise is drawn
        world.release(note="mail a@example.org")
    assert world.file.read_bytes() == before
    world.policy = world.policy.model_copy(
        update={"gate": world.policy.gate.model_copy(update={"suppression": -1})}
    )
    with pytest.raises(GateRefused, match=r"release:\nsuppression \(at most -1\) refused"):  # with its noise
        world.release(height=200)
    assert world.file.read_bytes() == before
    assert not world.file.with_name("memory-staged.parquet").exists()


def test_a_release_that_cannot_be_written_is_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.release()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(writer, "replace_file", full)
        with pytest.raises(Exception, match="No space"):
            world.release(height=200)
    assert len(world.memory().releases) == 1
    assert not world.file.with_name("memory-staged.parquet").exists()


def _die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dying(world: World, at: str) -> None:
    """Make a release of other heights, and die at a point of its publication."""
    replace, unlink = writer.replace_file, Path.unlink

    def before_manifest(path: Path, data: bytes, *, mode: int, what: str) -> None:
        if path.name == "manifest.json":
            _die()
        replace(path, data, mode=mode, what=what)

    def after_manifest(path: Path, data: bytes, *, mode: int, what: str) -> None:
        replace(path, data, mode=mode, what=what)
        if path.name == "manifest.json":
            _die()

    def unlinking(path: Path, missing_ok: bool = False) -> None:
        if path.name == "memory-staged.parquet":
            _die()
        unlink(path, missing_ok=missing_ok)

    stage = VaultArchive.stage

    def staging(self: VaultArchive, memory: Memory) -> None:
        stage(self, memory)
        _die()

    if at == "before staging":
        VaultArchive.stage = _die  # type: ignore[method-assign, assignment]
    elif at == "after staging":
        VaultArchive.stage = staging  # type: ignore[method-assign]
    elif at == "before the manifest":
        writer.replace_file = before_manifest  # type: ignore[assignment]
    elif at == "after the manifest":
        writer.replace_file = after_manifest  # type: ignore[assignment]
    elif at == "before the commit":
        VaultArchive.commit = _die  # type: ignore[method-assign, assignment]
    else:
        Path.unlink = unlinking  # type: ignore[method-assign, assignment]
    world.release(height=world.people["height"] + 1)


@pytest.mark.parametrize("first", [True, False], ids=["first", "again"])
@pytest.mark.parametrize(
    ("at", "published"),
    [
        ("before staging", False),
        ("after staging", False),
        ("before the manifest", False),
        ("after the manifest", True),
        ("before the commit", True),
        ("within the commit", True),
    ],
)
def test_killed_at_any_point_it_agrees_with_what_is_published(
    world: World, at: str, published: bool, first: bool
) -> None:
    if not first:
        world.release()
    before, known = world.digest(), 0 if first else 1
    child = multiprocessing.get_context("fork").Process(target=_dying, args=(world, at))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert (world.digest() != before) is published
    memory = world.memory()
    assert len(memory.releases) == known + published
    assert world.digest() in [None, *(past.digest for past in memory.releases)]
    world.release(height=world.people["height"] + 1)
    assert world.composition()["values_reused"] == (240 if published else 0)


def test_a_lost_memory_is_not_a_new_beginning(world: World) -> None:
    world.release()
    world.file.unlink()
    with pytest.raises(InputError, match="does not contain the published release"):
        world.release()
    (world.folder / "out").rename(world.folder / "away")
    with pytest.raises(InputError, match="memory lacks 1 of 1"):  # the ledger knows it
        world.release()
    forget_memory(ledger_at(world.locations.ledger), requested_by(world.policy, None))
    world.release()
    assert world.composition()["releases_before"] == 0


def test_a_memory_of_yesterday_is_not_enough(world: World) -> None:
    world.release()
    yesterday = world.file.read_bytes()
    world.release(height=world.people["height"] + 1)
    world.file.write_bytes(yesterday)
    with pytest.raises(InputError, match="does not contain the published release"):
        world.release()


def test_another_key_makes_everybody_a_stranger_and_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.release()
    monkeypatch.setenv("ANON_TEST_KEY", "fedcba9876543210")
    with pytest.raises(InputError, match="another record_key or key"):
        world.release()


def test_a_broken_memory_is_named(world: World) -> None:
    world.release()
    world.file.write_bytes(b"PAR1 but not really")
    with pytest.raises(InputError, match=r"memory\.parquet must be readable"):
        world.release()


def test_no_archive_no_release(world: World, small_policy: Callable[..., Policy]) -> None:
    with pytest.raises(InputError, match="with record_key, and only with it"):
        make_release(world.policy, world.locations)
    world.people.to_csv(world.folder / "people.csv", index=False)
    with pytest.raises(InputError, match="with record_key, and only with it"):
        make_release(small_policy(), world.locations, archive=world.archive)


def test_partitions_share_it(world: World) -> None:
    for partition in ("2026-01-05", "2026-01-12"):
        world.people.to_csv(world.folder / "people.csv", index=False)
        make_release(world.policy, world.locations, partition=partition, archive=world.archive)
    assert world.composition("2026-01-12")["values_reused"] == 240
    assert [past.partition for past in world.memory().releases] == ["2026-01-05", "2026-01-12"]


def test_two_runs_at_once_wait_for_each_other(world: World) -> None:
    """The memory is held from judging to committing: a second run sees the first one's release."""
    world.release()
    order: list[str] = []
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def second() -> None:
        ready.set()
        with world.archive.alone():
            os._exit(0)

    with world.archive.alone():
        child = context.Process(target=second)
        child.start()
        ready.wait()
        child.join(0.3)
        order.append("alive" if child.is_alive() else "went on")
    child.join()
    assert order == ["alive"]
    assert child.exitcode == 0


def test_through_dagster(dagster_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made = dagster_project(**KEEPS)
    for reused in (0, 240):
        result = made.run("small_release")
        assert result.success
        perturbed = result.asset_materializations_for_node("small__perturbed")[0].metadata
        assert set(perturbed["composition"].value) == {"releases_before", "epsilon_spent"}
        assert composition(made.policy, made.folder)["values_reused"] == reused
        names = {evaluation.check_name for evaluation in result.get_asset_check_evaluations()}
        assert {"sticky", "cross_release_k"} <= names
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    assert "_person_id" not in json.dumps(manifest)
    archive = VaultArchive(made.policy, Locations.of(made.folder, {}))
    with archive.alone():
        assert len(archive.read(None).releases) == 2
    assert made.materialize("published", checks=False).success  # again: what is known is not added twice
    with archive.alone():
        assert len(archive.read(None).releases) == 2


def _overtaken(project: Make, change: Callable[[Path], object], **policy: object) -> tuple[Any, Any]:
    """Draw noise in Dagster, then let another run publish after a change in the project's folder.

    Returns:
        The project, and the other run's release.
    """
    made = project(**KEEPS, **policy)
    stages = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")
    assert made.materialize(*stages).success
    change(made.folder)
    locations = Locations.of(made.folder, {})
    return made, make_release(made.policy, locations, archive=VaultArchive(made.policy, locations))


def _taller(folder: Path) -> None:
    people = pd.read_csv(folder / "people.csv")
    people.loc[0, "height"] += 1
    people.to_csv(folder / "people.csv", index=False)


def _fewer(folder: Path) -> None:
    pd.read_csv(folder / "people.csv").iloc[:-20].to_csv(folder / "people.csv", index=False)


def _without_the_draw(folder: Path) -> None:
    (draw,) = (folder / "vault" / "small" / "draws").iterdir()
    draw.unlink()


@pytest.mark.parametrize("change", [_taller, _fewer, _without_the_draw])
def test_dagster_refuses_noise_that_another_run_has_overtaken(
    dagster_project: Make, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """From another draw, what did not change has another noisy value, and one of the two is out."""
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made, _ = _overtaken(dagster_project, change)
    before = read_manifest(made.folder / "out")
    result = made.materialize("published", checks=False)
    assert not result.success
    assert "sticky" in "".join(
        str(event.step_failure_data.error) for event in result.all_events if event.is_step_failure
    )
    assert read_manifest(made.folder / "out") == before


def _noisy_values(made: Any, manifest: Any) -> list[list[Any]]:
    table = pd.read_parquet(made.folder / "out" / manifest["files"][0]["name"])
    return sorted(table[["note", "height"]].to_numpy().tolist(), key=str)


@pytest.mark.parametrize("policy", [{}, {"budget": {"epsilon": 2}}])
def test_noise_of_the_draw_that_another_run_has_published_is_the_same(
    dagster_project: Make, monkeypatch: pytest.MonkeyPatch, policy: dict[str, Any]
) -> None:
    """Of equal data, policy and memory there is one draw: only the order, which tells nothing, is another."""
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    made, first = _overtaken(dagster_project, lambda folder: None, **policy)
    out = _noisy_values(made, first.manifest)
    assert made.materialize("published").success
    second = read_manifest(made.folder / "out")
    assert second is not None
    assert _noisy_values(made, second) == out
    assert made.materialize("perturbed", "shuffled", "suppressed", "published").success  # the draw is gone
    third = read_manifest(made.folder / "out")
    assert third is not None
    assert composition(made.policy, made.folder)["values_drawn"] == 0
    assert _noisy_values(made, third) == out


def test_the_command_line_keeps_it_too(world: World) -> None:
    import yaml
    from click.testing import CliRunner

    from anon_pipeline.cli.releasing import run

    attributes = world.policy.model_dump(mode="json", exclude_defaults=True)
    (world.folder / "policy.yaml").write_text(
        yaml.safe_dump({"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes})
    )
    world.people.to_csv(world.folder / "people.csv", index=False)
    for known in (1, 2):
        done = CliRunner().invoke(run, [str(world.folder / "policy.yaml")])
        assert done.exit_code == 0, done.output
        assert len(world.memory().releases) == known


def test_what_it_says_of_itself_is_in_one_place(world: World) -> None:
    assert published_before(world.policy, world.locations, partition=None) is not None
    assert anonymize(world.policy, world.people, memory=Memory.empty()).report.passed
