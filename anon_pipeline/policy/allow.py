"""What a policy's author says may stand in a column although it looks like an identifier, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from anon_pipeline.catalog.detectors import NAMES
from anon_pipeline.policy.fields import Reason, Strict
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.marks import LATER, SHOWN
from anon_pipeline.policy.protection import FEWER


class Allowing(Strict):
    """A column that may be released with what looks like an identifier."""

    allow: Annotated[Keyed[Reason], SHOWN, LATER, FEWER] = Field(
        default_factory=FrozenMapping,
        description="Detectors of identifiers that do not refuse this column, each with the reason, which is "
        "published: {telephone: hotline numbers, public}.",
        json_schema_extra={"propertyNames": {"enum": list(NAMES)}},
    )

    @model_validator(mode="after")
    def _known(self) -> Allowing:
        unknown = sorted(set(self.allow) - set(NAMES))
        if unknown:
            raise ValueError(
                f"allow must name detectors, got {', '.join(map(ascii, unknown))}. There are "
                f"{', '.join(NAMES)}."
            )
        empty = sorted(name for name, reason in self.allow.items() if not reason.strip())
        if empty:
            raise ValueError(f"allow must give a reason for each detector, got none for {', '.join(empty)}")
        return self


def allowed_identifiers(columns: Mapping[str, Any]) -> list[dict[str, str]]:
    """List what a policy allows: column, detector and reason, sorted; for a manifest."""
    return [
        {"column": name, "detector": detector, "reason": reason}
        for name, column in sorted(columns.items(), key=lambda item: item[0])
        for detector, reason in sorted(getattr(column, "allow", {}).items())
    ]
