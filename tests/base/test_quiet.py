"""Libraries may say that there is something, and where; never what."""

from __future__ import annotations

import logging
import threading
import warnings

import pytest

from anon_pipeline.base.errors import InputError, StageCrashed, private_stage
from anon_pipeline.base.quiet import WITHHELD, own_words, quiet

CANARY = "CANARY-7f3a"


def test_a_warning_keeps_its_kind_and_place_and_loses_its_text() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with quiet():
            warnings.warn(CANARY, RuntimeWarning, stacklevel=1)
    assert [(w.category, str(w.message), w.filename) for w in heard] == [(RuntimeWarning, WITHHELD, __file__)]


class Versions(UserWarning):
    """A warning that takes more than a text, as some of scikit-learn's do."""

    def __init__(self, found: str, wanted: str) -> None:
        self.found, self.wanted = found, wanted

    def __str__(self) -> str:
        return f"{CANARY}: {self.found}, {self.wanted}"


def test_a_warning_of_a_kind_that_takes_no_text_is_of_the_built_in_kind() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with quiet():
            warnings.warn(Versions("1", "2"), stacklevel=1)
    assert [(w.category, str(w.message)) for w in heard] == [(UserWarning, WITHHELD)]


def test_a_filter_that_makes_errors_of_warnings_still_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(StageCrashed, match="RuntimeWarning"), private_stage("raw"):
            warnings.warn(CANARY, RuntimeWarning, stacklevel=1)


def test_a_log_record_keeps_its_kind_and_loses_text_arguments_and_exception(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with quiet():
        try:
            raise ValueError(CANARY)
        except ValueError:
            logging.getLogger("library").exception("got %s", CANARY, stack_info=True)
    logging.getLogger("library").error("outside %s", "again")
    inside, outside = caplog.records
    assert (inside.name, inside.levelname, inside.getMessage()) == ("library", "ERROR", WITHHELD)
    assert inside.exc_info is None
    assert CANARY not in caplog.text
    assert outside.getMessage() == "outside again"


def test_nested_and_crashing_stages_leave_logging_as_it_was() -> None:
    before = logging.getLogRecordFactory()
    with pytest.raises(ValueError, match="x"), quiet(), quiet():
        raise ValueError("x")
    assert logging.getLogRecordFactory() is before


def test_threads_may_leave_in_any_order_and_others_are_not_silenced(
    caplog: pytest.LogCaptureFixture,
) -> None:
    entered, left = threading.Event(), threading.Event()

    def other() -> None:
        with quiet():
            entered.set()
            left.wait(10)
            logging.getLogger("other").error(CANARY)

    thread = threading.Thread(target=other)
    with quiet():
        thread.start()
        entered.wait(10)
    logging.getLogger("mine").error("mine")
    left.set()
    thread.join()
    logging.getLogger("mine").error("later")
    assert [record.getMessage() for record in caplog.records] == ["mine", WITHHELD, "later"]


class PanicException(BaseException):
    """As pyo3 raises it."""


@pytest.mark.parametrize("error", [PanicException(CANARY), SystemExit(CANARY), KeyboardInterrupt(CANARY)])
def test_what_is_no_exception_but_has_a_text_is_reduced(error: BaseException) -> None:
    with pytest.raises(StageCrashed) as raised, private_stage("raw"):
        raise error
    assert CANARY not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(2), SystemExit(), GeneratorExit()])
def test_an_interrupt_passes_without_what_led_to_it(error: BaseException) -> None:
    def interrupted() -> None:
        try:
            raise ValueError(CANARY)
        except ValueError:
            raise error  # noqa: B904 - its context is wanted

    with pytest.raises(type(error)) as raised, private_stage("raw"):
        interrupted()
    assert raised.value.__context__ is None


def test_a_named_failure_passes_without_its_notes() -> None:
    error = InputError("height: must be otherwise")
    error.add_note(CANARY)
    with pytest.raises(InputError) as raised, private_stage("raw"):
        raise error from ValueError(CANARY)
    assert not getattr(raised.value, "__notes__", None)
    assert raised.value.__cause__ is None


def test_own_words_are_heard_and_nothing_else_is(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("ours")
    with quiet():
        with own_words():
            log.warning("%s nodes counted", 12)
            other = threading.Thread(target=_said_elsewhere)
            other.start()
            other.join()
        log.warning(CANARY)
    assert [record.getMessage() for record in caplog.records] == ["12 nodes counted", WITHHELD, WITHHELD]


def _said_elsewhere() -> None:
    with quiet():
        logging.getLogger("library").warning(CANARY)
