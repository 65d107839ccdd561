"""Tables of Apache Iceberg in a policy: as a source, and as a destination of a release."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from anon_pipeline.policy.fields import Plain, Strict, Whole
from anon_pipeline.policy.marks import AFTER, LATER, TEXT

_CATALOG = r"^[A-Za-z][A-Za-z0-9]*([-_][A-Za-z0-9]+)*$"
_OF_CATALOG = (
    "Name of the catalog. Where it is, and its credentials, are in the environment: "
    "PYICEBERG_CATALOG__NAME__URI and others, as pyiceberg names them."
)
_OF_TABLE = "Name of the table after its namespace: warehouse.customers; or a list of these names."


def _whole_name(table: str | tuple[str, ...]) -> str | tuple[str, ...]:
    if len(path_of(table)) < 2 or not all(path_of(table)):
        raise ValueError("must be the name of a table after its namespace: warehouse.customers")
    return table


def path_of(table: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names that lead to a table, its own last.

    >>> path_of("warehouse.customers"), path_of(("warehouse", "a.b"))
    (('warehouse', 'customers'), ('warehouse', 'a.b'))
    """
    return tuple(table.split(".")) if isinstance(table, str) else table


_Table = Annotated[Plain | tuple[Plain, ...], AfterValidator(_whole_name)]


class IcebergSource(Strict):
    """A table of Apache Iceberg that is read, at one of its snapshots."""

    catalog: Annotated[str, TEXT] = Field(pattern=_CATALOG, description=_OF_CATALOG)
    table: Annotated[_Table, TEXT] = Field(description=f"{_OF_TABLE} A text may hold {{partition}}.")
    snapshot: Annotated[Whole | None, LATER] = Field(
        None, ge=0, description="Snapshot that is read; the current one if neither it nor ref is given."
    )
    ref: Annotated[Plain | None, TEXT, LATER] = Field(
        None, description="Branch or tag whose snapshot is read; may hold {partition}."
    )

    @model_validator(mode="after")
    def _one(self) -> IcebergSource:
        if self.snapshot is not None and self.ref is not None:
            raise ValueError("at most one of snapshot and ref must be given")
        return self


class IcebergDestination(Strict):
    """A table of Apache Iceberg that a release is delivered to."""

    catalog: Annotated[str, TEXT, AFTER] = Field(pattern=_CATALOG, description=_OF_CATALOG)
    table: Annotated[_Table, TEXT, AFTER] = Field(
        description=f"{_OF_TABLE} The namespace must be there; the table is made."
    )
