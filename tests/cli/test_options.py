"""Options that commands share: in their order, and what follows from them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from anon_pipeline.base.errors import InputError
from anon_pipeline.cli.options import (
    MISTAKES_TO,
    SHOW_VALUES,
    command_to_run,
    open_policy,
    project_options,
    source_options,
    this_project_option,
    together,
)
from tests.cli.projects import Folder


def test_options_are_added_in_their_order() -> None:
    @click.command()
    @together(click.option("--a"), together(click.option("--b"), click.option("--c")), click.option("--d"))
    def command(**_: object) -> None: ...

    assert [option.name for option in command.params] == ["a", "b", "c", "d"]

    @click.command()
    @project_options
    def placed(**_: object) -> None: ...

    @click.command()
    @source_options
    def reading(**_: object) -> None: ...

    assert [option.name for option in placed.params] == ["project", "allow_outside"]
    assert [option.name for option in reading.params][:2] == ["project", "allow_outside"]


def test_what_is_to_be_shown_or_written_is_noted_and_no_argument(tmp_path: Path) -> None:
    @click.command()
    @source_options
    @click.pass_context
    def command(ctx: click.Context, **given: object) -> None:
        click.echo(f"{sorted(given)} {ctx.meta[SHOW_VALUES]} {ctx.meta[MISTAKES_TO]}")

    run = CliRunner().invoke
    assert run(command, []).output == "['allow_outside', 'project'] False None\n"
    asked = run(command, ["--show-values", "--mistakes-to", str(tmp_path / "m")])
    assert asked.output == f"['allow_outside', 'project'] True {tmp_path / 'm'}\n"


def test_a_command_without_a_policy_is_about_this_folder() -> None:
    @click.command()
    @this_project_option("Whose.")
    def command(project: Path) -> None:
        click.echo(project)

    assert CliRunner().invoke(command, []).output == ".\n"
    assert CliRunner().invoke(command, ["--project", "gone"]).exit_code == 2


def test_a_policy_is_opened_in_its_project_and_may_not_leave_it(
    folder: Callable[..., Folder], tmp_path: Path
) -> None:
    made = folder()
    (made.path / "pyproject.toml").touch()
    policy, locations = open_policy(made.path / "policy.yaml", None)
    assert (policy.name, locations.sources) == ("small", made.path)
    leaves = folder(source={"path": "../people.csv"})
    with pytest.raises(InputError, match="must stay within the folder of sources"):
        open_policy(leaves.path / "policy.yaml", None)
    open_policy(leaves.path / "policy.yaml", None, outside=True)


@pytest.mark.parametrize("name", ["a.yaml", "a b'.yaml", "a\nb.yaml", "\x1b[31m'\\.yaml", "é\x07.yaml"])
def test_a_command_is_printed_without_signs_that_a_terminal_obeys(name: str) -> None:
    command = command_to_run(Path(name), {"partition": "2026-01"})
    assert command.isprintable()
    script = f"anon-pipeline() {{ printf '%s|' \"$@\"; }}; {command}"
    shown = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=True)
    assert shown.stdout.decode() == f"run|{name}|--partition|2026-01|"
