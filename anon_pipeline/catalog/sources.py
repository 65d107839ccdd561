"""The tables of sources: formats of files, and generators of synthetic people.

A new format or generator is one entry here and the function that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files with personal data, or with a population.

    name: in the policy.
    reads: place of the function that reads such a file: from the file, or what is held of it, the policy's
        options and limits, and the columns that hold numbers, to a table.
    """

    name: str
    reads: str


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of synthetic people.

    name: in the policy.
    makes: place of the function from a number of records and a seed to a table.
    """

    name: str
    makes: str


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        one.name: one
        for one in (
            Format("csv", "anon_pipeline.sources.formats:csv_frame"),
            Format("parquet", "anon_pipeline.sources.formats:parquet_frame"),
        )
    }
)
DEFAULT_FORMAT = next(iter(FORMATS))
GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {"patients": Generator("patients", "anon_pipeline.sources.patients:patients")}
)
