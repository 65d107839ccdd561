"""The records of a table of Apache Spark, some at a time.

The cluster keeps an encrypted copy where it can, otherwise it reads the table once for each portion.

Decision: docs/adr/0098-other-sources-are-copied-to-be-divided.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa

from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import SparkSource
from anon_pipeline.sources.library_errors import withhold_errors
from anon_pipeline.sources.spark_frames import (
    UNREAD,
    WHERE,
    Sizes,
    asked_for,
    count_sizes,
    in_utc,
    quote_name,
    refuse_columns,
    refuse_other_sizes,
    sizes_of,
)
from anon_pipeline.sources.spark_sessions import spark_session

_PORTION: Final = 2**18  # records, about: an executor holds what its tasks return
_ENCRYPTED: Final = "spark.io.encryption.enabled"
"""Setting of a cluster: what its executors write to their disks is encrypted."""


def spark_portions(policy: Policy, folder: Path) -> Iterator[pa.Table]:
    """Yield the records of the table or query that ``source.spark`` names; see `portions`.

    A portion has the records whose hash over all columns has one remainder; only a portion is held here.

    Raises:
        InputError: see `read_spark`.
    """
    wanted, limits = cast(SparkSource, policy.source.place), policy.source.limits
    with spark_session(wanted.url_env, WHERE) as opened, withhold_errors(UNREAD):
        frame = asked_for(opened, wanted, None)
        texts = refuse_columns(frame, limits)
        sizes = count_sizes(frame, texts, limits)
        many = -(-sizes.records // _PORTION) or 1
        names = [field.name for field in frame.schema.fields]
        part = _new_name(names)
        hashed = f"pmod(xxhash64({', '.join(map(quote_name, names))}), {many}) AS {part}"
        read = Sizes(0, (0,) * len(texts), (0,) * len(texts))
        with _keep_records(opened, frame.selectExpr("*", hashed), part, many) as numbered:
            for number in range(many):
                table = numbered.where(f"{part} = {number}").drop(part).toArrow()
                read = read.plus(sizes_of(table, texts))
                yield pa.Table.from_arrays([in_utc(column) for column in table.columns], table.column_names)
        refuse_other_sizes(read, sizes)


def _new_name(names: list[str]) -> str:
    """Return a name for a column that differs from all others, in any case of letters."""
    taken, name = {one.casefold() for one in names}, "part"
    while name in taken:
        name += "_"
    return name


@contextmanager
def _keep_records(session: Any, numbered: Any, part: str, many: int) -> Iterator[Any]:
    """Give the records with the numbers of their portions, kept on the executors' disks where possible.

    The cluster then reads the table once, instead of once for each portion. It is not possible where the
    executors would write plain text, where a cluster keeps no records, or where they have no space.

    Args:
        part: name of the column with the numbers.
        many: portions; one alone is not kept.
    """
    if many == 1 or not _encrypts(session):
        yield numbered
        return
    copy = numbered.repartition(many, part)
    try:
        yield copy if _write_copy(copy) else numbered
    finally:
        with suppress(Exception):  # a cluster that is gone keeps nothing
            copy.unpersist(blocking=True)


def _encrypts(session: Any) -> bool:
    """Tell whether executors encrypt what they write; a cluster that does not say so does not."""
    with suppress(Exception):  # some services refuse to name settings of the cluster
        return str(session.conf.get(_ENCRYPTED, "false")).lower() == "true"
    return False


def _write_copy(copy: Any) -> bool:
    """Let the executors write a frame to their disks; tell whether they did."""
    with suppress(Exception):  # the table is read once for each portion then, which raises what lasts
        copy.persist(import_module("pyspark.storagelevel").StorageLevel.DISK_ONLY)
        copy.selectExpr("count(1)").toArrow()
        return True
    return False
