"""One function for each format of files, as the table of formats names them: all take the same arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from anon_pipeline.base.reading import Held
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.sources.files import read_csv, read_parquet


def csv_frame(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> pd.DataFrame:
    """Read a CSV file as a policy describes it, see `read_csv`."""
    return read_csv(path, options=options, limits=limits, numbers=numbers)


def parquet_frame(
    path: Path | Held, options: SourceOptions, limits: Limits, numbers: Sequence[str]
) -> pd.DataFrame:
    """Read a Parquet file as a policy describes it, see `read_parquet`; it has types of its own."""
    return read_parquet(path, limits=limits)
