"""The scenarios of `leak_scenarios` for a release that Dagster Pipes makes in another process.

What goes wrong is told to the process by its arguments. The first process starts from nothing; the others are
forks of the process that Dagster runs in, which has imported what they need.
Belongs here: those scenarios. Does not belong here: the search.
"""

import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from unittest import mock

import dagster as dg

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.release_elsewhere import Elsewhere
from anon_pipeline.policy import load_policy
from tests.adversarial.bad_inputs import CASES, BadInput, call
from tests.adversarial.blows import Outcomes
from tests.forked import run_forked

__all__ = ["scenarios"]

_PLAIN = "from anon_pipeline.cli import main; main()"
_BLOWN = """
from anon_pipeline.cli import main
from tests.adversarial.blows import BLOWS, blown
with blown({target!r}, BLOWS[{kind!r}]):
    main()
"""
_CRASHES = (
    ("anon_pipeline.stages.pipeline.recode", "raises", False),
    ("anon_pipeline.orchestration.gate_checks.suite_of", "leaves", False),
    ("anon_pipeline.orchestration.pipes_report.published_metadata", "panics", False),
    ("anon_pipeline.publish.release.write_release", "raises a named error", False),
    ("anon_pipeline.encode.noise.add_noise", "warns", True),
)
"""What goes wrong in the process, how, and whether the release is published all the same."""
_INPUTS = 3


def scenarios(outcomes: Outcomes) -> None:
    """Run all of them on the instance of DAGSTER_HOME."""
    with dg.DagsterInstance.get() as instance:
        outcomes.add("elsewhere: passes", _made(outcomes.project(), instance, _PLAIN), True)
        importlib.import_module("anon_pipeline.gate.great_expectations")  # so that no fork imports it
        here = call(outcomes.project(), ("run", "policy.yaml"))
        outcomes.add("elsewhere: passes here", here, 0)
        with mock.patch(_POPEN, _Forked):
            _wrong(outcomes, instance)


def _wrong(outcomes: Outcomes, instance: dg.DagsterInstance) -> None:
    """Let all go wrong that can: in the process, in the gate, in the input."""
    refusing = {"gate": {"linking_risk": 0.0, "suppression": 0.0, "t_closeness": {"illness": 0.0}}}
    for target, kind, published in _CRASHES:
        program = _BLOWN.format(target=target, kind=kind)
        made = _made(outcomes.project(), instance, program)
        outcomes.add(f"elsewhere: {target} {kind}", made, published)
    refused = outcomes.project(BadInput("refused", sections=refusing))
    outcomes.add("elsewhere: gate refuses", _made(refused, instance, _PLAIN), False)
    run = [case for case in CASES if case.arguments == ("run", "policy.yaml") and not case.files]
    for case in run[:_INPUTS]:
        made = _made(outcomes.project(case), instance, _PLAIN)
        outcomes.add(f"elsewhere: {case.name}", made, case.code == 0)


_POPEN = "dagster._core.pipes.subprocess.Popen"
"""What Dagster's client starts a process with."""


class _Forked:
    """``python -c`` as `Popen` starts it, but in a fork of this process; it ends before this is made."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], **_: object) -> None:
        status = run_forked(partial(_become, command[2:], env))
        self.returncode = os.waitstatus_to_exitcode(status)

    def wait(self) -> int:
        """Return the exit code."""
        return self.returncode


def _become(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Be a program in this fork, given its text and its arguments, and end as it does."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(environment)
    program, *sys.argv[1:] = arguments
    code: object = 0
    try:
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code
    except BaseException:
        code = 1
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    if isinstance(code, str):
        print(code, file=sys.stderr, flush=True)
    os._exit(code if isinstance(code, int) else int(code is not None))


def _made(folder: Path, instance: dg.DagsterInstance, program: str) -> bool:
    """Make the release of a project in a process; tell whether Dagster has accepted it."""
    policy = load_policy(folder / "policy.yaml")
    command = [sys.executable, "-c", program, "run", str(folder / "policy.yaml"), "--project", str(folder)]
    definitions = build_release(policy, folder, elsewhere=Elsewhere(command))
    job = definitions.resolve_job_def(f"{policy.name}_release")
    result = job.execute_in_process(instance=instance, raise_on_error=False)
    return bool(result.success and result.get_asset_materialization_events())
