"""How much memory a release of a file needs, about, before its records are read.

Measured with tables of 15 columns: docs/scale.md, "What a table needs". A compressed text file is counted as
it is, so its table needs more.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.size_bounds import file_size
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.bounds import refuse_footer
from anon_pipeline.sources.parquet_rows import files_of
from anon_pipeline.sources.paths import local_path

LIBRARIES: Final = 350 * 2**20  # bytes
_CELL: Final = 20  # bytes of a value
_TEXT: Final = 2.3  # bytes for each byte of a text file


def needed_memory(policy: Policy, folder: Path, partition: str | None) -> int | None:
    """Return the bytes of memory that a release needs, about; None: nobody knows before the source is read.

    Args:
        folder: of the sources.
    """
    source = policy.source
    entry = FORMATS[source.format]
    if source.watched is None or source.encrypted or not entry.needs:
        return None
    try:
        files = files_of(local_path(source.watched, "source.path", folder, partition)).values()
        bytes_of: Callable[[Path], int] = import_entry(entry.needs)
        return LIBRARIES + sum(map(bytes_of, files))
    except (
        InputError,
        OSError,
        ValueError,
        pa.ArrowException,
    ):  # the reader of the source says what is wrong
        return None


def bytes_of_text(path: Path) -> int:
    """Return what the table of a text file needs.

    Raises:
        OSError: not there.
    """
    return int(file_size(path) * _TEXT)


def bytes_of_parquet(path: Path) -> int:
    """Return what the table of a Parquet file needs, by the numbers of records and columns in its metadata.

    Raises:
        InputError: the metadata is too large.
        OSError, pa.ArrowException: unreadable.
    """
    refuse_footer(path)
    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows * file.metadata.num_columns * _CELL)
