"""The tables of formats of files, and of generators of synthetic people.

A new one is one entry here and the function that it names. Kinds of places are in `policy.source`.
"""

from __future__ import annotations

from anon_pipeline.catalog.entries import Format, Generator
from anon_pipeline.catalog.plugins import table_of

FORMATS = table_of(
    "sources",
    Format,
    (
        Format(
            "csv",
            "anon_pipeline.sources.formats:csv_frame",
            portions="anon_pipeline.sources.files:csv_portions",
            packed=True,
            by_cell=True,
            needs="anon_pipeline.sources.needed_memory:bytes_of_text",
        ),
        Format(
            "parquet",
            "anon_pipeline.sources.formats:parquet_frame",
            magic=b"PAR1",
            folder="anon_pipeline.sources.parquet_columns:packed_folder",
            portions="anon_pipeline.sources.parquet_rows:parquet_portions",
            by_cell=True,
            needs="anon_pipeline.sources.needed_memory:bytes_of_parquet",
        ),
        Format(
            "excel",
            "anon_pipeline.sources.excel:excel_frame",
            magic=b"PK\x03\x04",
            recognizes="anon_pipeline.sources.excel:is_excel",
            first_rows="anon_pipeline.sources.excel:first_rows",
        ),
        Format(
            "jsonl",
            "anon_pipeline.sources.jsonl:jsonl_frame",
            recognizes="anon_pipeline.sources.jsonl:is_jsonl",
            portions="anon_pipeline.sources.jsonl:jsonl_portions",
            packed=True,
        ),
    ),
)
DEFAULT_FORMAT = next(iter(FORMATS))
GENERATORS = table_of(
    "sources", Generator, (Generator("patients", "anon_pipeline.sources.patients:patients"),)
)
