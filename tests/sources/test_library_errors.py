"""What libraries say of errors is withheld: only its kind is told, or Spark's name for it."""

from __future__ import annotations

import logging
import warnings

import pytest

from anon_pipeline import InputError
from anon_pipeline.base.errors import PublishError
from anon_pipeline.sources.library_errors import hold_back_logs, withhold_errors

CANARY = "Quillfeather-4711"


class Named(Exception):
    """An error of Spark, with a condition."""

    def __init__(self, condition: object) -> None:
        super().__init__(CANARY)
        self.condition = condition

    def getCondition(self) -> object:
        return self.condition


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError(CANARY), "ValueError"),
        (FileNotFoundError(CANARY), "it is not there"),
        (Named("TABLE_OR_VIEW_NOT_FOUND"), "TABLE_OR_VIEW_NOT_FOUND"),
        (Named("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"), "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"),
        (Named(f"no name: {CANARY}"), "Named"),
        (Named(None), "Named"),
    ],
)
def test_the_kind_of_an_error_alone_is_said(error: Exception, words: str) -> None:
    with pytest.raises(InputError) as caught, withhold_errors("the rule"):
        raise error
    assert str(caught.value) == f"the rule: {words}"
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_named_failures_pass() -> None:
    with pytest.raises(PublishError, match="as it is"), withhold_errors("the rule"):
        raise PublishError("as it is")


def test_logs_and_warnings_are_held_back_and_come_again(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("some.library")
    log.setLevel(logging.DEBUG)
    with warnings.catch_warnings(record=True) as warned, hold_back_logs("some.library", "another"):
        log.error(CANARY)
        warnings.warn(CANARY, stacklevel=1)
    assert CANARY not in caplog.text
    assert not warned
    assert log.level == logging.DEBUG
    log.error("after")
    assert "after" in caplog.text


def test_the_last_who_holds_back_puts_back() -> None:
    log, seen = logging.getLogger("some.library"), [*warnings.filters]
    log.setLevel(logging.INFO)
    first, second = hold_back_logs("some.library"), hold_back_logs("some.library", "another")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not log.isEnabledFor(logging.CRITICAL)
    second.__exit__(None, None, None)
    assert log.level == logging.INFO
    assert [*warnings.filters] == seen
