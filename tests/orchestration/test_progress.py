"""Dagster's log says how far a search is, in a few lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from anon_pipeline.base.observer import Progress, Step
from anon_pipeline.orchestration.progress import Log


def test_a_line_is_written_each_time_that_the_count_has_doubled() -> None:
    lines: list[str] = []
    log = Log(lines.append)
    log(Step("raw"))
    log(Progress("loading"))
    for counted in range(1, 1001):
        log(Progress("searching", counted, 1000 - counted))
    assert lines[:2] == ["raw", "loading kernels; compiling them takes a while, once on a machine"]
    assert lines[2] == "comparing combinations of levels (nodes)"
    assert [line.split()[2] for line in lines[3:]] == [str(2**i) for i in range(9)]


def test_the_search_of_a_run_is_in_its_log(
    project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_pipeline.recode.fulldomain import search

    monkeypatch.setattr(search, "_TELL", 0.0)
    made = project()
    result = made.run("small_release")
    assert result.success
    lines = [entry.user_message for entry in made.instance.all_logs(result.run_id)]
    assert any("nodes counted" in line for line in lines)
    assert any("loading kernels" in line for line in lines)
