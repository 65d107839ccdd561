"""A release that was published, and `verify` on it, as users call it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.whole_chain import make_release

Make = Callable[..., "Project"]
INPUTS = {"policy.yaml", "city.csv", "people.csv", "people.parquet"}
"""Files of a project before its release."""


@dataclass(frozen=True)
class Project:
    """A project with a release in ``out``."""

    path: Path
    call: Callable[..., tuple[int, str]]

    @property
    def manifest(self) -> Path:
        return self.path / "out" / "manifest.json"

    @property
    def data(self) -> Path:
        return self.path / "out" / str(json.loads(self.manifest.read_text())["files"][0]["name"])

    def edit(self, change: Callable[[dict[str, Any]], object]) -> None:
        document = json.loads(self.manifest.read_text())
        change(document)
        self.manifest.write_text(json.dumps(document))


@pytest.fixture
def project(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Make:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        return int(exit_.value.code or 0), shown.out + shown.err

    def make(people: pd.DataFrame | None = None, **changes: object) -> Project:
        policy = small_policy(**changes)
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
        people = small_people() if people is None else people
        people.to_csv(tmp_path / "people.csv", index=False)
        people.to_parquet(tmp_path / "people.parquet", index=False)
        release(policy, tmp_path)
        return Project(tmp_path, call)

    return make


def release(policy: Policy, folder: Path) -> None:
    """Make the release of a project."""
    make_release(policy, Locations.of(folder, {}))


@pytest.fixture(scope="session")
def kept_releases() -> dict[str, Path]:
    """Folders with a release, by the files and keys that it was made from."""
    return {}


@pytest.fixture
def releases_once(
    kept_releases: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make equal releases of `project` once: for tests of what becomes of a release, not of making it."""
    makes = release

    def once(policy: Policy, folder: Path) -> None:
        made_from = _digest(policy, folder)
        if {path.name for path in folder.iterdir()} != INPUTS:
            makes(policy, folder)
        elif made_from in kept_releases:
            shutil.copytree(kept_releases[made_from], folder, symlinks=True, dirs_exist_ok=True)
        else:
            makes(policy, folder)
            kept_releases[made_from] = tmp_path_factory.mktemp("release") / "kept"
            shutil.copytree(folder, kept_releases[made_from], symlinks=True)

    monkeypatch.setattr(sys.modules[__name__], "release", once)


def _digest(policy: Policy, folder: Path) -> str:
    keys = sorted((name, value) for name, value in os.environ.items() if name.startswith("ANON_"))
    sha = hashlib.sha256(repr((policy.model_dump_json(), keys)).encode())
    for name in sorted(INPUTS):
        sha.update((folder / name).read_bytes())
    return sha.hexdigest()
