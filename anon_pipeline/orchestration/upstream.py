"""The upstream asset that a release is made of, read through its own IO manager."""

from collections.abc import Callable
from functools import partial

import dagster as dg
import pandas as pd

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.upstream import table_of_asset


def upstream_keys(policy: Policy) -> list[dg.AssetKey]:
    """Return the key of the asset that a policy names as its source, in a list; else none."""
    return [dg.AssetKey(policy.source.place)] if policy.source.kind.upstream else []


def upstream_reader(
    context: dg.AssetExecutionContext, policy: Policy, partition: str | None
) -> Callable[[], pd.DataFrame]:
    """Return what reads the asset that a policy names, when the stage asks for it."""
    return partial(_read_asset, context, policy, partition)


def _read_asset(context: dg.AssetExecutionContext, policy: Policy, partition: str | None) -> pd.DataFrame:
    """Read the asset: of a partitioned one the partition of this run.

    It is read here, and not by Dagster before the stage begins: what an IO manager says of an error may
    quote cells, and would stand in the event log.

    Raises:
        InputError: not there, not readable, or no table.
    """
    (key,) = upstream_keys(policy)
    parts = context.job_def.asset_layer.get(key).partitions_def
    try:
        value = context.load_asset_value(key, partition_key=None if parts is None else partition)
    except Exception as error:  # noqa: BLE001 - IO managers raise anything
        kind = error_words(error)
    else:
        return table_of_asset(value, policy.source.limits)
    raise InputError(
        f"source.{policy.source.kind.name}: must be materialized, and readable by its IO manager, "
        f"{key.to_user_string()} is not: {kind}"
    )
