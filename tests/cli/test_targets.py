"""Files that `compare` and `tune` are asked to write: none replaces the policy, its source or the other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from tests.cli.projects import Folder


@pytest.mark.parametrize("command", [["compare", "--with", "k=6"], ["tune"]], ids=lambda one: one[0])
@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (["--csv", "policy.yaml"], "policy.yaml must be a file of its own"),
        (["--csv", "people.csv"], "people.csv must be a file of its own"),
        (["--csv", "x", "--map", "x"], "x must be a file of its own"),
        (["--map", "nowhere/map.svg"], "its folder does not exist"),
    ],
)
def test_files_that_cannot_be_written_are_refused_first(
    folder: Callable[..., Folder], command: list[str], targets: list[str], said: str
) -> None:
    made = folder()
    before = {name: (made.path / name).read_bytes() for name in ("policy.yaml", "people.csv")}
    done = made.call(command[0], "policy.yaml", *command[1:], *targets)
    assert done.code == 2 and said in done.err
    assert {name: (made.path / name).read_bytes() for name in before} == before
    assert not (made.path / "x").exists()


def test_tables_that_the_policy_reads_are_not_replaced(folder: Callable[..., Folder]) -> None:
    made = folder()
    written = yaml.safe_load((made.path / "policy.yaml").read_text())
    written["attributes"]["columns"]["city"]["hierarchy"] = {"table": "levels.csv"}
    (made.path / "policy.yaml").write_text(yaml.safe_dump(written))
    (made.path / "levels.csv").write_text("a,*\n")
    done = made.call("compare", "policy.yaml", "--with", "k=6", "--csv", "levels.csv")
    assert done.code == 2 and "levels.csv must be a file of its own" in done.err
    assert (made.path / "levels.csv").read_text() == "a,*\n"
