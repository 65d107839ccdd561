"""An asset of Dagster, upstream of a release: only Dagster can read it, so `orchestration` does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import pyarrow as pa

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.size_bounds import limit_error
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.typed_cells import frame_of

_WHERE = "source.asset"


def asset_frame(policy: Policy, folder: Path, partition: str | None) -> NoReturn:
    """Refuse to read an asset without Dagster; see `read_source`."""
    raise InputError(
        f"{_WHERE}: is read by Dagster alone, through its IO manager. Materialize the release there; for "
        f"other commands name a file with the same table as source."
    )


def table_of_asset(value: Any, limits: Limits) -> pd.DataFrame:
    """Return what an IO manager gave as a table.

    Args:
        value: a frame of pandas, or anything that speaks Arrow's stream interface: a table of Arrow, a frame
            of Polars.
    Raises:
        InputError: something else, such as a mapping of partitions; or a limit that is not kept.
    """
    if not isinstance(value, pd.DataFrame):
        value = value.collect() if hasattr(value, "collect") else value
        if not hasattr(value, "__arrow_c_stream__"):
            raise InputError(
                f"{_WHERE}: must be a table of pandas, Arrow or Polars, got {_kind(value)}. Of a partitioned "
                f"asset one partition is a table: the release needs the same schedule.partitions."
            )
        with withhold_text(f"{_WHERE}: must be a table", pa.ArrowException, ValueError, TypeError):
            value = frame_of(pa.table(value))
    frame: pd.DataFrame = value.reset_index(drop=True)
    for limit, got in (("rows", len(frame)), ("columns", frame.shape[1])):
        if got > getattr(limits, limit):
            raise limit_error(_WHERE, limit, getattr(limits, limit), got=got)
    return frame


def _kind(value: Any) -> str:
    return "nothing" if value is None else type(value).__name__
