"""The entries of sources: formats of files, kinds of places, generators. `entries` has them, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files with personal data, or with a population.

    name: in the policy.
    reads: place of the function that reads such a file: from the file, or what is held of it, the policy's
        options and limits, and the columns that hold numbers, to a table.
    magic: bytes with which every such file begins; none: a text, or not known.
    recognizes: place of the function that recognizes such a file among others with the same first bytes;
        none: its ``magic`` does.
    packed: whether a file of it may be compressed as a whole; it is unpacked before it is read.
    folder: place of the function that reads a folder of such files as one table; none: it reads files alone.
    portions: place of the function that takes what ``reads`` takes, and yields the same records some at a
        time, as tables of Arrow; none: such a file is read as a whole.
    first_rows: place of the function from a file to its first rows, as texts, where a title may come before
        the names of the columns; none: names and records are told apart by the format.
    by_cell: whether a cell is read the same whatever the others of its column hold: as a text, or by a type
        that the file states. ε-DP releases need it.
    needs: place of the function from a file to the bytes of memory that a release of it needs, about, beside
        the libraries; none: that is not known before it is read.
    """

    name: str
    reads: str
    magic: bytes = field(default=b"", repr=False)
    recognizes: str = ""
    packed: bool = False
    folder: str = ""
    portions: str = ""
    first_rows: str = ""
    by_cell: bool = False
    needs: str = ""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of place that personal data comes from.

    name: its key below ``source`` in the policy.
    field: type of what stands there, with None and with its marks: a text, ``Annotated[LocalPath | None,
        Below("sources")]``, or a section derived from `policy.fields.Strict`, ``Warehouse | None``. All of
        it is private and binds the private tables; paths and unmarked texts are confined.
    description: of the key, in the JSON Schema.
    reads: place of the function that reads it: from the policy, the folder of sources and the partition, to
        a table.
    portions: place of the function from the policy and the folder of sources that yields the same records
        some at a time, as tables of Arrow, so that a table that memory cannot hold can be divided; none: it
        is read as a whole.
    partition: texts in it that stand for the partition; none: a partition changes nothing there.
    partition_in: fields of the section in which they may stand; none: what stands at the key is a text.
    watched: whether that text is a path below the folder of sources, which can be looked at at any time.
    version: place of the function from what stands there, and the folder of sources, to an identifier of the
        version of the records, which is asked every minute; None: nothing can be asked.
    remote: what that text is: a ``url`` of object stores or the web, or the environment ``variable`` that
        holds one; None: neither.
    upstream: whether it is the key of an asset of Dagster, which Dagster alone can read.
    session: whether it is read by a session that Dagster may have as a resource.
    generated: whether its records are made up. Each partition is then one of its own, whatever its key.
    by_cell: whether a cell is read the same whatever the others of its column hold, if its format does so.
    """

    name: str
    field: Any
    description: str
    reads: str
    portions: str = ""
    partition: tuple[str, ...] = ()
    partition_in: tuple[str, ...] = ()
    watched: bool = False
    version: str | None = None
    remote: Literal["url", "variable"] | None = None
    upstream: bool = False
    session: bool = False
    generated: bool = False
    by_cell: bool = False


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of synthetic people.

    name: in the policy.
    makes: place of the function from a number of records and a seed to a table.
    """

    name: str
    makes: str
