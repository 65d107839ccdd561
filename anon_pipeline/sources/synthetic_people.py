"""Synthetic people in place of a source."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.sources import GENERATORS
from anon_pipeline.policy.model import Policy


def generate_frame(policy: Policy, folder: Path, partition: str | None) -> pd.DataFrame:
    """Make the records that ``source.generate`` names; see `read_source`."""
    source = policy.source
    makes = import_entry(GENERATORS[str(source.place)].makes)
    made: pd.DataFrame = makes(source.records, seed=source.seed + _shift(partition))
    return made


def _shift(partition: str | None) -> int:
    """Turn a partition key into a number, so that each partition generates other records."""
    return 0 if partition is None else int.from_bytes(partition.encode()[-10:], "big")
