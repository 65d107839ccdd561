"""A process that a Pipes client has started: how it opens the way back, and what it refuses to make."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from dagster_pipes import (
    DagsterPipesWarning,
    PipesContext,
    PipesDefaultMessageWriter,
    open_dagster_pipes,
)

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.quiet import quiet
from anon_pipeline.orchestration.pipes_process import POLICY_DIGEST, pipes_of_process, refuse_other_request
from anon_pipeline.policy import Policy
from tests.pipes_messages import messages_in

MakePolicy = Callable[..., Policy]


def test_a_process_that_dagster_has_not_started_opens_nothing() -> None:
    with pipes_of_process() as pipes:
        assert pipes is None


def test_without_dagster_its_packages_are_not_imported() -> None:
    program = (
        "import sys\n"
        "from anon_pipeline.cli import cli\n"
        "from anon_pipeline.orchestration.pipes_process import pipes_of_process\n"
        "with pipes_of_process(): pass\n"
        "print(sorted({'dagster', 'dagster_pipes'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_with_pipes_dagster_itself_is_not_imported(started: Callable[..., Path]) -> None:
    started()
    program = (
        "import sys\n"
        "from anon_pipeline.orchestration.pipes_process import pipes_of_process\n"
        "with pipes_of_process() as pipes: assert pipes is not None\n"
        "print(sorted({'dagster', 'dagster_pipes'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['dagster_pipes']"


def test_the_way_back_is_opened_and_closed(started: Callable[..., Path]) -> None:
    path = started()
    with pipes_of_process() as pipes:
        assert isinstance(pipes, PipesContext)
    assert [method for method, _ in messages_in(path.read_text())] == ["opened", "closed"]


def test_a_named_error_is_told_as_the_command_line_prints_it(started: Callable[..., Path]) -> None:
    path = started()
    with pytest.raises(InputError), quiet(), pipes_of_process():
        raise InputError("age must be a number", records=["record 7"])
    opened, told, closed = messages_in(path.read_text())
    assert told == ("log", {"message": "error: age must be a number", "level": "ERROR"})
    assert (opened[0], closed) == ("opened", ("closed", {}))


def test_of_a_bug_nothing_is_told(started: Callable[..., Path]) -> None:
    path = started()
    with pytest.raises(ValueError, match="CANARY"), pipes_of_process():
        raise ValueError("CANARY-7f3a")
    assert "CANARY" not in path.read_text()
    assert messages_in(path.read_text())[-1] == ("closed", {})


def test_messages_may_go_to_the_log_of_a_pod(
    started: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    started({"stdio": "stderr"})
    with pipes_of_process() as pipes:
        click.echo("… raw", err=True)
        assert pipes is not None
        pipes.report_asset_check("k", passed=True)
    assert [method for method, _ in messages_in(capsys.readouterr().err)] == [
        "opened",
        "report_asset_check",
        "closed",
    ]


def test_a_program_may_bring_a_writer_of_its_own(
    started: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = started()
    monkeypatch.setattr(PipesContext, "_instance", None)
    own = open_dagster_pipes(message_writer=PipesDefaultMessageWriter())
    with pipes_of_process() as pipes:
        assert pipes is own
    assert not own.is_closed
    own.close()
    assert [method for method, _ in messages_in(path.read_text())] == ["opened", "closed"]


def test_the_stand_in_of_a_program_without_dagster_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PipesContext, "_instance", None)
    with pytest.warns(DagsterPipesWarning, match="not launched by a Dagster"):
        open_dagster_pipes()
    with pipes_of_process() as pipes:
        assert pipes is None


@pytest.mark.parametrize("messages", [{"bucket": "CANARY-7f3a"}, {"path": 5}, {"stdio": "CANARY-7f3a"}])
def test_another_writer_is_refused_by_name(started: Callable[..., Path], messages: dict[str, Any]) -> None:
    started(messages)
    with (
        pytest.raises(InputError, match="call the command line from a program that opens Pipes") as refused,
        pipes_of_process(),
    ):
        pass
    assert "CANARY" not in str(refused.value)


def test_variables_that_are_broken_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_PIPES_MESSAGES", "CANARY-7f3a")
    with (
        pytest.raises(InputError, match="unset DAGSTER_PIPES_CONTEXT and DAGSTER_PIPES_MESSAGES"),
        pipes_of_process(),
    ):
        pass


def refusal(policy: Policy, partition: str | None = None) -> str:
    """Return why a release would not be made."""
    with pipes_of_process() as pipes:
        assert pipes is not None
        try:
            refuse_other_request(pipes, policy, partition)
        except InputError as error:
            return str(error)
    return ""


KEYS = {"partition_key": "2026-01-05", "partition_key_range": {"start": "2026-01-05", "end": "2026-01-05"}}


def test_the_release_that_dagster_waits_for_is_made(
    started: Callable[..., Path], small_policy: MakePolicy
) -> None:
    policy = small_policy()
    started(extras={POLICY_DIGEST: policy.digest})
    assert refusal(policy) == ""
    started(**KEYS)
    assert refusal(policy, "2026-01-05") == ""


@pytest.mark.parametrize(
    ("context", "partition", "why"),
    [
        ({"asset_keys": ["other/published"]}, None, "another asset than small/published"),
        ({"asset_keys": None}, None, "another asset than small/published"),
        (KEYS, None, "--partition must be the partition of Dagster's run, 2026-01-05"),
        (KEYS, "2026-01-12", "--partition must be the partition of Dagster's run, 2026-01-05"),
        ({}, "2026-01-05", "--partition must be left out"),
        ({"extras": {POLICY_DIGEST: "0" * 64}}, None, "the policy must be the one that Dagster has loaded"),
    ],
)
def test_another_release_is_refused(
    started: Callable[..., Path], small_policy: MakePolicy, context: Any, partition: str | None, why: str
) -> None:
    started(**context)
    assert why in refusal(small_policy(), partition)
