"""What could leak a canary, run in a process whose every output is searched afterwards (`leaks`).

Run as ``python -m benchmarks.leak_scenarios cli|dagster|inputs|program|control FOLDER``. Belongs here:
scenarios, each in a project below FOLDER. Does not belong here: the search.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.bad_inputs import CASES, BadInput, call, write_project
from benchmarks.canaries import DAY, HEIGHT, INCOME, PRIVATE, TEXT

__all__ = ["BLOWS", "Blow", "Outcomes", "blown", "main", "said"]

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


_STAGES = {
    "source": "anon_pipeline.release.read_source",
    "key": "anon_pipeline.release.hashing_key",
    "raw": "anon_pipeline.stages.pipeline.accept",
    "deidentified": "anon_pipeline.stages.pipeline.deidentify",
    "k_anonymized": "anon_pipeline.stages.pipeline.recode",
    "perturbed": "anon_pipeline.stages.pipeline.add_noise",
    "shuffled": "anon_pipeline.stages.pipeline.permutation",
    "suppressed": "anon_pipeline.stages.pipeline.confident",
    "bytes": "anon_pipeline.publish.release.to_bytes",
    "gate": "anon_pipeline.publish.release.evaluate",
    "writing": "anon_pipeline.publish.release.write_release",
    "report": "anon_pipeline.cli.releasing.print_report",
}
"""A function that each stage calls on the data, by the stage."""

_CODES = {"raises a named error": 2, "warns": 0}
_BUG = 70


def _cli(outcomes: Outcomes) -> None:
    """The command line: good and bad input, every kind of crash in every stage."""
    outcomes.add("passes", call(outcomes.project(), ("run", "policy.yaml")), 0)
    refusing = {"gate": {"linking_risk": 0.0}}
    refused = outcomes.project(BadInput("refused", sections=refusing))
    outcomes.add("gate refuses", call(refused, ("run", "policy.yaml")), 1)
    for case in CASES:
        outcomes.add(case.name, call(outcomes.project(case), case.arguments), case.code)
    for stage, target in _STAGES.items():
        for kind, blow in BLOWS.items():
            folder = outcomes.project()
            with blown(target, blow):
                code = _shown(folder, ("run", "policy.yaml"))
            outcomes.add(f"{stage} {kind}", code, _CODES.get(kind, _BUG))
    project = outcomes.project()
    with blown("anon_pipeline.limits.classes.class_closeness", _chained):
        outcomes.add("a measure raises", call(project, ("run", "policy.yaml")), 1)
    for kind in ("raises", "panics", "leaves"):
        with blown("anon_pipeline.publish.file_formats.read_parquet", BLOWS[kind]):
            asked = ("check", "any.parquet", "--policy", "policy.yaml")
            outcomes.add(f"check {kind}", _shown(project, asked), _BUG)
        with blown("anon_pipeline.tuning.tune.expect", BLOWS[kind]):
            asked = ("tune", "policy.yaml", "--epsilon", "1")
            outcomes.add(f"tune {kind}", _shown(project, asked), _BUG)
    _notebook(outcomes)


def _shown(folder: Path, arguments: tuple[str, ...]) -> int:
    """Run a command; what escapes is shown as Python would show it."""
    try:
        return call(folder, arguments)
    except BaseException:  # noqa: BLE001 - as the interpreter does at the end
        traceback.print_exc()
        return 1


def _notebook(outcomes: Outcomes) -> None:
    """`anonymize` in a notebook: all that an exception holds, and what its objects look like."""
    from anon_pipeline import anonymize, load_policy
    from benchmarks.canaries import people

    folder = outcomes.project()
    policy = load_policy(folder / "policy.yaml")
    made = anonymize(policy, people(), hierarchies=folder)
    print(repr(made), repr(made.report), repr(made.facts))
    outcomes.add("a notebook shows a release", made.report.passed, True)
    for stage, target in _STAGES.items():
        if "anon_pipeline.release.read" in target or "publish" in target or "cli" in target:
            continue
        for kind, blow in BLOWS.items():
            with blown(target, blow):
                ended = _told(partial(anonymize, policy, people(), hierarchies=folder))
            wanted = {"raises a named error": "InputError", "warns": "nothing"}.get(kind, "StageCrashed")
            outcomes.add(f"notebook: {stage} {kind}", ended, wanted)


def _told(work: Callable[[], object]) -> str:
    """Do something, and tell all that its exception and those behind it say."""
    try:
        work()
    except BaseException as error:  # noqa: BLE001 - every kind
        traceback.print_exception(error)
        for one in _behind(error):
            print(repr(one), one, one.args, getattr(one, "__notes__", ""), getattr(one, "problems", ""))
        return type(error).__name__
    return "nothing"


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if error.__cause__ is not None:
            yield from _behind(error.__cause__)
        error = error.__context__


def main(side: str, folder: str) -> None:
    """Run the scenarios of one side below a folder."""
    outcomes = Outcomes(Path(folder))
    if side == "cli":
        _cli(outcomes)
        return
    from benchmarks import leak_dagster, leak_program

    sides = {
        "dagster": leak_dagster.scenarios,
        "inputs": leak_dagster.inputs,
        "program": leak_program.scenarios,
        "control": leak_dagster.control,
    }
    sides[side](outcomes)


if __name__ == "__main__":
    main(*sys.argv[1:])
