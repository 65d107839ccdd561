"""Errors and log records of libraries that reach catalogs, stores and clusters: their texts are withheld."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from anon_pipeline.base.errors import AnonPipelineError, InputError, error_words, raise_alone

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
    raise_alone(refused)


def _condition(error: Exception) -> str | None:
    """Return the name that Spark has for a kind of error, from a fixed list: ``TABLE_OR_VIEW_NOT_FOUND``."""
    named = getattr(error, "getCondition", None)
    found = named() if callable(named) else None
    return found if isinstance(found, str) and _CONDITION.fullmatch(found) else None


class _Holding:
    """What is held back in this process, and by how many: the last one of them puts it back."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders: dict[str, int] = {}
        self._levels: dict[str, int] = {}
        self._warnings: Any = None

    def begin(self, names: tuple[str, ...]) -> None:
        """Hold back records of some loggers, and warnings."""
        with self._lock:
            if not self._holders:
                self._warnings = warnings.catch_warnings()
                self._warnings.__enter__()
                warnings.simplefilter("ignore")
            for name in names:
                log = logging.getLogger(name)
                if not self._holders.get(name):
                    self._levels[name] = log.level
                self._holders[name] = self._holders.get(name, 0) + 1
                log.setLevel(logging.CRITICAL + 1)

    def end(self, names: tuple[str, ...]) -> None:
        """Put back what nobody else holds back."""
        with self._lock:
            for name in names:
                self._holders[name] -= 1
                if not self._holders[name]:
                    del self._holders[name]
                    logging.getLogger(name).setLevel(self._levels.pop(name))
            if not self._holders:
                self._warnings.__exit__(None, None, None)


_HOLDING = _Holding()


@contextmanager
def hold_back_logs(*names: str) -> Iterator[None]:
    """Hold back log records of some loggers, and all warnings, in the whole process.

    Args:
        names: of the loggers, one at least. Their libraries must be imported, or they find loggers of another
            class, and may set their level anew.
    """
    _HOLDING.begin(names)
    try:
        yield
    finally:
        _HOLDING.end(names)
