"""Who answers for a release, what it is made for, on which legal basis: what the author says, published."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anon_pipeline.policy.fields import Reason, Strict
from anon_pipeline.policy.marks import AFTER, SHOWN, TEXT
from anon_pipeline.policy.protection import NEUTRAL

_Said = Annotated[Reason | None, Field(pattern=r"\S")]


class Responsible(Strict):
    """Who answers for the release. The report shows it; nothing else depends on it."""

    owner: Annotated[_Said, SHOWN, AFTER, TEXT, NEUTRAL] = Field(
        None, description="Person or office that answers for the release. Published."
    )
    purpose: Annotated[_Said, SHOWN, AFTER, TEXT, NEUTRAL] = Field(
        None, description="What the release is made for. Published."
    )
    legal_basis: Annotated[_Said, SHOWN, AFTER, TEXT, NEUTRAL] = Field(
        None, description="Legal basis of the release. Published."
    )
    contact: Annotated[_Said, SHOWN, AFTER, TEXT, NEUTRAL] = Field(
        None, description="Where readers of the release can ask. Published."
    )
