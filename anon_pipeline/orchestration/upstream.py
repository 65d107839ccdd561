"""Sources that Dagster reads: an upstream asset through its own IO manager, Spark by a resource's session."""

from collections.abc import Callable
from functools import partial

import dagster as dg
import pandas as pd

from anon_pipeline.base.errors import InputError, PolicyError, error_words
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.policy.source import Sourced
from anon_pipeline.sources.library_errors import withhold_errors
from anon_pipeline.sources.spark_tables import read_spark
from anon_pipeline.sources.upstream import table_of_asset
from anon_pipeline.stages.private import STAGES

SPARK = "anon_spark"
"""Key of the resource with a session of Spark."""


def upstream_keys(policy: Sourced) -> list[dg.AssetKey]:
    """Return the key of the asset that a policy names as its source, in a list; else none."""
    return [dg.AssetKey(policy.source.place)] if policy.source.kind.upstream else []


def spark_keys(policy: Sourced, stage: str) -> set[str]:
    """Return the key of the resource with the session of Spark that a stage needs, in a set; else none."""
    source = policy.source
    needs = stage == STAGES[0] and source.kind.session and source.place.url_env is None
    return {SPARK} if needs else set()


def refuse_own_source(policy: Sourced) -> None:
    """Refuse a source that Dagster's own process reads, for a release that another process makes.

    Raises:
        PolicyError: an asset, or a table of Spark without a URL.
    """
    name = policy.source.kind.name
    if policy.source.kind.upstream:
        raise PolicyError(
            f"source.{name}: is read by Dagster's own process. A release that another process makes needs "
            "another source."
        )
    if spark_keys(policy, STAGES[0]):
        raise PolicyError(
            f"source.{name}: must have url_env, since a session is in Dagster's own process, and another "
            "process makes the release."
        )


def source_reader(
    context: dg.AssetExecutionContext, policy: Sourced, partition: str | None, stage: str
) -> Callable[[], Table] | None:
    """Return what reads the source, if Dagster does; None: the policy alone says how it is read."""
    if spark_keys(policy, stage):
        return partial(_read_by_session, context, policy, partition)
    return partial(_read_asset, context, policy, partition) if policy.source.kind.upstream else None


def _read_by_session(context: dg.AssetExecutionContext, policy: Sourced, partition: str | None) -> Table:
    """Read a table of Spark by the resource: a session, or what has one as its ``spark_session``.

    Raises:
        InputError: see `spark_tables.read_spark`.
    """
    resource = getattr(context.resources, SPARK)
    with withhold_errors(f"the resource {SPARK} could not give a session"):
        session = getattr(resource, "spark_session", resource)
    if session is not None and not hasattr(session, "createDataFrame"):
        raise InputError(
            f"the resource {SPARK} must be a Spark session, or have one as spark_session, got "
            f"{type(session).__name__}"
        )
    return read_spark(policy, partition, session=session)


def _read_asset(context: dg.AssetExecutionContext, policy: Sourced, partition: str | None) -> pd.DataFrame:
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
