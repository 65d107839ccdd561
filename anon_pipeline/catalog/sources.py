"""The tables of sources: formats of files, and generators of synthetic people.

A new format or generator is one entry here and the function that it names.
"""

from __future__ import annotations

from anon_pipeline.catalog.entries import Format, Generator
from anon_pipeline.catalog.plugins import table_of

FORMATS = table_of(
    "sources",
    Format,
    (
        Format("csv", "anon_pipeline.sources.formats:csv_frame"),
        Format("parquet", "anon_pipeline.sources.formats:parquet_frame", magic=b"PAR1"),
    ),
)
DEFAULT_FORMAT = next(iter(FORMATS))
GENERATORS = table_of(
    "sources", Generator, (Generator("patients", "anon_pipeline.sources.patients:patients"),)
)
