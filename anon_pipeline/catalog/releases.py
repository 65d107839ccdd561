"""The tables of what a release is: formats of its data file, and kinds of partitions.

A new format is its functions and one entry here; a kind of partition is one entry.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class ReleaseFormat:
    """A format of the data file of a release.

    name: in the policy and in manifests; the file's name ends in it.
    words: for people.
    writes: place of the function that writes the pieces of a table, at least one, to a buffer.
    reads: place of the function from the file's bytes, and types of columns or None, to an Arrow table.
    loads: place of the function that reads a released file within limits, as texts where it is not typed.
    schema: place of the function from the file's bytes to its Arrow schema; None: it does not say the types.
    reads_columns: place of the function from the bytes of all files to names and columns of Arrow, one after
        the other; None: a file is read as a whole.
    runs_formulas: whether a spreadsheet opens it and runs texts that look like formulas.
    """

    name: str
    words: str
    writes: str
    reads: str
    loads: str
    schema: str | None = None
    reads_columns: str | None = None
    runs_formulas: bool = False

    @property
    def typed(self) -> bool:
        """Whether the file says the types of its columns."""
        return self.schema is not None


@dataclass(frozen=True, slots=True)
class PartitionKind:
    """A kind of partition of a scheduled release.

    name: in the policy, and in the ledger.
    definition: place of the class that defines such partitions in Dagster.
    begins: whether a partition begins on a day, whose date is its key; None: the policy lists the keys.
    options: of that class, other than start and time zone.
    """

    name: str
    definition: str
    begins: Callable[[datetime.date], bool] | None
    options: Mapping[str, int] = field(default_factory=dict)

    @property
    def listed(self) -> bool:
        """Whether the policy lists the keys."""
        return self.begins is None


_FORMATS = "anon_pipeline.publish.file_formats"
_PARQUET = ReleaseFormat(
    "parquet",
    "Parquet",
    f"{_FORMATS}:write_parquet",
    f"{_FORMATS}:parquet_table",
    f"{_FORMATS}:load_parquet",
    schema=f"{_FORMATS}:parquet_schema",
    reads_columns=f"{_FORMATS}:parquet_columns",
)
_CSV = ReleaseFormat(
    "csv", "CSV", f"{_FORMATS}:write_csv", f"{_FORMATS}:csv_table", f"{_FORMATS}:load_csv", runs_formulas=True
)
RELEASE_FORMATS: Mapping[str, ReleaseFormat] = MappingProxyType({one.name: one for one in (_CSV, _PARQUET)})
DEFAULT_RELEASE_FORMAT = _PARQUET.name
PARTITION_KINDS: Mapping[str, PartitionKind] = MappingProxyType(
    {
        one.name: one
        for one in (
            PartitionKind("daily", "dagster:DailyPartitionsDefinition", lambda day: True),
            PartitionKind(
                "weekly",
                "dagster:WeeklyPartitionsDefinition",
                lambda day: day.weekday() == 0,
                {"day_offset": 1},  # weeks begin on Monday; Dagster's on Sunday
            ),
            PartitionKind("monthly", "dagster:MonthlyPartitionsDefinition", lambda day: day.day == 1),
            PartitionKind("listed", "dagster:StaticPartitionsDefinition", None),
        )
    }
)


def group_of(partition: str) -> str:
    """Return the group of a listed partition: what stands before the last dot of its key.

    Partitions of one group hold different records. Those of different groups may hold the same ones.

    >>> group_of("north"), group_of("1f0c.07")
    ('', '1f0c')
    """
    return partition.rpartition(".")[0]


def released_records(document: Mapping[str, Any]) -> int:
    """Return how many records a manifest says that the data files of its release have."""
    return sum(int(item["records"]) for item in document["files"])


def format_of(name: str) -> ReleaseFormat:
    """Return the format of a released file by its name; the default if the name does not show it."""
    return RELEASE_FORMATS.get(PurePath(name).suffix.removeprefix("."), _PARQUET)
