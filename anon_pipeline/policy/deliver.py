"""The section ``publish.deliver``: where a published release is copied to, of one kind in the table of
destinations.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from anon_pipeline.base.places import OBJECT_STORES
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.policy.delta import DeltaDestination
from anon_pipeline.policy.fields import Plain, Strict, url_check
from anon_pipeline.policy.iceberg import IcebergDestination
from anon_pipeline.policy.marks import AFTER, LATER, TEXT

RECORDS = "anon_pipeline_releases"
"""Name of the table that says which release a delivered table holds."""
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


class Deliver(Strict):
    """Where a published release is copied to: one of url, url_env, database_env, iceberg and delta."""

    url: Annotated[Annotated[Plain, url_check(OBJECT_STORES)] | None, TEXT, AFTER, LATER] = Field(
        None, description="Place of the release in an object store, without credentials: s3://bucket/prefix."
    )
    url_env: Annotated[str | None, TEXT, AFTER, LATER] = Field(
        None, pattern=_VARIABLE, description="Name of an environment variable that holds such a URL."
    )

    database_env: Annotated[str | None, TEXT, AFTER, LATER] = Field(
        None,
        pattern=_VARIABLE,
        description="Name of an environment variable that holds a database's URL, as SQLAlchemy writes it.",
    )
    table: Annotated[Plain | tuple[Plain, ...] | None, TEXT, AFTER, LATER] = Field(
        None,
        description="With database_env: name of the table; a list for one in a schema: [public, visits].",
    )
    delta: Annotated[DeltaDestination | None, AFTER, LATER] = Field(
        None, description="Delta Lake table that holds the newest release."
    )

    iceberg: Annotated[IcebergDestination | None, AFTER, LATER] = Field(
        None, description="Table of Apache Iceberg."
    )

    @model_validator(mode="after")
    def _one(self) -> Deliver:
        if sum(getattr(self, name) is not None for name in DESTINATIONS) != 1:
            raise ValueError(f"exactly one of {', '.join(DESTINATIONS)} must be given")
        if (self.table is None) != (self.database_env is None):
            raise ValueError("table must be given with database_env, and with nothing else")
        if self.table is not None and (not self.path_of_table or self.path_of_table[-1] == RECORDS):
            raise ValueError(f"table must be a name, and not {RECORDS}")
        return self

    @property
    def path_of_table(self) -> tuple[str, ...]:
        """The name of the table, its schema before it; nothing without a database."""
        return (self.table,) if isinstance(self.table, str) else self.table or ()

    @property
    def kind(self) -> str:
        """Name of the kind of destination, in the table of destinations."""
        return next(name for name in DESTINATIONS if getattr(self, name) is not None)
