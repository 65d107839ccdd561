"""The commands of docs/tutorial.md, in order, in a folder as a fresh clone has it: they do what it shows."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

from benchmarks.tutorial import PAGE, SERVER, Step, not_printed, run, serve, steps
from tests.docs.conftest import Clone

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_command_does_what_the_page_shows(clone: Clone) -> None:
    done = 0
    for step in steps(TEXT):
        if step.command == SERVER:
            with serve(step, clone.path, clone.environ) as address:
                assert "customers" in _groups(address)
        else:
            code, printed = run(step, clone.path, clone.environ)
            assert code == 0, (step.command, printed)
            assert not_printed(step, printed) == [], printed
        done += 1
    assert done == TEXT.count("\n$ ")
    _is_in_the_policy(clone.path / "assets" / "releases" / "customers" / "defs.yaml")


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
