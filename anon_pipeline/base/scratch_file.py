"""One file without a name for many arrays: a process may have more columns than files that it may open."""

from __future__ import annotations

import os
import tempfile
from bisect import insort
from collections import deque
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FILES: dict[tuple[int, str], ScratchFile] = {}
_ONE_OPENS = Lock()


class ScratchFile:
    """A file of a folder that has no name, and which of its bytes are free.

    Raises:
        OSError: the folder is none, or cannot be written to.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - until the process ends
        self._end = 0
        self._free: list[tuple[int, int]] = []  # where free bytes begin and end, in order, none touching
        self._returned: deque[tuple[int, int]] = deque()
        self._one_counts = Lock()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._file.fileno()).st_size

    def take(self, size: int) -> int:
        """Return where so many bytes begin that nobody uses, until they are given back."""
        with self._one_counts:
            self._count_returned()
            fitting = [(end - begin, begin) for begin, end in self._free if end - begin >= size]
            if not fitting:
                self._end += size
                return self._end - size
            room, begin = min(fitting)
            self._free.remove((begin, begin + room))
            if room > size:
                insort(self._free, (begin + size, begin + room))
            return begin

    def give_back(self, begin: int, size: int) -> None:
        """Let others use bytes that were taken, now or when some are taken next.

        It may be called at any time, also while this thread counts: it waits for nobody.
        """
        self._returned.append((begin, begin + size))
        if self._one_counts.acquire(blocking=False):
            try:
                self._count_returned()
            finally:
                self._one_counts.release()

    def _count_returned(self) -> None:
        """Add what was given back to what is free; free bytes at the end of the file are cut off."""
        while self._returned:
            insort(self._free, self._returned.popleft())
        joined: list[tuple[int, int]] = []
        for begin, end in self._free:
            if joined and joined[-1][1] == begin:
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((begin, end))
        self._free = joined
        if joined and joined[-1][1] == self._end:
            self._end = joined.pop()[0]
            os.ftruncate(self._file.fileno(), self._end)

    def write(self, data: NDArray[np.uint8], begin: int) -> None:
        """Write bytes at a place that was taken.

        Raises:
            OSError: the folder is full.
        """
        while len(data):
            written = os.pwrite(self._file.fileno(), data.data, begin)
            data, begin = data[written:], begin + written

    def read(self, data: NDArray[np.uint8], begin: int) -> None:
        """Fill an array with the bytes from a place on; other threads may read meanwhile.

        Raises:
            OSError: the file ends before that.
        """
        while len(data):
            read = os.preadv(self._file.fileno(), [data.data], begin)
            if not read:
                raise OSError("a file has an end before its data")
            data, begin = data[read:], begin + read


def scratch_file(folder: Path) -> ScratchFile:
    """Return the file of this process in a folder; a copy of the process makes its own.

    Raises:
        OSError: the folder is none, or cannot be written to.
    """
    place: Any = os.getpid(), str(folder.absolute())
    with _ONE_OPENS:
        if place not in _FILES:
            _FILES[place] = ScratchFile(folder)
        return _FILES[place]
