"""The section ``source``: where the personal data comes from, of one kind in the table of sources."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    field_validator,
    model_validator,
)

from anon_pipeline.base.places import remote_problem
from anon_pipeline.catalog.sources import DEFAULT_FORMAT, SOURCES
from anon_pipeline.policy.fields import LocalPath, Plain, Strict, Whole
from anon_pipeline.policy.files import Limits, SourceOptions
from anon_pipeline.policy.kind_names import FileFormat, GeneratorName
from anon_pipeline.policy.marks import LATER, TEXT, Below
from anon_pipeline.policy.protection import NEUTRAL

_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _remote(url: str) -> str:
    problem = remote_problem(url)
    if problem:
        raise ValueError(problem)
    return url


RemoteUrl = Annotated[Plain, AfterValidator(_remote)]


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


class Source(Strict):
    """Where the personal data comes from: one of path, url, url_env, sql, duckdb, asset and generate."""

    path: Annotated[LocalPath | None, Below("sources")] = Field(
        None, description="File or folder, relative to the folder of sources; may hold {partition}."
    )
    format: FileFormat = Field(DEFAULT_FORMAT, description="File format.")
    options: SourceOptions = Field(SourceOptions(), description="How the file is written.")
    limits: Annotated[Limits, NEUTRAL] = Field(Limits(), description="How large the source may be.")
    generate: GeneratorName | None = Field(None, description="Name of a generator, instead of a path.")
    records: Whole = Field(20_000, ge=1, description="Records that a generator makes.")
    seed: Whole = Field(0, ge=0, description="Seed of a generator.")
    url: Annotated[RemoteUrl | None, TEXT, LATER] = Field(
        None, description="Remote file or folder, without credentials; may hold {partition}."
    )
    url_env: Annotated[str | None, TEXT, LATER] = Field(
        None, pattern=_VARIABLE, description="Name of an environment variable that holds such a URL."
    )
    sql: Annotated[SqlSource | None, LATER] = Field(None, description="Database that SQLAlchemy reaches.")
    duckdb: Annotated[DuckdbSource | None, LATER] = Field(None, description="File of DuckDB.")
    asset: Annotated[tuple[Plain, ...] | None, TEXT, LATER] = Field(
        None, min_length=1, description="Key of an asset of Dagster: [warehouse, customers]."
    )

    @field_validator("asset", mode="before")
    @classmethod
    def _key(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one(self) -> Source:
        if sum(getattr(self, name) is not None for name in SOURCES) != 1:
            raise ValueError(f"exactly one of {', '.join(SOURCES)} must be given")
        return self

    @property
    def kind(self) -> str:
        """Name of the kind of source, in the table of sources."""
        return next(name for name in SOURCES if getattr(self, name) is not None)

    def named_partitions(self) -> dict[str, str]:
        """Return the keys, below ``source``, that name the partition, and the text that stands for it."""
        held = getattr(self, self.kind)
        texts = {self.kind: held} if isinstance(held, str) else {}
        if isinstance(held, _Selected):
            texts = {f"{self.kind}.{name}": getattr(held, name, None) or "" for name in ("path", "query")}
        marks = SOURCES[self.kind].partition
        return {name: mark for name, text in texts.items() for mark in marks if mark in text}
