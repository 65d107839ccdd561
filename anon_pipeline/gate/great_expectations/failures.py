"""What goes wrong on personal data, said to Great Expectations without the data.

Great Expectations writes message and traceback of an error into its results, with all errors that led to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anon_pipeline.base.errors import AnonPipelineError, StageCrashed, private_stage

_T = TypeVar("_T")


class MeasureFailed(AnonPipelineError):
    """A number that could not be measured. ``kind`` is the type of the error, ``reason`` holds no value."""

    def __init__(self, name: str, kind: str, reason: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(f"{name} could not be measured: {kind}: {reason}")


def without_values(name: str, work: Callable[[], _T]) -> _T:
    """Do something on personal data; if it raises, say so without what the error may quote.

    What is raised here has no cause, no context and no frames that hold data.

    Raises:
        MeasureFailed: with the type of any other error; with its text if it is a named one.
    """
    try:
        with private_stage(name):
            return work()
    except AnonPipelineError as error:
        kind = error.kind if isinstance(error, StageCrashed) else type(error).__name__
        failure = MeasureFailed(name, kind, str(error))
    raise failure
