"""The scenarios of `leak_scenarios` in Dagster's own program, every step in a process of its own.

Both ends are here: the scenarios, which start ``dagster job execute`` with the multiprocess executor, and
the code location that it loads, in the program's process and again in every step's. What is to go wrong is
told by the environment. Belongs here: those. Does not belong here: the search.

The program is started as ``python -m dagster`` does it, in forks of a process that has imported it. The first
run starts from nothing; in the others each step does, whose process Dagster spawns.
"""

import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import dagster as dg

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import load_policy
from tests.adversarial.blows import BLOWS, Blow, Outcomes, blown, said
from tests.forked import run_forked

__all__ = ["location", "scenarios"]

_PROJECT, _SELECT, _TARGET, _KIND = "LEAK_PROJECT", "LEAK_SELECT", "LEAK_TARGET", "LEAK_KIND"


def _dies(original: Callable[..., Any]) -> Callable[..., Any]:
    """Be killed with private data at hand, in the middle of a step."""

    def blow(*arguments: Any, **_: Any) -> None:
        held = said(arguments)
        os.kill(os.getpid(), signal.SIGKILL)
        print(held)

    return blow


_KINDS: dict[str, Blow] = {**BLOWS, "dies": _dies}
_CRASHES = (
    ("published", "anon_pipeline.publish.release.write_release", "leaves"),
    ("check", "anon_pipeline.orchestration.gate_checks.evaluate", "panics"),
    ("k_anonymized", "anon_pipeline.stages.pipeline.recode", "raises"),
    ("perturbed", "anon_pipeline.encode.noise.add_noise", "dies"),
)
"""What is run again in the project that has passed, what crashes in it, and how; the last ones spoil it."""

_FORKING = dg.multiprocess_executor.configured(
    {"start_method": {"forkserver": {"preload_modules": ["tests.adversarial.leak_program"]}}}
)
"""For the run of all steps: each is a process of its own that imports nothing anew. Others are spawned."""


def location() -> dg.Definitions:
    """Return the release of a project, with a job whose steps are processes; something in it may go wrong.

    A step is tried again without waiting.
    """
    mock.patch("anon_pipeline.orchestration.stage.RETRY_SECONDS", 0).start()
    if _TARGET in os.environ:
        blown(os.environ[_TARGET], _KINDS[os.environ[_KIND]]).start()
    project = Path(os.environ[_PROJECT])
    selected = os.environ[_SELECT]
    executor = _FORKING if selected == "all" else dg.multiprocess_executor
    job = dg.define_asset_job("steps", _selected(selected), executor_def=executor)
    definitions = build_release(load_policy(project / "policy.yaml"), project)
    return dg.Definitions.merge(definitions, dg.Definitions(jobs=[job]))


def _selected(what: str) -> dg.AssetSelection:
    if what == "all":
        return dg.AssetSelection.all()
    if what == "check":
        return dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey(["small", "suppressed"]), "k"))
    return dg.AssetSelection.assets(dg.AssetKey(["small", what])).without_checks()


def scenarios(outcomes: Outcomes) -> None:
    """Let the program pass, then crash: leaving, panicking, raising, killed in the middle of a step."""
    project = outcomes.project()
    outcomes.add("program: passes", _start(project, {_SELECT: "all"}), True)
    outcomes.add("program: published alone passes", _run(project, {_SELECT: "published"}), True)
    manifest = project / "out" / "manifest.json"
    released = manifest.read_bytes()
    for what, target, kind in _CRASHES:
        ended = _run(project, {_SELECT: what, _TARGET: target, _KIND: kind})
        outcomes.add(f"program: {what} {kind}", ended, False)
    outcomes.add("program: the release is as it was", manifest.read_bytes() == released, True)


_ASKED = ("--module-name", "tests.adversarial.leak_program", "--attribute", "location", "--job", "steps")


def _start(project: Path, wanted: dict[str, str]) -> bool:
    """Execute the job as whoever types it does; tell whether it succeeded."""
    program = [sys.executable, "-m", "dagster", "job", "execute", *_ASKED]
    environment = {**os.environ, _PROJECT: str(project), **wanted}
    return subprocess.run(program, env=environment, stdin=subprocess.DEVNULL, check=False).returncode == 0


def _run(project: Path, wanted: dict[str, str]) -> bool:
    """Do the same in a fork."""
    return os.waitstatus_to_exitcode(run_forked(partial(_become, {_PROJECT: str(project), **wanted}))) == 0


def _become(environment: dict[str, str]) -> None:
    """Be ``python -m dagster`` in this fork, and end as it does.

    Raises:
        AssertionError: it did not end.
    """
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(environment)
    sys.argv[1:] = ["job", "execute", *_ASKED]
    code: object = 0
    try:
        runpy.run_module("dagster", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    assert code in (0, None)
