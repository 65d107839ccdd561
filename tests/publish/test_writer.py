"""Two releases never go out under a budget of one, whoever closes what while it is written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from anon_pipeline import GateRefused, InputError, make_release
from anon_pipeline.base.errors import PublishError, StageCrashed
from anon_pipeline.cli.ledgering import ledger as commands
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger import book as book_module
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.ledger.owner import current_owner
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.sections import Budget
from anon_pipeline.publish import Published, publish, release, writer
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.report import public_report
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means

Make = Callable[..., Any]


class World:
    """A policy with a budget of one release, and what its ledger and its destination hold."""

    def __init__(self, folder: Path, policy: Policy, people: pd.DataFrame) -> None:
        self.folder, self.policy = folder, policy
        people.to_csv(folder / "people.csv", index=False)
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        self.file = folder / "policy.yaml"
        import yaml

        self.file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        self.locations = Locations.of(folder, {})

    def release(self, to: str = "out") -> None:
        policy = self.policy.model_copy(update={"publish": self.policy.publish.model_copy(update={"to": to})})
        make_release(policy, self.locations)

    @property
    def book(self) -> Ledger:
        return ledger_at(self.locations.ledger)

    def names(self) -> list[str]:
        return [state.name for state in release_states(self.book.events()).values()]

    def out(self) -> int:
        return len(list(self.folder.rglob("manifest.json")))

    def close(self, *options: str) -> Any:
        release_id = next(iter(release_states(self.book.events())))
        base = ["close", release_id, "--as", "failed", "--project", str(self.folder)]
        return CliRunner().invoke(commands, [*base, "--policy", str(self.file), *options])


@pytest.fixture
def world(tmp_path: Path, small_policy: Make, small_people: Make, monkeypatch: pytest.MonkeyPatch) -> World:
    """Its releases are entered by a process of another machine."""
    elsewhere = "elsewhere/" + current_owner("").partition("/")[2]
    monkeypatch.setattr(book_module, "current_owner", lambda run: elsewhere)
    return World(tmp_path, small_policy(budget={"epsilon": 2}), small_people())


def while_writing(patch: pytest.MonkeyPatch, name: str, work: Callable[[], object], *, after: bool) -> None:
    """Do some work once, before or after a file of a release is put in its place."""
    original, done = writer.replace_file, list[str]()

    def replacing(path: Path, data: bytes, *, mode: int, what: str) -> None:
        if what == name and not after and not done:
            done.append(what)
            work()
        original(path, data, mode=mode, what=what)
        if what == name and after and not done:
            done.append(what)
            work()

    patch.setattr(writer, "replace_file", replacing)


def test_closing_what_runs_elsewhere_needs_force(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[Any]()
    while_writing(monkeypatch, "data", lambda: said.append(world.close()), after=True)
    world.release()
    assert isinstance(said[0].exception, InputError)
    assert "on elsewhere" in str(said[0].exception)
    assert "cannot be known from here. Look there. --force closes" in str(said[0].exception)
    assert world.names() == ["published"]


def test_a_release_that_was_closed_by_force_while_it_was_written_does_not_go_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = world.policy.model_copy(update={"budget": Budget(epsilon=4)})  # what was closed stays spent
    monkeypatch.setattr(world, "policy", two)

    def close_and_release_another() -> None:
        assert world.close("--force").exit_code == 0
        world.release("elsewhere")

    while_writing(monkeypatch, "data", close_and_release_another, after=True)
    with pytest.raises(GateRefused, match="it is failed, closed by force since"):
        world.release()
    assert world.names() == ["failed, closed by force", "published"]
    assert world.out() == 1
    assert not (world.folder / "out" / "manifest.json").exists()


def test_one_that_was_closed_before_its_writing_is_refused_by_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Ledger.begin

    def closed_before(self: Ledger, *arguments: Any) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, "begin", begin)
            assert world.close("--force").exit_code == 0
            return begin(self, *arguments)

    monkeypatch.setattr(Ledger, "begin", closed_before)
    with pytest.raises(GateRefused, match=r"was closed as failed on .* which is final"):
        world.release()
    assert (world.names(), world.out()) == (["failed, closed by force"], 0)


def test_nobody_can_close_between_the_look_at_the_token_and_the_rename(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is held for the rename: closing then waits, and finds the release at its destination."""
    monkeypatch.setattr("anon_pipeline.ledger.store._PATIENCE", 0.2)
    said = list[Any]()
    while_writing(monkeypatch, "manifest", lambda: said.append(world.close("--force")), after=False)
    world.release()
    assert "must be reachable and writable" in str(said[0].exception)
    assert world.names() == ["published"]


def test_one_that_went_out_and_was_closed_at_another_machine_is_never_silent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one window that is left: renamed, not yet entered, and closed by who does not see the folder."""
    published, blind = Ledger.enter_published, list[Any]()

    def closed_first(self: Ledger, *arguments: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("anon_pipeline.publish.accounting.booking.is_manifest_of", lambda *_: False)
            blind.append(world.close("--force"))
        published(self, *arguments)

    monkeypatch.setattr(Ledger, "enter_published", closed_first)
    with pytest.raises(
        PublishError, match=r"is published and in place.* has had it as failed since .* also beyond"
    ):
        world.release()
    assert blind[0].exit_code == 0
    assert world.names() == ["published, after failed"]
    listed = CliRunner().invoke(commands, ["list", "--project", str(world.folder)])
    assert "published although marked as failed or withdrawn" in listed.output
    assert "ε = 2 spent" in listed.output
    with pytest.raises(GateRefused, match="spent 2"):
        world.release("elsewhere")


def test_a_crash_that_was_closed_wrongly_is_found_by_the_next_run_and_stops_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "enter_published", lambda *_: None)  # as if it had crashed before
        world.release()
        patch.setattr("anon_pipeline.publish.accounting.booking.is_manifest_of", lambda *_: False)
        assert world.close("--force").exit_code == 0
    with pytest.raises(InputError, match="has had it as failed since"):
        world.release()
    assert world.names() == ["published, after failed"]
    with pytest.raises(GateRefused, match="spent 2"):
        world.release()


def test_what_cannot_be_written_gives_back_only_if_nobody_else_writes_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry on another machine has begun the same release: its predecessor must not call it failed."""

    def fails_after_another_began(*_: object, **__: object) -> None:
        event = world.book.events()[-1]
        retry = replace(world.book)
        from anon_pipeline.ledger.requests import requested_in

        retry.begin(event.release_id, requested_in(event), "digest")
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(writer, "replace_file", fails_after_another_began)
        with suppress(PublishError):
            world.release()
    assert world.names() == ["open"]
    with pytest.raises(GateRefused, match="spent 2"):
        world.release("elsewhere")


Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def send(policy: Policy, people: pd.DataFrame, folder: Path) -> Published:
    made = pipeline.run(policy, people, Means(Path(), None, system_entropy()))
    return publish(made.suppressed, made.k_anonymized.frame, policy, locations=Locations.of(folder, {}))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_manifest_names_the_page_by_its_digest(
    small_policy: Small, small_people: People, tmp_path: Path, form: str
) -> None:
    written = send(small_policy(publish={"format": form}), small_people(), tmp_path)
    page, item = written.report_path.read_bytes(), written.manifest["report"]
    digest = hashlib.sha256(page).hexdigest()
    assert item == {"name": f"small-report-{digest[:16]}.html", "sha256": digest, "size": len(page)}
    assert written.report_path == tmp_path / "out" / item["name"]
    assert written.report_path.stat().st_mode & 0o777 == 0o644


def test_the_page_is_the_public_report_of_what_is_published(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    """Whoever has policy, manifest and data file can make it again."""
    policy = small_policy()
    written = send(policy, small_people(), tmp_path)
    document = {name: value for name, value in written.manifest.items() if name != "report"}
    assert (
        public_report(policy, document, read_release(written.path, policy))
        == written.report_path.read_bytes()
    )


def test_the_page_of_the_release_before_stays_as_its_data_does(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    pages = [send(small_policy(), small_people(seed=seed), tmp_path).report_path for seed in range(3)]
    assert [path.exists() for path in pages] == [False, True, True]


def test_pages_of_others_stay(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    others = [
        tmp_path / "out" / name
        for name in ("index.html", "small-report-mine.html", f"big-report-{'0' * 16}.html")
    ]
    for path in others:
        path.write_text("mine")
    for seed in range(3):
        send(small_policy(), small_people(seed=seed), tmp_path)
    assert all(path.read_text() == "mine" for path in others)


def test_where_the_clock_has_jumped_page_and_manifest_say_the_same_time(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        time = datetime(2031, 1, 1, tzinfo=UTC)

        def now(self, zone: object) -> datetime:
            return self.time

    clock = Clock()
    monkeypatch.setattr(release, "datetime", clock)
    late = send(small_policy(), small_people(), tmp_path).manifest["made_at"]
    clock.time = datetime(2029, 1, 1, tzinfo=UTC)
    written = send(small_policy(), small_people(seed=1), tmp_path)
    assert written.manifest["made_at"] == late
    assert late in written.report_path.read_text()
    assert "2029-01-01" not in written.report_path.read_text()


def test_a_report_that_cannot_be_made_stops_the_release_before_anything_is_written(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> bytes:
        raise RuntimeError("CANARY")

    monkeypatch.setattr(release, "public_report", crash)
    small_people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(StageCrashed) as raised:
        make_release(small_policy(), Locations.of(tmp_path, {}))
    assert "CANARY" not in str(raised.value)
    assert not (tmp_path / "out").exists() or list((tmp_path / "out").iterdir()) == []
