"""What libraries say while personal data is at hand: that they said something and where, but not what.

Decision: docs/adr/0011-what-libraries-say-is-withheld.md.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

WITHHELD = "the text is withheld because it may quote personal data"
_OWN_WORDS = ContextVar("own_words", default=False)
_WITHHELD = ContextVar("withheld", default=False)
_Result = TypeVar("_Result")


@contextmanager
def own_words() -> Iterator[None]:
    """Let log records keep their text within `quiet`: around one call with words and counts of our own."""
    before = _OWN_WORDS.set(True)
    try:
        yield
    finally:
        _OWN_WORDS.reset(before)


@contextmanager
def quiet() -> Iterator[None]:
    """Withhold the text of every warning and log record of this thread; kind and place stay.

    A filter that makes errors of warnings still does. Threads that a library starts are not covered, those of
    `threads.side_by_side` are.
    """
    with _quiet_logs(), _quiet_warnings():
        yield


def quiet_elsewhere(task: Callable[[], _Result]) -> Callable[[], _Result]:
    """Return a task for another thread, whose log records lose their text there if they would here.

    Warnings are caught for the whole process, by the thread that waits for this one.
    """
    context = copy_context()

    def run() -> _Result:
        """Do the task as quietly as the thread that waits for it."""
        if not _WITHHELD.get():
            return task()
        with _quiet_logs():
            return task()

    return lambda: context.run(run)


@contextmanager
def _quiet_warnings() -> Iterator[None]:
    heard: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as heard:
            yield
    finally:
        for warning in heard:
            warnings.warn_explicit(WITHHELD, _kind(warning.category), warning.filename, warning.lineno)


def _kind(category: type[Warning]) -> type[Warning]:
    """Return a kind of warnings that takes any text and shows it: the built-in one, if need be."""
    own = [one for one in category.__mro__ if one.__module__ != "builtins"]
    if not any({"__new__", "__init__", "__str__"} & vars(one).keys() for one in own):
        return category
    return next(one for one in category.__mro__ if one not in own and issubclass(one, Warning))


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Make log records without their text; several threads may enter and leave in any order."""
    make, here, inside = logging.getLogRecordFactory(), threading.get_ident(), True

    def without_text(*arguments: Any, **named: Any) -> logging.LogRecord:
        """Make a log record; withhold the text of this thread's ones while the block runs."""
        record = make(*arguments, **named)
        if inside and threading.get_ident() == here and not _OWN_WORDS.get():
            record.msg, record.args = WITHHELD, ()
            record.exc_info = record.exc_text = record.stack_info = None
        return record

    logging.setLogRecordFactory(without_text)
    before = _WITHHELD.set(True)
    try:
        yield
    finally:
        inside = False
        _WITHHELD.reset(before)
        if logging.getLogRecordFactory() is without_text:
            logging.setLogRecordFactory(make)
