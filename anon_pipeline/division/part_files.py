"""Writes the records of a source into a Parquet file for each partition, some at a time."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from anon_pipeline.base.disk import make_folder, replace_file
from anon_pipeline.base.errors import InputError, PublishError, error_words, withhold_text
from anon_pipeline.base.quiet import quiet_elsewhere
from anon_pipeline.division.leftovers import IGNORED, MARK, is_free
from anon_pipeline.draft.private_files import make_private_folder
from anon_pipeline.publish.lock import hold_folder
from anon_pipeline.vault.crypto import Sealer, VaultKey

_ROW_GROUP: Final = 2**17  # records of a row group
_WAITING: Final = 2**21  # records of all partitions that wait to be written
_BEGUN: Final = 4  # row groups that are still to be written while further records are read
_SAMPLE: Final = 2**14  # records that tell which columns repeat
_TIMES: Final = 4  # that each value occurs on average, in columns that do
_CHUNK: Final = 2**16  # bytes of an encrypted file that wait to be a chunk: there may be a thousand files


class PartFile:
    """A Parquet file with personal data: records wait until they fill a row group.

    ``waiting`` counts them, ``full`` is how many the next row group has.

    Args:
        path: of the file, which must not be there.
        schema: of the records.
        made: gets the file as soon as it is there.
        key: encrypts the file, under its name; None: it is not encrypted.
    """

    def __init__(self, path: Path, schema: pa.Schema, made: list[Path], key: VaultKey | None) -> None:
        self._stack = ExitStack()
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        made.append(path)
        file: BinaryIO = self._stack.enter_context(os.fdopen(handle, "wb"))
        if key is not None:
            file = self._stack.enter_context(_encrypt(file, key, path.name))
        self._file, self._schema = file, schema
        self._writer: pq.ParquetWriter | None = None
        self._tables: list[pa.Table] = []
        self.waiting, self.full = 0, _ROW_GROUP

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._writer is None:
            self._writer = self._open_writer(self._schema.empty_table())
        self._stack.__exit__(kind, error, trace)

    def add(self, table: pa.Table) -> None:
        """Take records."""
        self._tables.append(table)
        self.waiting += len(table)

    def take(self) -> Callable[[], None]:
        """Return what writes the records that wait, as one row group; no record waits then."""
        tables, many = self._tables, self.waiting
        self._tables, self.waiting, self.full = [], 0, _ROW_GROUP
        return lambda: self._write(tables, many)

    def write(self) -> None:
        """Write the records that wait, as one row group."""
        self.take()()

    def _write(self, tables: list[pa.Table], many: int) -> None:
        if not many:
            return
        group = pa.concat_tables(tables)
        if self._writer is None:
            self._writer = self._open_writer(group)
        self._writer.write_table(group, row_group_size=many)

    def _open_writer(self, first: pa.Table) -> pq.ParquetWriter:
        """Open the writer of all row groups; it does no more than releases need, which saves a third.

        They read all records, so nobody needs the least and largest value of a row group. Columns of values
        that hardly repeat get no dictionary: the writer would give it up in each row group.

        Args:
            first: the first row group.
        """
        some = first.slice(0, _SAMPLE)
        few = [name for name in first.column_names if _repeats(some[name])]
        writer = pq.ParquetWriter(
            self._file, self._schema, use_dictionary=few or False, write_statistics=False
        )
        return self._stack.enter_context(writer)


def _repeats(column: pa.ChunkedArray) -> bool:
    """Tell whether the values of a column repeat, four times each or more; also if they cannot be counted."""
    try:
        return bool(pc.count_distinct(column, mode="all").as_py() * _TIMES <= len(column))
    except pa.ArrowNotImplementedError:
        return True


class _Writing:
    """Writes row groups in a thread, one after the other, while the next records are read."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)  # no two write into one file
        self._begun: deque[Future[None]] = deque()

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the row group that is being written; after an error the others are not."""
        self._thread.shutdown(cancel_futures=True)

    def write(self, part: PartFile) -> None:
        """Write the records of a partition; wait if many row groups are still to be written.

        Raises:
            OSError: one before could not be written.
        """
        self._begun.append(self._thread.submit(quiet_elsewhere(part.take())))
        self.wait(_BEGUN)

    def wait(self, most: int = 0) -> None:
        """Wait until at most so many row groups are still to be written; see `write`."""
        while len(self._begun) > most:
            self._begun.popleft().result()


@contextmanager
def _encrypt(file: BinaryIO, key: VaultKey, name: str) -> Iterator[BinaryIO]:
    """Encrypt what is written to a file; it opens only if nothing failed."""
    sealer = Sealer(file, key, name, chunk=_CHUNK)
    yield cast(BinaryIO, sealer)
    sealer.finish()


def write_parts(
    rows: Iterable[pa.Table],
    owners: NDArray[np.integer],
    paths: list[Path],
    *,
    made: list[Path],
    key: VaultKey | None = None,
) -> None:
    """Write each record into the file of its partition, in the order of the source.

    Args:
        rows: the records, some at a time.
        owners: (n,) partition of each.
        paths: of the files, 0600, in a folder that is held, see `hold_part_folder`.
        made: gets each file when it is begun, see `removed_unless_done`.
        key: encrypts the files; None: they are not encrypted.
    Raises:
        InputError: a file cannot be written, or the source has other records than it had before.
    """
    parts: list[PartFile] = []
    said = f"{paths[0].parent.name}: must be a folder that files can be written to"
    with withhold_text(said, OSError), ExitStack() as stack:
        begin = 0
        files = stack.enter_context(ExitStack())  # closed when the thread has ended
        writing = stack.enter_context(_Writing())
        for table in rows:
            if not parts:
                parts = [files.enter_context(PartFile(path, table.schema, made, key)) for path in paths]
                for at, part in enumerate(parts, 1):  # else all are full at the same time
                    part.full = _ROW_GROUP * at // len(parts)
            own = owners[begin : begin + len(table)]
            begin += len(table)
            if len(own) < len(table):
                raise InputError("the source must not change while it is divided, it did")
            _share_out(table, own, parts, writing)
            if sum(part.waiting for part in parts) > _WAITING:
                for part in sorted(parts, key=lambda part: -part.waiting)[: -(-len(parts) // 2)]:
                    writing.write(part)
        if begin < len(owners):
            raise InputError("the source must not change while it is divided, it did")
        for part in parts:
            writing.write(part)
        writing.wait()


def _share_out(
    table: pa.Table, owners: NDArray[np.integer], parts: list[PartFile], writing: _Writing
) -> None:
    """Hand records to their partitions; those of one that has a row group together are written."""
    order = np.argsort(owners, kind="stable")
    ends = np.cumsum(np.bincount(owners, minlength=len(parts)))
    sorted_rows = table.take(pa.array(order))
    for part, begin, end in zip(parts, [0, *ends[:-1]], ends, strict=True):
        if end > begin:
            part.add(sorted_rows.slice(int(begin), int(end - begin)))
            if part.waiting >= part.full:
                writing.write(part)


@contextmanager
def hold_part_folder(folder: Path, policy: Path) -> Iterator[None]:
    """Make the folder of partitions, for private files, and hold it while they and their policy are written.

    Args:
        policy: that will be written last; see `leftovers`.
    Raises:
        InputError: the folder or a file in it cannot be made or written, or another process writes there.
    """
    reason = None
    try:
        make_folder(folder.parent)
        make_private_folder(folder)
        folder.chmod(0o700)
        with ExitStack() as held:
            try:
                held.enter_context(hold_folder(folder, wait=0))
            except PublishError:
                raise InputError(
                    f"{folder.name}: must be a folder of its own, another process writes there"
                ) from None
            if not is_free(folder):  # another division was written there in the meantime
                raise InputError("the folder of partitions (--to) must be a new or an empty folder")
            text = os.fsencode(policy.absolute())
            replace_file(folder / MARK, text, mode=0o600, what="mark of a division")
            held.callback((folder / MARK).unlink, missing_ok=True)
            yield
    except OSError as error:
        reason = error_words(error)
    if reason is not None:
        raise InputError(f"{folder.name}: must be a folder that files can be written to: {reason}")


def remove_part_files(folder: Path, keys: Sequence[str]) -> None:
    """Remove the files of partitions, and their folder if it is that of this division alone, and empty then.

    Args:
        keys: of the partitions.
    Raises:
        InputError: a file cannot be removed.
    """
    with withhold_text(f"{folder.name}: must be a folder whose files can be removed", OSError):
        for key in keys:
            (folder / f"{key}.parquet").unlink(missing_ok=True)
        own = {key.partition(".")[0] for key in keys} == {folder.name}
        if own and [path.name for path in folder.iterdir()] == [IGNORED]:
            (folder / IGNORED).unlink()
            folder.rmdir()


@contextmanager
def removed_unless_done(made: list[Path], folder: Path) -> Iterator[None]:
    """If anything fails, remove the files that were made by then, and the folder if it is new and empty."""
    is_new = not folder.exists()
    try:
        yield
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            if is_new and [path.name for path in folder.iterdir()] == [IGNORED]:
                (folder / IGNORED).unlink()
                folder.rmdir()
        raise
