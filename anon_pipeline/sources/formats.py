"""One function for each format of files, as the table of formats names them: all take the same arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.size_bounds import Held, file_size, open_readable
from anon_pipeline.catalog.entries import Format
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.compressed_files import unpack
from anon_pipeline.sources.files import read_csv
from anon_pipeline.sources.parquet_columns import packed_parquet
from anon_pipeline.sources.sealed_files import unseal_file

_HEAD = 64  # bytes that are looked at
_TEXT = re.compile(rb"[^\x00-\x08\x0b\x0c\x0e-\x1f]*")


def read_file(
    form: str, file: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> Table:
    """Read a file of any format: decrypted first, and unpacked where files of that format may be compressed.

    Args:
        form: name of the format.
        numbers: columns that hold numbers.
    Raises:
        InputError: unreadable, malformed, or a limit that is not kept (its name).
    """
    entry = FORMATS[form]
    table: Table = import_entry(entry.reads)(_plain(file, entry, limits), options, limits, numbers)
    return table


def file_portions(
    form: str, file: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> Iterator[pa.Table]:
    """Yield the records of a file some at a time, as `read_file` reads them.

    Args:
        form: name of a format that has such a reader; see `catalog.entries.Format`.
    Raises:
        InputError: see `read_file`.
    """
    entry = FORMATS[form]
    portions: Iterator[pa.Table] = import_entry(entry.portions)(
        _plain(file, entry, limits), options, limits, numbers
    )
    return portions


def _plain(file: Path | Held, entry: Format, limits: Limits) -> Path | Held:
    """Return a file, or what is encrypted or packed in it, held in memory; refuse another format."""
    file = unseal_file(file, limits)
    _refuse_other_format(file, entry, "Write")
    plain = unpack(file, limits) if entry.packed else file
    if plain is not file:
        _refuse_other_format(plain, entry, "Unpack it, and write")
    return plain


def format_of(file: Path | Held) -> str | None:
    """Return the format of a file if its bytes show it; None: text with separators, or compressed.

    Raises:
        OSError: it cannot be read.
    """
    with open_readable(file) as opened:
        head = opened.read(_HEAD)
    return next((one.name for one in FORMATS.values() if _has_form(file, one, head)), None)


def _has_form(file: Path | Held, form: Format, head: bytes) -> bool:
    if not (form.magic or form.recognizes) or not head.startswith(form.magic):
        return False
    return not form.recognizes or bool(import_entry(form.recognizes)(file))


def _refuse_other_format(file: Path | Held, form: Format, advice: str) -> None:
    """Refuse a file whose first bytes are those of another format than the policy says.

    Formats of text are not looked for: a text can be read in several ways, and begin with any letters.

    Args:
        advice: what to do, before the format that it has.
    """
    with withhold_text(f"{file.name}: must be a readable file", OSError):
        file_size(file)  # no pipe or device, which would be read for ever
        with open_readable(file) as opened:
            head = opened.read(_HEAD)
        if _TEXT.fullmatch(head) or _has_form(file, form, head):
            return
        found = next((one for one in FORMATS.values() if one.magic and _has_form(file, one, head)), None)
    if found is not None:
        raise InputError(
            f"{file.name}: must be of the format {form.name}, and is of the format {found.name}. "
            f"{advice} format: {found.name}"
        )


def read_folder(form: str, name: str, files: Mapping[str, Path | Held], limits: Limits) -> Table:
    """Read a folder of files as one table.

    Args:
        name: of the folder, for messages.
        files: by their paths within the folder.
    Raises:
        InputError: files of this format cannot be read as a folder; and see the format.
    """
    place = FORMATS[form].folder
    refuse_folder(form, name)
    plain = {inside: unseal_file(file, limits) for inside, file in files.items()}
    table: Table = import_entry(place)(name, plain, limits)
    return table


def refuse_folder(form: str, name: str) -> None:
    """Refuse a folder of files of a format that is not read as a folder.

    Args:
        name: of the folder.
    """
    if not FORMATS[form].folder:
        fit = " or ".join(one.name for one in FORMATS.values() if one.folder)
        raise InputError(f"{name}: must be a file, got a folder; a folder of files is read of {fit} alone")


def csv_frame(path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]) -> Table:
    """Read a CSV file as a policy describes it, see `read_csv`."""
    return read_csv(path, options=options, limits=limits, numbers=numbers)


def parquet_frame(path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]) -> Table:
    """Read a Parquet file as a policy describes it, see `packed_parquet`; it has types of its own."""
    return packed_parquet(path, limits=limits)
