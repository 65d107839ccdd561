"""What Dagster records of a crash in a private stage: its type and place, no frame, no line, no local."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode import noise
from anon_pipeline.ledger import ledger_at
from anon_pipeline.orchestration.component import build_release
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


def test_a_policy_with_open_questions_is_refused_before_anything_is_read(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(*_: object, **__: object) -> pd.DataFrame:
        raise AssertionError("the source was read")

    monkeypatch.setattr("anon_pipeline.orchestration.assets.read_source", unread)
    made = project()
    asked = build_release(made.policy.with_open_questions((1, 4)), made.folder)
    result = replace(made, definitions=asked).run("small_release")
    (failed,) = (event for event in result.all_events if event.is_step_failure)
    assert failed.step_key == "small__raw"
    assert "2 questions of init stand in the policy" in failed.step_failure_data.error.message
    assert made.released() == []


def test_failures_are_not_retried() -> None:
    with pytest.raises(dg.Failure) as raised, as_failure():
        raise InputError("a rule")
    assert raised.value.allow_retries is False
    assert raised.value.description == "a rule"
    assert raised.value.__context__ is None


def failing(*results: BaseException | None) -> Callable[..., None]:
    """Return a function that ends as each result says, in turn."""
    left = iter(results)

    def end(*_: object, **__: object) -> None:
        result = next(left)
        if result is not None:
            raise result

    return end


@pytest.mark.parametrize(
    ("error", "tried"),
    [
        (OSError(28, "full"), 3),
        (TimeoutError(), 3),
        (ConnectionResetError(), 3),
        (OSError(13, "denied"), 1),
        (ValueError("CANARY-7f3a"), 1),
        (InputError("a rule"), 1),
    ],
    ids=str,
)
def test_only_a_place_that_does_not_answer_is_tried_again(
    project: Make, monkeypatch: pytest.MonkeyPatch, error: Exception, tried: int
) -> None:
    made = project()
    monkeypatch.setattr("anon_pipeline.orchestration.assets.read_source", failing(*[error] * 5))
    result = made.run("small_release")
    assert not result.success
    kinds = [event.event_type for event in result.all_events if event.step_key == "small__raw"]
    assert kinds.count(dg.DagsterEventType.STEP_RESTARTED) == tried - 1
    assert "CANARY" not in "".join(str(event) for event in result.all_events)


def test_a_refusal_is_not_tried_again_and_a_retry_draws_nothing_anew(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(gate={"linking_risk": 0.0}, budget={"epsilon": 2})
    result = made.run("small_release")
    kinds = [event.event_type for event in result.all_events]
    assert dg.DagsterEventType.STEP_UP_FOR_RETRY not in kinds
    made = project(name="other", budget={"epsilon": 2}, dataset="others")
    add_noise = noise.add_noise
    draws: list[object] = []

    def interrupted(*arguments: Any, **named: Any) -> Any:
        draws.append(add_noise(*arguments, **named))
        if len(draws) == 1:
            raise TimeoutError
        return draws[-1]

    monkeypatch.setattr("anon_pipeline.encode.noise.add_noise", interrupted)
    result = made.run("other_release")
    assert result.success
    assert len(draws) == 2
    events = ledger_at(f"sqlite:///{made.folder}/ledger.sqlite").events()
    assert [event.event for event in events if event.event == "drawn"] == ["drawn", "drawn"]  # one of each
