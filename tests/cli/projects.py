"""A project folder with a policy and its data, and commands called in it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.open_questions import MARK

People = Callable[..., pd.DataFrame]


@dataclass(frozen=True)
class Done:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Folder:
    """A project folder with a policy and its data."""

    path: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def call(self, *arguments: str) -> Done:
        """Run a command in the folder."""
        self.patch.chdir(self.path)
        self.patch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        self.patch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = self.capture.readouterr()
        return Done(int(exit_.value.code or 0), shown.out, shown.err)

    @property
    def released(self) -> list[Path]:
        """Files at the destination."""
        return sorted(path for path in (self.path / "out").rglob("*") if path.is_file())


@pytest.fixture
def folder(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    small_policy: Callable[..., Policy],
    small_people: People,
) -> Callable[..., Folder]:
    """Write a project; changes go to the policy's sections."""

    def make(people: pd.DataFrame | str | None = None, **changes: object) -> Folder:
        write_policy(tmp_path / "policy.yaml", small_policy(**changes))
        if isinstance(people, str):
            (tmp_path / "people.csv").write_text(people)
        else:
            (small_people() if people is None else people).to_csv(tmp_path / "people.csv", index=False)
        return Folder(tmp_path, capsys, monkeypatch)

    return make


def write_policy(path: Path, policy: Policy) -> None:
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    path.write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))


def accept_questions(policy: Path) -> None:
    """Remove the marks of questions of `init`, as whoever accepts what it proposed does."""
    policy.write_text(policy.read_text().replace(MARK, "#"))


def commands(
    capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs a command in the working folder: exit code, output, error output."""

    def run(*arguments: str) -> tuple[int, str, str]:
        patch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        shown = capture.readouterr()
        return int(exit_.value.code or 0), shown.out, shown.err

    return run
