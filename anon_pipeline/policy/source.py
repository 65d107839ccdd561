"""The section ``source``, and the table of the kinds of places that personal data comes from.

A new kind of place is its entry here and the function that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BeforeValidator, Field, model_validator

from anon_pipeline.base.places import REMOTE
from anon_pipeline.catalog.entries import SourceKind
from anon_pipeline.catalog.plugins import table_of
from anon_pipeline.catalog.sources import DEFAULT_FORMAT, GENERATORS
from anon_pipeline.policy.delta import DeltaSource
from anon_pipeline.policy.fields import LocalPath, Plain, Strict, Whole, url_check
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.policy.iceberg import IcebergSource
from anon_pipeline.policy.kind_names import FileFormat, GeneratorName
from anon_pipeline.policy.marks import LATER, TEXT, Below
from anon_pipeline.policy.plugin_keys import with_keys
from anon_pipeline.policy.protection import NEUTRAL

_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
_PARTITION = "{partition}"


RemoteUrl = Annotated[Plain, url_check(REMOTE)]
_Variable = Annotated[str, Field(pattern=_VARIABLE)]


class _Selected(Strict):
    """What of a database is read: a table, or what a query gives."""

    table: Annotated[Plain | tuple[Plain, ...] | None, TEXT] = Field(
        None, description="Name of the table; a list for one in a schema: [public, customers]."
    )
    query: Annotated[str | None, TEXT] = Field(
        None, description="One SELECT statement. The partition is its parameter partition."
    )

    @model_validator(mode="after")
    def _one(self) -> _Selected:
        if (self.table is None) == (self.query is None):
            raise ValueError("exactly one of table and query must be given")
        return self

    @property
    def path_of_table(self) -> tuple[str, ...]:
        """The name of the table, its schema before it; nothing with a query."""
        return (self.table,) if isinstance(self.table, str) else self.table or ()


class SqlSource(_Selected):
    """A table, or what a query gives, of a database that SQLAlchemy reaches."""

    url_env: Annotated[str, TEXT] = Field(
        pattern=_VARIABLE,
        description="Name of the environment variable that holds the URL, as SQLAlchemy writes it.",
    )


class DuckdbSource(_Selected):
    """A table, or what a query gives, of a DuckDB file."""

    path: Annotated[LocalPath, Below("sources")] = Field(
        description="File, relative to the folder of sources; may hold {partition}."
    )


class SparkSource(_Selected):
    """A table of a cluster of Apache Spark, or the result of a query."""

    table: Annotated[Plain | tuple[Plain, ...] | None, TEXT, LATER] = Field(
        None,
        description="Name of the table, qualified with catalog and schema: main.shop.customers; a list of "
        "these names if one contains a dot. A text may hold {partition}.",
    )
    query: Annotated[str | None, TEXT, LATER] = Field(
        None, description="One SELECT statement. The partition's key is its parameter :partition, a text."
    )
    url_env: Annotated[str | None, TEXT, LATER] = Field(
        None,
        pattern=_VARIABLE,
        description="Name of the environment variable that holds the URL of a Spark Connect server: sc://…; "
        "default: the session of Dagster's resource anon_spark, otherwise the active session.",
    )

    @model_validator(mode="after")
    def _text_with_partition(self) -> SparkSource:
        if not isinstance(self.table, str) and any(_PARTITION in name for name in self.table or ()):
            raise ValueError(f"table must be a text, not a list, if {_PARTITION} is in it")
        return self

    @property
    def path_of_table(self) -> tuple[str, ...]:
        """The names that lead to the table, its own last; nothing with a query."""
        return tuple(self.table.split(".")) if isinstance(self.table, str) else self.table or ()


def _key(value: Any) -> Any:
    """Take one text for a key of one part."""
    return [value] if isinstance(value, str) else value


_Parts = Annotated[tuple[Plain, ...], Field(min_length=1)]
_AssetKey = Annotated[_Parts, BeforeValidator(_key, json_schema_input_type=Plain | _Parts)]


class Source(Strict):
    """Where the personal data comes from: a place of one kind in the table `SOURCES`, by its key."""

    format: FileFormat = Field(DEFAULT_FORMAT, description="File format.")
    options: SourceOptions = Field(SourceOptions(), description="How the file is written.")
    limits: Annotated[Limits, NEUTRAL] = Field(Limits(), description="How large the source may be.")
    encrypted: Annotated[bool, LATER, NEUTRAL] = Field(
        False,
        description="Of a path: whether the file must be encrypted with the vault's key.",
    )
    records: Whole = Field(20_000, ge=1, description="Records that a generator makes.")
    seed: Whole = Field(0, ge=0, description="Seed of a generator.")

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return what stands at the key of a kind of place; None where it is not given."""

    @model_validator(mode="after")
    def _one(self) -> Source:
        if sum(getattr(self, name) is not None for name in SOURCES) != 1:
            raise ValueError(f"exactly one of {', '.join(SOURCES)} must be given")
        if self.encrypted and self.watched is None:
            raise ValueError("encrypted must be left out: it is for files of this machine, by a path")
        return self

    @property
    def kind(self) -> SourceKind:
        """What kind of place it is."""
        return next(kind for name, kind in SOURCES.items() if getattr(self, name) is not None)

    @property
    def place(self) -> Any:
        """What stands at the key of its kind: a text, a key of several parts, a section."""
        return getattr(self, self.kind.name)

    @property
    def watched(self) -> str | None:
        """Path below the folder of sources that can be looked at at any time; None: there is none."""
        return self.place if self.kind.watched and isinstance(self.place, str) else None

    def named_partitions(self) -> dict[str, str]:
        """Return the keys, below ``source``, that name the partition, and the text that stands for it."""
        kind, place = self.kind, self.place
        below = {f"{kind.name}.{name}": getattr(place, name, None) for name in kind.partition_in}
        texts = {name: text for name, text in (below or {kind.name: place}).items() if isinstance(text, str)}
        return {name: mark for name, text in texts.items() for mark in kind.partition if mark in text}


_READS = "anon_pipeline.sources"
_OWN = (
    SourceKind(
        "path",
        Annotated[LocalPath | None, Below("sources")],
        "File or folder, relative to the folder of sources; may hold {partition}.",
        f"{_READS}.paths:path_frame",
        portions=f"{_READS}.paths:path_portions",
        partition=(_PARTITION,),
        watched=True,
        by_cell=True,
    ),
    SourceKind(
        "url",
        Annotated[RemoteUrl | None, TEXT, LATER],
        "Remote file or folder, without credentials; may hold {partition}.",
        f"{_READS}.urls:url_frame",
        portions=f"{_READS}.urls:url_portions",
        partition=(_PARTITION,),
        version=f"{_READS}.urls:url_version",
        remote="url",
        by_cell=True,
    ),
    SourceKind(
        "url_env",
        Annotated[_Variable | None, TEXT, LATER],
        "Name of an environment variable that holds such a URL.",
        f"{_READS}.urls:url_env_frame",
        portions=f"{_READS}.urls:url_env_portions",
        remote="variable",
        by_cell=True,
    ),
    SourceKind(
        "sql",
        Annotated[SqlSource | None, LATER],
        "Database that SQLAlchemy reaches.",
        f"{_READS}.sql:sql_frame",
        portions=f"{_READS}.sql:sql_portions",
        partition=(":partition",),
        partition_in=("query",),
    ),
    SourceKind(
        "duckdb",
        Annotated[DuckdbSource | None, LATER],
        "File of DuckDB.",
        f"{_READS}.duckdb_files:duckdb_frame",
        portions=f"{_READS}.duckdb_files:duckdb_portions",
        partition=(_PARTITION, "$partition"),
        partition_in=("path", "query"),
        by_cell=True,
    ),
    SourceKind(
        "iceberg",
        Annotated[IcebergSource | None, LATER],
        "Table of Apache Iceberg.",
        f"{_READS}.iceberg_tables:iceberg_frame",
        portions=f"{_READS}.iceberg_tables:iceberg_portions",
        partition=(_PARTITION,),
        partition_in=("table", "ref"),
        version=f"{_READS}.iceberg_tables:iceberg_version",
        by_cell=True,
    ),
    SourceKind(
        "delta",
        Annotated[DeltaSource | None, LATER],
        "Delta Lake table.",
        f"{_READS}.delta_tables:delta_frame",
        portions=f"{_READS}.delta_tables:delta_portions",
        partition=(_PARTITION,),
        partition_in=("path", "url"),
        version=f"{_READS}.delta_tables:delta_version",
        by_cell=True,
    ),
    SourceKind(
        "spark",
        Annotated[SparkSource | None, LATER],
        "Table of Apache Spark.",
        f"{_READS}.spark_tables:spark_frame",
        portions=f"{_READS}.spark_portions:spark_portions",
        partition=(_PARTITION, ":partition"),
        partition_in=("table", "query"),
        session=True,
        by_cell=True,
    ),
    SourceKind(
        "asset",
        Annotated[_AssetKey | None, TEXT, LATER],
        "Key of an asset of Dagster: [warehouse, customers].",
        f"{_READS}.upstream:asset_frame",
        upstream=True,
    ),
    SourceKind(
        "generate",
        GeneratorName | None,
        "Name of a generator, instead of a path.",
        f"{_READS}.synthetic_people:generate_frame",
        generated=True,
        by_cell=True,
    ),
)
SOURCES: Mapping[str, SourceKind] = table_of("sources", SourceKind, _OWN, taken=Source.model_fields)
"""Where personal data comes from, by its key below ``source``."""
OF_PLUGINS = tuple(name for name in SOURCES if name not in {kind.name for kind in _OWN})
"""The kinds that plugins brought."""


if not TYPE_CHECKING:
    Source = with_keys(
        Source,
        "kind of source",
        SOURCES,
        plugins=OF_PLUGINS,
        words="Where the personal data comes from: one of "
        + " and ".join([", ".join([*SOURCES][:-1]), [*SOURCES][-1]])
        + ".",
        first=True,
    )


class Sourced(Protocol):
    """The policy of a release of any kind, as far as it names a source.

    Readers also ask which columns are numbers (``numeric``), and for ``budget`` and ``schedule``.
    """

    @property
    def source(self) -> Source:
        """Section with the place of the data."""


def placeless() -> Source:
    """Return a source that names no place: for a policy whose data is a frame in memory."""
    made_up = next(kind.name for kind in _OWN if kind.generated)
    return Source.model_validate({made_up: next(iter(GENERATORS))})
