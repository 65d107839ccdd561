"""Who in Dagster is told of a release; what they are told: `test_instance_events`, `test_pipes_report`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.cli.dagster_reports import Reports, refuse_unreportable, reports_of
from anon_pipeline.cli.run_output import Asked
from anon_pipeline.orchestration.pipes_process import pipes_of_process
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from tests.warm_process import WarmProcess

OPTIONS: dict[str, Any] = {"pipes": None, "to_dagster": False, "span": None, "partition": None}


def test_nobody_is_told_unless_somebody_asks(small_policy: Callable[..., Policy], tmp_path: Path) -> None:
    asked = Asked(small_policy(), Locations.of(tmp_path), None)
    assert reports_of(asked, OPTIONS) == Reports()
    refuse_unreportable(asked.policy, OPTIONS)


@pytest.mark.parametrize(
    ("options", "named"),
    [({"span": "2026-01-05...2026-01-12"}, "--partitions"), ({"to_dagster": True}, "--report-to-dagster")],
)
def test_a_run_of_dagster_is_about_one_release_and_told_once(
    small_policy: Callable[..., Policy],
    started: Callable[..., Path],
    options: dict[str, Any],
    named: str,
) -> None:
    started()
    with (
        pipes_of_process() as pipes,
        pytest.raises(InputError, match=f"{named} must be left out in a process that Dagster Pipes"),
    ):
        refuse_unreportable(small_policy(), {**OPTIONS, **options, "pipes": pipes})


def test_a_url_of_releases_with_a_password_is_refused_before_anything_is_made(
    small_policy: Callable[..., Policy],
    started: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started()
    monkeypatch.setenv("ANON_PIPELINE_RELEASES_URL", "https://user:CANARY@example.org")
    asked = Asked(small_policy(), Locations.of(tmp_path), None)
    with (
        pipes_of_process() as pipes,
        pytest.raises(InputError, match="must be a URL without login") as refused,
    ):
        reports_of(asked, {**OPTIONS, "pipes": pipes})
    assert "CANARY" not in str(refused.value)


PROGRAM = """
import sys
from anon_pipeline.cli import cli
try:
    cli(standalone_mode=False)
finally:
    print(sorted({"dagster", "dagster_pipes"} & set(sys.modules)))
"""


def test_a_release_without_dagster_imports_nothing_of_it(
    folder: Callable[..., Any], warm: WarmProcess
) -> None:
    made = folder()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DAGSTER")}
    arguments = ("run", "policy.yaml", "--json")
    done = warm.run(PROGRAM, *arguments, site=made.path, environment=environment, cwd=made.path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
    assert len(made.released) == 4
