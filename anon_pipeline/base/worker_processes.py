"""A function of many arguments, worked out by several processes of this program at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from anon_pipeline.base.errors import InputError, private_stage

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_STARTS: Final = "forkserver" if sys.platform == "linux" else "spawn"  # neither copies the memory of this one


def map_in_processes(
    function: Callable[[_Item], _Result], items: Sequence[_Item], *, jobs: int, stage: str
) -> Iterator[_Result]:
    """Yield what a function returns of each item, in their order.

    The processes end when the last one is yielded, or when this one ends. They have its environment.

    Args:
        function: can be pickled, as can items and results; with one job it is called here instead.
        jobs: processes at a time, ≥ 1.
        stage: named where the function crashes in another process, see `private_stage`.
    Raises:
        InputError: a process was ended from outside, or could not begin.
        Other errors: of the function.
    """
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(function, items)
        return
    context = multiprocessing.get_context(_STARTS)
    context.set_forkserver_preload([function.__module__])  # once for all of them
    pool = ProcessPoolExecutor(
        jobs,
        mp_context=context,
        initializer=_begin,
        initargs=(dict(os.environ), str(Path.cwd())),
    )
    try:
        yield from pool.map(partial(_call, function, stage), items)
    except BrokenProcessPool:
        raise InputError(
            "a process of --jobs ended unexpectedly, perhaps for lack of memory. Take fewer jobs."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(environment: Mapping[str, str], folder: str) -> None:
    """Make this process like the one that has started it, and let it end with that."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one is told, too
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)


def _end_with_parent() -> None:
    """Wait until the process that waits for this one has ended, however that happens; then end, too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(128 + signal.SIGTERM)


def _call(function: Callable[[_Item], _Result], stage: str, item: _Item) -> _Result:
    """Call the function; what it raises says nothing of the data."""
    with private_stage(stage):
        return function(item)
