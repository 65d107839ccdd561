"""What goes wrong in a scenario of a leak: functions that raise, warn or leave with canaries in their words.

Belongs here: the blows, and how a scenario is noted. Does not belong here: the scenarios (`leak_command`,
`leak_dagster`, `leak_program`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from tests.adversarial.bad_inputs import BadInput, write_project
from tests.adversarial.canaries import DAY, HEIGHT, INCOME, PRIVATE, TEXT

__all__ = ["BLOWS", "Blow", "Outcomes", "blown", "said"]

Blow = Callable[..., Callable[..., Any]]


def said(arguments: object = ()) -> str:
    """Return a message that quotes everything: the canaries, and what a function was called with."""
    return f"{PRIVATE} {TEXT} {DAY} {HEIGHT} {INCOME} {arguments!r}"


def _chained(original: Callable[..., Any]) -> Callable[..., Any]:
    """Raise with canaries in the message, a note, the cause, and the cause's context."""

    def blow(*arguments: Any, **_: Any) -> None:
        try:
            try:
                raise KeyError(said())
            except KeyError:
                raise LookupError(said(), {PRIVATE: HEIGHT})  # noqa: B904 - its context is wanted
        except LookupError as cause:
            error = ValueError(said(arguments))
            error.add_note(said())
            raise error from cause

    return blow


def _named(original: Callable[..., Any]) -> Callable[..., Any]:
    """Raise a named error, safe in itself, that was caused by one which is not."""
    from anon_pipeline.base.errors import InputError

    def blow(*arguments: Any, **_: Any) -> None:
        try:
            raise ValueError(said(arguments))
        except ValueError as cause:
            error = InputError("height: must be otherwise")
            error.add_note(said())
            raise error from cause

    return blow


def _grouped(original: Callable[..., Any]) -> Callable[..., Any]:
    def blow(*arguments: Any, **_: Any) -> None:
        raise ExceptionGroup(said(arguments), [ValueError(said()), KeyError(said())])

    return blow


class PanicException(BaseException):
    """As pyo3 (cryptography, for one) raises it: no `Exception`."""


def _panics(original: Callable[..., Any]) -> Callable[..., Any]:
    def blow(*arguments: Any, **_: Any) -> None:
        raise PanicException(said(arguments))

    return blow


def _leaves(original: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the program with a text, which Python would print."""

    def blow(*arguments: Any, **_: Any) -> None:
        raise SystemExit(said(arguments))

    return blow


def _warns(original: Callable[..., Any]) -> Callable[..., Any]:
    """Warn and log, then work as ever."""

    def blow(*arguments: Any, **named: Any) -> Any:
        warnings.warn(said(arguments), stacklevel=1)
        logging.warning(said())
        try:
            raise ValueError(said())
        except ValueError:
            logging.getLogger("some.library").exception("read %s", said(arguments))
        return original(*arguments, **named)

    return blow


BLOWS: dict[str, Blow] = {
    "raises": _chained,
    "raises a named error": _named,
    "raises a group": _grouped,
    "panics": _panics,
    "leaves": _leaves,
    "warns": _warns,
}


def blown(target: str, blow: Blow) -> Any:
    """Replace a function, by its dotted name, with one that does its worst."""
    module, _, name = target.rpartition(".")
    return mock.patch(target, blow(getattr(import_module(module), name)))


@dataclass
class Outcomes:
    """How each scenario ended, against how it should have; a line each in a file beside the projects."""

    folder: Path
    count: int = 0

    def add(self, name: str, got: object, wanted: object) -> None:
        self.count += 1
        with (self.folder / "outcomes.jsonl").open("a") as file:
            file.write(json.dumps({"name": name, "got": str(got), "wanted": str(wanted)}) + "\n")

    def project(self, case: BadInput = BadInput("nothing", 0)) -> Path:  # noqa: B008 - frozen
        """Write a project, and note its files: they are given, not written by what is tried."""
        project = write_project(self.folder / "projects" / str(self.count), case)
        with (self.folder / "given.jsonl").open("a") as file:
            for path in sorted(path for path in project.rglob("*") if path.is_file()):
                line = [str(path), hashlib.sha256(path.read_bytes()).hexdigest()]
                file.write(json.dumps(line) + "\n")
        return project
