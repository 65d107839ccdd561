"""The commands of docs/tutorial.md, in order, in a folder as a fresh clone has it: they do what it shows."""

from __future__ import annotations

import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import pytest

from benchmarks.tutorial import PAGE, ROOT, SERVER, Step, not_printed, run, serve, steps

TEXT = PAGE.read_text(encoding="utf-8")
CLONED = ("Makefile", "assets", "constraints.txt", "pyproject.toml", "resources", "workspace.yaml")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what the commands need, and an environment that `make` takes for its own."""
    for name in CLONED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    (tmp_path / ".dagster_home").mkdir()
    shutil.copy(ROOT / ".dagster_home" / "dagster.yaml", tmp_path / ".dagster_home")
    made = tmp_path / ".venv"
    made.mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name not in {".dev", ".runtime"}:
            (made / path.name).symlink_to(path)
    (made / ".runtime").touch()
    (made / ".dev").touch()
    return tmp_path


def test_every_command_does_what_the_page_shows(clone: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environ |= {"PATH": f"{clone}/.venv/bin{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = 0
    for step in steps(TEXT):
        if step.command == SERVER:
            with serve(step, clone, environ) as address:
                assert "customers" in _groups(address)
        else:
            code, printed = run(step, clone, environ)
            assert code == 0, printed
            assert not_printed(step, printed) == [], printed
        done += 1
    assert done == TEXT.count("\n$ ")
    _is_in_the_policy(clone / "assets" / "releases" / "customers" / "defs.yaml")


def _is_in_the_policy(policy: Path) -> None:
    """The part of the policy that the page shows stands in it."""
    (shown,) = [block.split("```")[0] for block in TEXT.split("```yaml\n")[1:]]
    assert shown in policy.read_text(encoding="utf-8")


def _groups(address: str) -> list[str]:
    query = "{ assetNodes { groupName } }"
    request = urllib.request.Request(
        f"{address}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [node["groupName"] for node in json.load(answer)["data"]["assetNodes"]]


def test_what_a_page_shows_wrongly_is_seen() -> None:
    (step,) = steps("```console\n$ echo it\n…\nfirst … line\nlast\n```\n")
    assert step == Step("echo it", ("…", "first … line", "last"))
    assert not_printed(step, "first of all  line\r\nbetween\r\nlast\r\n") == []
    assert not_printed(step, "last\nfirst line") == ["last"]
    assert not_printed(step, "first line") == ["last"]


def test_a_command_fails_and_is_answered(tmp_path: Path) -> None:
    step = Step("read -p 'What [as proposed]: ' said; echo got $said; exit 3", ("What [as proposed]: noise",))
    code, printed = run(step, tmp_path, os.environ)
    assert (code, "got noise" in printed) == (3, True)
