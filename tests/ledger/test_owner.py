"""Who has entered an event, and when it is certain that he has ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from anon_pipeline.ledger.owner import Life, current_owner, has_ended

HOST, NOBODY = socket.gethostname(), 2**22 + 1


def test_this_process_runs_and_one_that_has_ended_is_gone() -> None:
    assert has_ended(current_owner("run")) is Life.RUNS
    program = "from anon_pipeline.ledger.owner import current_owner; print(current_owner(''))"
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert has_ended(child.stdout.strip()) is Life.GONE


def test_a_number_that_was_given_out_again_is_not_the_owner() -> None:
    *parts, started = current_owner("run").split("/")
    assert has_ended("/".join([*parts, str(int(started) - 1)])) is Life.GONE


@pytest.mark.parametrize("place", [0, 3, 4], ids=["host", "boot", "namespace"])
def test_of_another_place_nothing_is_known(place: int) -> None:
    parts = current_owner("run").split("/")
    parts[place] = "1"
    assert has_ended("/".join(parts)) is Life.UNKNOWN
    parts[1] = str(NOBODY)
    assert has_ended("/".join(parts)) is Life.UNKNOWN


@pytest.mark.parametrize(
    ("owner", "life"),
    [
        (f"{HOST}/{NOBODY}/run", Life.UNKNOWN),  # another machine may have this one's name
        (f"{HOST}/{os.getpid()}/run", Life.UNKNOWN),  # the number alone may have been given out again
        (f"elsewhere/{NOBODY}/", Life.UNKNOWN),
        (f"{HOST}/{os.getpid()}////", Life.UNKNOWN),  # of a kernel that does not tell
        (f"{HOST}/{NOBODY}////", Life.UNKNOWN),
        (f"{HOST}/x/run", Life.UNKNOWN),
        (HOST, Life.UNKNOWN),
        ("", Life.UNKNOWN),
        (f"{HOST}/{10**30}/run", Life.UNKNOWN),
    ],
    ids=range(9),  # processes that test side by side have other numbers
)
def test_owners_of_older_versions_and_others(owner: str, life: Life) -> None:
    assert has_ended(owner) is life


def test_a_run_with_a_stroke_in_its_name_changes_nothing() -> None:
    assert has_ended(current_owner("a/b/c/d/e/f")) is Life.RUNS
