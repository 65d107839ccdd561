"""The tables of sources: where data lies, formats of files, and generators of synthetic people.

A new format or generator is one entry here and the function that it names; a new kind of place is a field of
the policy's ``source``, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anon_pipeline.catalog.entries import Format, Generator, SourceKind
from anon_pipeline.catalog.plugins import table_of

FORMATS = table_of(
    "sources",
    Format,
    (
        Format("csv", "anon_pipeline.sources.formats:csv_frame", packed=True),
        Format(
            "parquet",
            "anon_pipeline.sources.formats:parquet_frame",
            magic=b"PAR1",
            folder="anon_pipeline.sources.parquet:parquet_folder",
        ),
        Format(
            "excel",
            "anon_pipeline.sources.excel:excel_frame",
            magic=b"PK\x03\x04",
            recognizes="anon_pipeline.sources.excel:is_excel",
        ),
        Format(
            "jsonl",
            "anon_pipeline.sources.jsonl:jsonl_frame",
            recognizes="anon_pipeline.sources.jsonl:is_jsonl",
            packed=True,
        ),
    ),
)
DEFAULT_FORMAT = next(iter(FORMATS))
GENERATORS = table_of(
    "sources", Generator, (Generator("patients", "anon_pipeline.sources.patients:patients"),)
)
_PATH = ("{partition}",)
SOURCES: Mapping[str, SourceKind] = MappingProxyType(
    {
        one.name: one
        for one in (
            SourceKind("path", "anon_pipeline.sources.paths:path_frame", _PATH),
            SourceKind("url", "anon_pipeline.sources.urls:url_frame", _PATH),
            SourceKind("url_env", "anon_pipeline.sources.urls:url_env_frame"),
            SourceKind("sql", "anon_pipeline.sources.sql:sql_frame", (":partition",)),
            SourceKind("duckdb", "anon_pipeline.sources.duckdb_files:duckdb_frame", (*_PATH, "$partition")),
            SourceKind("asset", "anon_pipeline.sources.upstream:asset_frame"),
            SourceKind("generate", "anon_pipeline.sources.generated:generate_frame"),
        )
    }
)
"""Where personal data comes from, by its key below ``source``."""
