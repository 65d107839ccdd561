"""Where a Delta Lake table lies: a table that is read, and one that a release is delivered to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from anon_pipeline.policy.fields import LocalPath, Plain, Strict, Whole, url_check
from anon_pipeline.policy.marks import AFTER, LATER, TEXT, Below

STORES = ("s3", "gs", "az", "abfs", "abfss")
"""Kinds of URLs at which Delta Lake tables may be."""
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


_StoreUrl = Annotated[Plain, url_check(STORES)]
_PLACES = ("path", "url", "url_env")


class _AtOnePlace(Strict):
    """A table at a place that one of three keys names."""

    @model_validator(mode="after")
    def _one(self) -> _AtOnePlace:
        if sum(getattr(self, name) is not None for name in _PLACES) != 1:
            raise ValueError(f"exactly one of {', '.join(_PLACES)} must be given")
        return self


class DeltaSource(_AtOnePlace):
    """A version of a Delta Lake table."""

    path: Annotated[LocalPath | None, Below("sources"), LATER] = Field(
        None, description="Folder of the table, relative to the folder of sources; may hold {partition}."
    )
    url: Annotated[_StoreUrl | None, TEXT, LATER] = Field(
        None, description="Table in an object store, without credentials; may hold {partition}."
    )
    url_env: Annotated[str | None, TEXT, LATER] = Field(
        None, pattern=_VARIABLE, description="Name of an environment variable that holds such a URL."
    )
    version: Annotated[Whole | None, LATER] = Field(
        None, ge=0, description="Version of the table; default: the newest."
    )


class DeltaDestination(_AtOnePlace):
    """A Delta Lake table that holds one release."""

    path: Annotated[LocalPath | None, Below("releases"), AFTER, LATER] = Field(
        None, description="Folder of the table, relative to the folder of releases."
    )
    url: Annotated[_StoreUrl | None, TEXT, AFTER, LATER] = Field(
        None, description="Table in an object store, without credentials: s3://bucket/visits."
    )
    url_env: Annotated[str | None, TEXT, AFTER, LATER] = Field(
        None, pattern=_VARIABLE, description="Name of an environment variable that holds such a URL."
    )
