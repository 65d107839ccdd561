"""Errors and log records of libraries that reach catalogs, stores and clusters: their texts are withheld."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from anon_pipeline.base.errors import AnonPipelineError, InputError, error_words

_CONDITION = re.compile(r"[A-Z][A-Z0-9_.]{2,79}")


@contextmanager
def withhold_errors(said: str) -> Iterator[None]:
    """Withhold what a library, its stores and its drivers say of errors: places, logins and cells.

    Args:
        said: how the message begins.
    Raises:
        InputError: without cause or context. `AnonPipelineError` is raised again as it is.
    """
    try:
        yield
    except AnonPipelineError:
        raise
    except Exception as error:  # noqa: BLE001 - each catalog, store and cluster has errors of its own
        refused = InputError(f"{said}: {_condition(error) or error_words(error)}")
    else:
        return
    try:
        raise refused
    finally:
        refused.__context__ = None


def _condition(error: Exception) -> str | None:
    """Return the name that Spark has for a kind of error, from a fixed list: ``TABLE_OR_VIEW_NOT_FOUND``."""
    named = getattr(error, "getCondition", None)
    found = named() if callable(named) else None
    return found if isinstance(found, str) and _CONDITION.fullmatch(found) else None


@contextmanager
def hold_back_logs(*names: str) -> Iterator[None]:
    """Hold back log records of some loggers, and all warnings, in the whole process.

    Args:
        names: of the loggers.
    """
    logs = [logging.getLogger(name) for name in names]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)
