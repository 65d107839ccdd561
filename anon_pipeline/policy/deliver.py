"""The section ``publish.deliver``: where a published release is copied to, of one kind in the table of
destinations.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from anon_pipeline.base.places import OBJECT_STORES, remote_problem
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.policy.fields import Plain, Strict
from anon_pipeline.policy.marks import TEXT

_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _object_store(url: str) -> str:
    problem = remote_problem(url, kinds=OBJECT_STORES)
    if problem:
        raise ValueError(problem)
    return url


class Deliver(Strict):
    """Where a published release is copied to: one of url and url_env."""

    url: Annotated[Annotated[Plain, AfterValidator(_object_store)] | None, TEXT] = Field(
        None, description="Place of the release in an object store, without credentials: s3://bucket/prefix."
    )
    url_env: Annotated[str | None, TEXT] = Field(
        None, pattern=_VARIABLE, description="Name of an environment variable that holds such a URL."
    )

    @model_validator(mode="after")
    def _one(self) -> Deliver:
        if sum(getattr(self, name) is not None for name in DESTINATIONS) != 1:
            raise ValueError(f"exactly one of {', '.join(DESTINATIONS)} must be given")
        return self

    @property
    def kind(self) -> str:
        """Name of the kind of destination, in the table of destinations."""
        return next(name for name in DESTINATIONS if getattr(self, name) is not None)
