"""A second process compiles kernels where that helps, and ends with the first."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_pipeline.base.compilation import is_on_disk
from anon_pipeline.cli import compiling_ahead
from anon_pipeline.cli.compiling_ahead import (
    compile_last_kernels,
    end_compiling_ahead,
    start_compiling_ahead,
)
from anon_pipeline.cli.shared import Progress
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.templates import template
from anon_pipeline.stages.shuffle import exchange_places

ROOT = Path(compiling_ahead.__file__).parents[2]
LAST = ("anon_pipeline.perturb.", "anon_pipeline.stages.shuffle", "anon_pipeline.risk.linking")
COUNTED = """
import json, sys
from anon_pipeline.base import compilation
from anon_pipeline.cli.warmup_releases import Rehearsal, rehearsal_policy, small_table
from anon_pipeline.publish.whole_chain import anonymize
from numba.core import event

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__module__)
    def on_end(self, event):
        pass

compiled = []
event.register("numba:compile", Listener())
anonymize(rehearsal_policy(Rehearsal()), small_table())
print(json.dumps(compiled))
"""


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would be started, on a machine where nothing is compiled and a processor is free."""
    started: list[list[str]] = []
    monkeypatch.setattr(compiling_ahead, "free_processors", lambda: 1)
    monkeypatch.setattr("anon_pipeline.base.compilation.is_on_disk", lambda kernel: False)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: started.append(command))
    return started


def test_a_release_after_it_compiles_none_of_the_last_kernels(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ahead = [sys.executable, "-P", "-m", "anon_pipeline.cli.compiling_ahead"]
    with subprocess.Popen(ahead, env=environment, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as helper:
        assert helper.wait() == 0
    release = [sys.executable, "-c", COUNTED]
    compiled = json.loads(subprocess.run(release, env=environment, check=True, capture_output=True).stdout)
    assert any(module.startswith("anon_pipeline.recode.") for module in compiled)
    assert [module for module in compiled if module.startswith(LAST)] == []


@pytest.mark.parametrize("several", [True, False])
def test_what_it_calls_is_noised_shuffled_and_judged(monkeypatch: pytest.MonkeyPatch, several: bool) -> None:
    seen: dict[str, Any] = {}

    def evaluate(table: Any, policy: Any, *, originals: Any) -> None:
        seen.update(noisy=list(policy.perturbed), same=table is originals, records=len(table))

    monkeypatch.setattr("anon_pipeline.gate.evaluate", evaluate)
    compile_last_kernels(several=several)
    assert seen["noisy"] == ["height_cm", "weight_kg"][: 1 + several]
    assert seen["same"]
    assert seen["records"] > 300
    assert is_on_disk(exchange_places)


def test_it_is_started_where_it_helps(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    start_compiling_ahead()
    start_compiling_ahead(parse_policy(template("patients")))
    flags = [flag for flag, name in (("-I", "isolated"), ("-s", "no_user_site")) if getattr(sys.flags, name)]
    assert [command[1:] for command in commands] == [
        [*flags, "-P", "-m", "anon_pipeline.cli.compiling_ahead"]
    ] * 2
    monkeypatch.setattr(compiling_ahead, "free_processors", lambda: 0.4)
    assert start_compiling_ahead() is None
    monkeypatch.setattr(compiling_ahead, "free_processors", lambda: 1)
    monkeypatch.setattr("anon_pipeline.base.compilation.is_on_disk", lambda kernel: True)
    assert start_compiling_ahead() is None
    assert len(commands) == 2


def test_one_noisy_column_has_kernels_of_its_own(commands: list[list[str]]) -> None:
    document = yaml.safe_load(template("patients"))
    document["attributes"]["columns"]["weight_kg"] = {"role": "identifier", "action": "drop"}
    policy = parse_policy(yaml.safe_dump(document))
    assert list(policy.perturbed) == ["height_cm"]
    start_compiling_ahead(policy)
    assert commands[0][-1] == "one"


def test_a_machine_that_is_busy_or_small_has_none_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1}, raising=False)
    for load, free in ((0.0, 1.0), (1.0, 1.0), (1.5, 0.5), (9.0, -7.0)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0), raising=False)
        assert compiling_ahead.free_processors() == free


def test_where_the_load_or_the_interpreter_is_unknown_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (_ for _ in ()).throw(OSError("no /proc")), raising=False)
    assert compiling_ahead.free_processors() <= 0
    monkeypatch.setattr(compiling_ahead, "free_processors", lambda: 1)
    monkeypatch.setattr("anon_pipeline.base.compilation.is_on_disk", lambda kernel: False)
    monkeypatch.setattr(sys, "executable", None)
    assert start_compiling_ahead() is None


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about a process")
def test_it_is_given_no_secret_and_ends_when_its_parent_is_killed(
    tmp_path: Path,
) -> None:
    program = (
        "import os, time\n"
        "from anon_pipeline.base import compilation\n"
        "from anon_pipeline.cli import compiling_ahead\n"
        "compilation.is_on_disk = lambda kernel: False\n"
        "compiling_ahead.free_processors = lambda: 1\n"
        "process = compiling_ahead.start_compiling_ahead()\n"
        "time.sleep(1)\n"  # it has begun
        "print(process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    kernels = str(tmp_path)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": kernels,
        "PYTHONPATH": str(ROOT),
        "OWN_KEY": "of the vault",
    }
    parent = subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    helper = int(parent.stdout.readline())
    place = Path(f"/proc/{helper}/environ")
    if place.exists():
        with suppress(PermissionError):  # not readable is better still
            assert b"of the vault" not in place.read_bytes()
    parent.kill()
    parent.communicate()
    until = time.monotonic() + 60
    while _is_alive(helper) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _is_alive(helper)


def _is_alive(pid: int) -> bool:
    """Tell whether a process computes; one that has ended and that nobody asks about does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def test_it_ends_with_the_progress_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeping = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    monkeypatch.setattr(compiling_ahead, "start_compiling_ahead", lambda policy: sleeping)
    with Progress():
        assert sleeping.poll() is None
    assert sleeping.poll() is not None
    end_compiling_ahead(sleeping)  # once more is no mistake
