"""What Dagster records of a crash in a private stage: its type and place, no frame, no line, no local."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.failures import as_failure

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_a_traceback_of_a_private_stage_ends_where_the_stage_begins(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quoting(policy: object, frame: pd.DataFrame, **_: object) -> pd.DataFrame:
        secret = "CANARY-7f3a"
        raise ValueError(f"{secret} in {frame!r}")

    monkeypatch.setattr("anon_pipeline.stages.pipeline.accepted_input", quoting)
    result = project().run("small_release")
    lines = []
    for event in result.all_events:
        error = event.step_failure_data.error if event.is_step_failure else None
        while error is not None:
            lines += [error.message, *error.stack, str(error.context)]
            error = error.cause
    text = "\n".join(lines)
    assert "crashed with ValueError at" in text
    assert "test_failures.py:" in text  # the place
    assert "CANARY" not in text
    assert "secret" not in text  # neither the line nor the local
    assert "in quoting" not in text
    assert "pipeline.py" not in text


def test_failures_are_not_retried() -> None:
    with pytest.raises(dg.Failure) as raised, as_failure():
        raise InputError("a rule")
    assert raised.value.allow_retries is False
    assert raised.value.description == "a rule"
    assert raised.value.__context__ is None
