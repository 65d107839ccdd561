"""Tasks side by side, in threads of this process: arrays are sorted, hashed and looked up on each processor.

What a task returns must not depend on the others. What libraries log in a thread is withheld where it is
withheld here (`quiet`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from threading import RLock
from typing import Any, Self, TypeVar, overload

from anon_pipeline.base.quiet import quiet_elsewhere

LARGE = 2**15
"""Records from which threads are worth their start, and their turns at Python."""

HUGE = 2**22
"""Records from which tasks that need memory for whole columns run one after the other."""

_MOST = 8  # threads, for each has arrays of its own
_Result = TypeVar("_Result")


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def side_by_side(tasks: Sequence[Callable[[], _Result]], *, records: int = LARGE) -> list[_Result]:
    """Run tasks in as many threads as there are processors, the first one in this thread.

    Each thread that is through with a task takes one that none has begun, this thread, too.

    Args:
        records: that each task goes through; of fewer than `LARGE` one thread is as fast as several.
    Returns:
        What each returned, in the order of the tasks.
    Raises:
        Exception: of the first task in that order that raised one; all have ended by then.
    """
    most = min(processors(), _MOST, len(tasks))
    if most < 2 or records < LARGE:
        return [task() for task in tasks]
    with ThreadPoolExecutor(most - 1) as threads:
        others = [threads.submit(quiet_elsewhere(task)) for task in tasks[1:]]
        here = [_run_here(tasks[0])]
        here += [_run_here(tasks[at + 1]) if other.cancel() else other for at, other in enumerate(others)]
    return [one.result() for one in here]


def side_by_side_unless_huge(tasks: Sequence[Callable[[], _Result]], *, records: int) -> list[_Result]:
    """Run tasks that each need memory for whole columns: of `HUGE` tables one after the other.

    Arguments, what is returned and raised: see `side_by_side`.
    """
    if records >= HUGE:
        return [task() for task in tasks]
    return side_by_side(tasks, records=records)


def _run_here(task: Callable[[], _Result]) -> Future[_Result]:
    """Run a task that no other thread has begun, and hold what it returned, or its error."""
    held: Future[_Result] = Future()
    try:
        held.set_result(task())
    except Exception as error:  # noqa: BLE001 - raised once all tasks have ended
        held.set_exception(error)
    return held


class shared_property(cached_property[_Result]):
    """A `cached_property` that one thread makes while others wait for it, on each version of Python.

    Those after 3.11 have no lock: two threads would make it twice.
    """

    def __init__(self, func: Callable[[Any], _Result]) -> None:
        super().__init__(func)
        self._making = RLock()

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> _Result: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | _Result:
        """Return what was made of the instance, and make it before if nobody has."""
        with self._making:
            return super().__get__(instance, owner)
