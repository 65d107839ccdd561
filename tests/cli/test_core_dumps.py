"""The program is not dumpable, its children are, and a host process stays as it was."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")

ASK = """
import ctypes, json, os, resource, subprocess, sys
ask = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
resource.setrlimit(resource.RLIMIT_CORE, (4096, 4096))
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
try:
    {call}
except SystemExit:
    pass
from anon_pipeline.publish.lock import _start_time
print(json.dumps({{
    "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "child": int(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout),
    "identity": _start_time(os.getpid()) is not None,
}}))
"""


def asked(call: str) -> dict[str, Any]:
    """Run something in a process of its own, and ask there what became of it."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(call=call)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


PROGRAM = "sys.argv = ['anon-pipeline', {arguments}]; from anon_pipeline.cli import main; main()"


@pytest.mark.parametrize("arguments", ["'run', 'policy.yaml'", "'check', 'x', '--policy', 'y'"])
def test_the_program_is_not_dumpable(arguments: str) -> None:
    found = asked(PROGRAM.format(arguments=arguments))
    assert (found["dumpable"], found["core"]) == (0, [0, 0])
    assert found["child"] == 1  # what it starts, such as a command for the key, is as ever
    assert found["identity"]  # the lock still knows who holds it


AS_NOBODY = """
import ctypes, os, subprocess
from anon_pipeline.cli.core_dumps import keep_out_of_dumps
from anon_pipeline.publish.lock import _start_time
os.setgid(65534)
os.setuid(65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
assert os.access("/proc/self/mem", os.R_OK)
keep_out_of_dumps()
assert not os.access("/proc/self/mem", os.R_OK)  # it is root's now
assert _start_time(os.getpid()) is not None  # the lock still knows who holds it
assert subprocess.run(["/bin/cat", "/proc/self/mem"], capture_output=True, close_fds=True).returncode == 1
assert subprocess.run(["/bin/true"], close_fds=True).returncode == 0
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_locks_and_children_work_for_who_is_not_root() -> None:
    subprocess.run([sys.executable, "-c", AS_NOBODY], check=True)


@pytest.mark.parametrize(
    "call",
    [
        "import anon_pipeline; anon_pipeline.anonymize; anon_pipeline.evaluate; anon_pipeline.tune",
        "import anon_pipeline.orchestration.component",
        "from click.testing import CliRunner; from anon_pipeline import cli; "
        "CliRunner().invoke(cli.cli, ['schema'])",
    ],
)
def test_a_host_process_is_left_alone(call: str) -> None:
    found = asked(call)
    assert (found["dumpable"], found["core"]) == (1, [4096, 4096])


def test_the_process_of_the_tests_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many tests call `main` in it; whoever they start would inherit a limit that it cannot raise again."""
    import resource

    from anon_pipeline import cli

    def state() -> tuple[tuple[int, int], int]:
        return resource.getrlimit(resource.RLIMIT_CORE), ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)

    before = state()
    monkeypatch.setattr(sys, "argv", ["anon-pipeline", "schema"])
    with pytest.raises(SystemExit):
        cli.main()
    assert state() == before
    assert before[1] == 1


def test_the_installed_program_is_main() -> None:
    text = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    assert 'anon-pipeline = "anon_pipeline.cli:main"' in text
