"""Work in a forked child, also where a fork never returns."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests import forked


def _dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fails() -> None:
    raise RuntimeError


def test_it_tells_how_a_child_ended() -> None:
    assert forked.killed(_dies)
    assert not forked.killed(lambda: None)
    assert forked.run_forked(lambda: None) == 0
    assert os.waitstatus_to_exitcode(forked.run_forked(_fails)) == 1


def test_a_fork_that_does_not_return_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real, forks = os.fork, []

    def stuck() -> int:
        child = real()
        forks.append(child)
        if child == 0 and len(forks) == 1:
            time.sleep(60)
        return child

    monkeypatch.setattr(os, "fork", stuck)
    monkeypatch.setattr(forked, "_RETURNS", 0.5)
    assert forked.killed(_dies)
    assert len(forks) == 2
