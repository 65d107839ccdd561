"""All named errors, and how a private stage fails without revealing its data."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from types import TracebackType
from typing import Any, NoReturn

from anon_pipeline.base.quiet import quiet
from anon_pipeline.base.record_numbers import RecordNumbers

ANOTHER_DRAW = "where there is noise, a changed policy draws it again, which costs ε"
"""Goes with every advice that is followed by changing the policy, since the draw may be paid for already."""
_PACKAGE = __name__.partition(".")[0]


class AnonPipelineError(Exception):
    """A named failure: its text is safe to show to anybody. ``exit_code`` is the CLI's.

    passing: whether a place did not answer, so that the same may succeed a moment later, see `may_pass`.
    """

    exit_code = 2
    passing = False


class _Listed(AnonPipelineError):
    """A failure with all of its culprits, a line each."""

    def __init__(self, problems: str | Sequence[str]) -> None:
        self.problems: tuple[str, ...] = (problems,) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(self.problems))


class PolicyError(_Listed):
    """The policy breaks its own rules; ``problems`` lists every mistake."""


class PluginError(_Listed):
    """A plugin that the deployment allows cannot be used; names it and what is wrong."""


class _Aside:
    """What goes along with an error and is in no text of it: not shown, not copied, not pickled."""

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any] = ()) -> None:
        self.items = tuple(items)

    def __repr__(self) -> str:
        """Say how many there are."""
        return f"({len(self.items)} withheld)"

    def __reduce__(self) -> tuple[type[_Aside], tuple[()]]:
        """Leave it where it is."""
        return _Aside, ()


class InputError(_Listed):
    """The data, a hierarchy or a key does not fit the policy; ``problems`` lists every mistake.

    Args:
        problems: a line per mistake.
        names: names from the data, which may be cells, a line each. They are in no message, and only
            `withheld_names` returns them, for a terminal whose user has asked for them.
        records: numbers of the records with a mistake, for each kind of it. As names are; only
            `withheld_records` and `withheld_numbers` return them.
    """

    def __init__(
        self,
        problems: str | Sequence[str],
        *,
        names: Sequence[str] = (),
        records: Sequence[RecordNumbers] = (),
    ) -> None:
        self._names, self._records = _Aside(names), _Aside(records)
        super().__init__(problems)

    def withheld_names(self) -> tuple[str, ...]:
        """Return names from the data, which may be personal: for a terminal alone, never for a log."""
        return self._names.items

    def withheld_records(self) -> tuple[str, ...]:
        """Return the first records with each kind of mistake: for a terminal alone, never for a log."""
        return tuple(one.first for one in self._records.items)

    def withheld_numbers(self) -> tuple[RecordNumbers, ...]:
        """Return all records with mistakes: for a private file alone, never for a log."""
        return self._records.items


class PublishError(_Listed):
    """The release could not be written; what was published before is untouched.

    Unless ``in_place``: then readers see the new release, and what failed came after the manifest's rename:
    the disk did not confirm it, or the ledger did not answer.
    """

    def __init__(self, problems: str | Sequence[str], *, in_place: bool = False) -> None:
        self.in_place = in_place
        super().__init__(problems)


class ScratchError(_Listed):
    """The folder for columns of large tables cannot be used; nothing is wrong with the data or the policy.

    What was published before is untouched. It is no `InputError`: where those are counted or passed over,
    this one ends the release.
    """


class NotAFileError(OSError):
    """A path names a pipe or a device, whose end may never come; for `error_words`."""


class InfeasibleError(AnonPipelineError):
    """No recoding keeps the limits. By how much they are missed is the curator's, and in no message.

    Args:
        message: the rule that could not be kept, without a number that was measured.
        exact: what was measured, a sentence; `exact` adds what could be reached.
        k: class size that was asked for, in records.
        reached_k: largest smallest-class size that the suppression limit allows; 0 if none.
        suppressed: share of the records that keeping all limits would have suppressed, in [0, 1].
    """

    exit_code = 3

    def __init__(self, message: str, *, k: int, reached_k: int, suppressed: float, exact: str = "") -> None:
        self.k, self.reached_k, self.suppressed = k, reached_k, suppressed
        self.exact = (
            f"{exact} Largest k within the suppression limit: {reached_k}. "
            f"Keeping all limits would suppress {suppressed:.2%} of the records."
        ).lstrip()
        super().__init__(f"{message} On a terminal, --show-values says by how much.")


class AllWaitError(InfeasibleError):
    """No class of a stream's partition is large enough yet: all of its records wait for later ones."""

    def __init__(self, k: int) -> None:
        said = "stream: there is nothing to release yet: all records that have arrived wait for later ones."
        super().__init__(said, k=k, reached_k=0, suppressed=1.0)
        self.args, self.exact = (said,), said


class TooFewWaitedError(AllWaitError):
    """The records of a stream's partition that may not wait longer are fewer than k: they are left out.

    Args:
        records: how many they are, for the curator.
    """

    def __init__(self, k: int, records: int) -> None:
        super().__init__(k)
        said = (
            "stream: there is nothing to release: no class of k records can be made of those that may not "
            "wait longer, so they are in no release. If this happens often, set stream.delay higher, or "
            "lower k. On a terminal, --show-values says how many they are."
        )
        self.args, self.exact = (
            (said,),
            f"Records that may not wait longer: {records:,}, fewer than k = {k:,}.",
        )


class GateRefused(AnonPipelineError):
    """The gate refused the release; ``report`` holds every verdict, with all numbers: for the curator.

    ``advises``: computes ``advice``, which can take long. ``kept``: where the curator finds the numbers, too;
    None: nowhere.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        report: object = None,
        *,
        kept: str | None = None,
        advises: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.report, self.kept, self.advises = report, kept, advises
        super().__init__(message)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to change in the policy, a sentence each; computed when somebody first asks, and then kept."""
        found = tuple(self.advises())
        self.advises = partial(tuple, found)
        return found


class StageCrashed(AnonPipelineError):
    """A bug inside a private stage, reduced to its type and place, because its text may quote the data."""

    exit_code = 70

    def __init__(self, stage: str, kind: str, place: str) -> None:
        self.stage, self.kind, self.place = stage, kind, place
        super().__init__(
            f"The stage {stage} crashed with {kind} at {place}. The original message is withheld because "
            f"it may quote personal data. This is a bug: please report the type and the place."
        )

    def __reduce__(self) -> tuple[type[StageCrashed], tuple[str, str, str], dict[str, bool]]:
        """Let another process hand it over: its text is no argument."""
        return StageCrashed, (self.stage, self.kind, self.place), {"passing": self.passing}


def _place(trace: TracebackType | None) -> str:
    """Return the innermost file (within its package, no local folder) and line of a traceback."""
    frames = traceback.extract_tb(trace)
    if not frames:
        return "an unknown place"
    parts = PurePath(frames[-1].filename).parts
    begins = [
        i + (part == "site-packages") for i, part in enumerate(parts) if part in ("site-packages", _PACKAGE)
    ]
    return f"{'/'.join(parts[begins[-1] :] if begins else parts[-1:])}:{frames[-1].lineno}"


def raise_alone(error: AnonPipelineError) -> NoReturn:
    """Raise without a context, which Python would set to the exception that is being handled."""
    try:
        raise error
    finally:
        error.__context__ = None


_PASSING = frozenset(
    number
    for name in (
        "EAGAIN", "EBUSY", "EDQUOT", "EHOSTUNREACH", "EINTR", "EIO", "EMFILE", "ENETDOWN", "ENETUNREACH",
        "ENFILE", "ENOSPC", "ESTALE", "ETIMEDOUT",
    )
    if (number := getattr(errno, name, None)) is not None
)  # fmt: skip


def may_pass(error: BaseException | None) -> bool:
    """Tell whether an error, or one that led to it, is of a disk or a network that may soon be well."""
    while error is not None:
        if isinstance(error, (ConnectionError, TimeoutError, BlockingIOError, InterruptedError)):
            return True
        if isinstance(error, OSError) and error.errno in _PASSING:
            return True
        error = error.__cause__ or error.__context__
    return False


def is_named(error: BaseException) -> bool:
    """Whether this is a named failure of this package; what others derive from one may say anything."""
    return isinstance(error, AnonPipelineError) and type(error).__module__.partition(".")[0] == _PACKAGE


def _says_nothing(error: BaseException) -> bool:
    """Whether this is an interrupt or an exit, and not more: no text that somebody would print."""
    silent = all(value is None or isinstance(value, int) for value in error.args)
    return silent and not isinstance(error, Exception)


def _strip(error: BaseException) -> None:
    """Take away what led to an error and what was noted on it."""
    error.__cause__ = error.__context__ = None
    vars(error).pop("__notes__", None)


@contextmanager
def private_stage(stage: str) -> Iterator[None]:
    """Let named failures pass; reduce any other exception to its type and place.

    Warnings and log records lose their text as well (`quiet`).

    Raises:
        StageCrashed: without cause or context, so that no handler further out can print the data. Named
            failures of this package and interrupts pass, without them and without notes, too. What is no
            `Exception` but has a text (an exit with a message, a panic of a library in Rust) is reduced like
            a bug.
    """
    try:
        with quiet():
            yield
    except BaseException as error:  # pandas, Arrow and Pandera quote cells in their messages
        if isinstance(error, AnonPipelineError) and may_pass(error):
            error.passing = not getattr(error, "in_place", False)
        if is_named(error) or _says_nothing(error):
            _strip(error)
            raise
        crash = StageCrashed(stage, type(error).__name__, _place(error.__traceback__))
        crash.passing = may_pass(error)
    else:
        return
    raise_alone(crash)


_IN_WORDS: dict[type[Exception], str] = {
    FileNotFoundError: "it is not there",
    PermissionError: "it may not be read",
    IsADirectoryError: "it is a folder",
    NotAFileError: "it is no plain file",
    UnicodeDecodeError: "it is in another encoding",
}


def error_words(error: Exception) -> str:
    """Say what kind of error this is, in plain words or by its type; never by its text."""
    return _IN_WORDS.get(type(error), type(error).__name__)


def encoding_words(encoding: str) -> str:
    """Say that a table is not written in the encoding that its options name, and what to write."""
    other = "utf-8" if encoding.lower() in ("cp1252", "windows-1252") else "cp1252"
    return (
        f"it was read as {encoding}, and is in another encoding. Write which in the table's options, such as "
        f"source: {{options: {{encoding: {other}}}}}"
    )


@contextmanager
def withhold_text(message: str, *kinds: type[Exception], encoding: str | None = None) -> Iterator[None]:
    """Turn exceptions of some kinds into an `InputError` that names the kind and drops the text.

    Args:
        message: the rule that was broken.
        kinds: what a reader raises on bad input; named failures of this package pass.
        encoding: what the text is read as, where options of the policy say so.
    Raises:
        InputError: without cause or context, since Arrow, csv and codecs quote what they could not read.
    """
    try:
        yield
    except AnonPipelineError:
        raise
    except kinds as error:
        told = encoding is not None and isinstance(error, UnicodeDecodeError)
        words = encoding_words(str(encoding)) if told else error_words(error)
        refused = InputError(f"{message}: {words}")
    else:
        return
    raise_alone(refused)
