"""The records of a source as its portions give them, to be compared with the whole table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa

from anon_pipeline.policy import Policy
from anon_pipeline.sources.portions import read_portions
from anon_pipeline.sources.typed_cells import frame_of


def read_in_portions(policy: Policy, folder: Path = Path()) -> tuple[pd.DataFrame, int]:
    """Return the records, and in how many tables with records they came."""
    tables = list(read_portions(policy, folder=folder))
    whole = pa.concat_tables(tables, promote_options="permissive")
    return frame_of(whole), sum(len(table) > 0 for table in tables)
