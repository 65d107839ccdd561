"""A destination that can never be one is refused by its name, before a draw, in the CLI and in Dagster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline import Locations, Policy, cli, make_release
from anon_pipeline.base.errors import PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import TYPE
from anon_pipeline.policy.locations import OFF
from anon_pipeline.publish.destination import refuse_private_place
from anon_pipeline.publish.lock import LOCK, hold_folder
from anon_pipeline.publish.writer import prepare

Small = Callable[..., Policy]
Make = Callable[..., Any]


def nothing(folder: Path) -> None:
    """Leave the project as it is."""


def dangling(folder: Path) -> None:
    (folder / "out").symlink_to(folder / "nowhere" / "x")


def lock_folder(folder: Path) -> None:
    (folder / "out" / LOCK).mkdir(parents=True)


def lock_link(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / LOCK).symlink_to(folder / "people.csv")


def vault_elsewhere(folder: Path) -> None:
    (folder / "vault" / "small").mkdir(parents=True, mode=0o700)
    (folder / "vault").chmod(0o700)
    (folder / "public").symlink_to(folder / "vault" / "small")


FLAWS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "a link to nothing": (dangling, "out", "got a link to nothing"),
    "below a link to nothing": (dangling, "out/deeper/still", "got a link to nothing"),
    "a lock that is a folder": (lock_folder, "out", "must be a plain file, got a folder"),
    "a lock that is a link": (lock_link, "out", "must be a plain file, got a link"),
    "a long name": (nothing, "o" * 300, "must have at most 255 bytes, got 300"),
    "a long name below one that is not there": (nothing, f"out/{'ö' * 150}/x", "at most 255 bytes, got 300"),
    "a long path": (nothing, "/".join(["o" * 200] * 21), "must have fewer than 4096 bytes"),
    "the project": (nothing, ".", "is or holds the project and the folder of sources and the folder of re"),
    "the project, spelled otherwise": (nothing, "out/..", "is or holds the project"),
    "the vault": (nothing, "vault", "is the vault or lies within it"),
    "within the vault": (nothing, "vault/small/draws", "is the vault or lies within it"),
    "within the vault by a link": (vault_elsewhere, "public/x", "is the vault or lies within it"),
}


@pytest.fixture
def places(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


@pytest.mark.parametrize("flaw", FLAWS)
def test_on_the_command_line(
    small_policy: Small,
    places: Locations,
    flaw: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spoil, to, message = FLAWS[flaw]
    spoil(places.sources)
    policy = small_policy(publish={"to": to, "wait": 0}, budget={"epsilon": 2})
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    file = places.sources / "policy.yaml"
    file.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    before = sorted(path for path in places.sources.rglob("*") if "ledger" not in path.name)
    monkeypatch.setattr(sys, "argv", ["anon-pipeline", "run", str(file), "--project", str(places.sources)])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert ledger_at(places.ledger).events() == []
    assert sorted(path for path in places.sources.rglob("*") if "ledger" not in path.name) == before


@pytest.mark.parametrize("flaw", ["a link to nothing", "a lock that is a folder", "a long name", "the vault"])
def test_in_dagster(dagster_project: Make, flaw: str) -> None:
    spoil, to, message = FLAWS[flaw]
    made = dagster_project(publish={"to": to, "wait": 0}, budget={"epsilon": 2})
    spoil(made.folder)
    result = made.run("small_release")
    failed = {event.step_key: event for event in result.all_events if event.is_step_failure}
    assert list(failed) == ["small__perturbed"]
    said, error = "", failed["small__perturbed"].step_failure_data.error
    while error is not None:
        said, error = said + error.message, error.cause
    assert message in said
    assert ledger_at(f"sqlite:///{made.folder}/ledger.sqlite").events() == []


def test_places_that_hold_private_folders_and_others_beside_them(small_policy: Small, tmp_path: Path) -> None:
    def told(to: str, **more: Any) -> str:
        places = Locations(
            tmp_path / "in",
            tmp_path / "in",
            tmp_path / "all",
            tmp_path / "all/safe/vault",
            outside=True,
            **more,
        )
        try:
            refuse_private_place(small_policy(publish={"to": to}), places)
        except PublishError as error:
            return str(error).split("got one that ")[1].split(". Name")[0]
        return ""

    assert told("safe") == "holds the vault"
    assert told("safe/vaults") == told("safe/public") == told("../public") == ""
    assert told(".") == "holds the vault and is or holds the folder of releases"
    assert told("../in") == "is or holds the folder of sources"
    assert told("../in/public") == ""
    assert told("..") == "holds the vault and is or holds the folder of sources and the folder of releases"
    assert told("out", project=tmp_path / "all/out/project") == "is or holds the project"
    assert told("safe", remote_vault="memory://vault", ledger=OFF) == ""


def test_a_lock_that_becomes_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / LOCK).mkdir()
    with (
        pytest.raises(PublishError, match="must be a plain file, got a folder"),
        hold_folder(tmp_path, wait=3600),
    ):
        raise AssertionError


def test_links_and_names_that_are_in_order_are_none_of_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    prepare(tmp_path / "link" / ("o" * 255) / "new", "small")
    assert list((tmp_path / "real").iterdir()) == []
    with pytest.raises(PublishError, match="at most 255 bytes"):
        prepare(tmp_path / "real", "s" * 240)  # its report would be named by it


def test_a_release_beside_the_vault_is_made(small_policy: Small, places: Locations) -> None:
    make_release(small_policy(publish={"to": "vaults/small"}), places)
    assert (places.releases / "vaults" / "small" / "manifest.json").exists()
