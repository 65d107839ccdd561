"""The review of a policy by a second person: who confirms it, and of which state of the policy.

Software does not know what columns mean. What it cannot measure, a person other than the author confirms; the
confirmation ends with the next change that matters. Decision: docs/adr/0077-a-second-person-reviews.md.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, field_validator

from anon_pipeline.policy.acknowledgements import names_somebody
from anon_pipeline.policy.fields import Reason, Strict
from anon_pipeline.policy.marks import AFTER, SHOWN, TEXT, is_list
from anon_pipeline.policy.protection import NEUTRAL, protection_of

_NOT_REVIEWED = frozenset({"name", "source", "reviewed"})
"""What may change without another review: what the release is called, and where its data lies."""
_FORM = r"^[0-9a-f]{16}$"


class Reviewed(Strict):
    """Who has reviewed the policy, and when, which is published; and in which state, which is not."""

    who: Annotated[Reason, SHOWN, AFTER, NEUTRAL] = Field(
        description="Who has reviewed the policy: a person or an office, not its author. Published."
    )
    when: Annotated[datetime.date, SHOWN, AFTER, NEUTRAL] = Field(description="Day of the review. Published.")
    digest: Annotated[str, TEXT, AFTER, NEUTRAL] = Field(
        pattern=_FORM,
        description="What was reviewed, as `anon-pipeline review` prints it: it ends with the next change of "
        "roles, recoding, noise, limits, or anything else that protection depends on.",
    )

    @field_validator("who")
    @classmethod
    def _somebody(cls, value: str) -> str:
        if not names_somebody(value):
            raise ValueError(
                "who must name a person or an office, in at least two letters; a placeholder is none"
            )
        return value


def review_digest(policy: BaseModel) -> str:
    """Return the digest of what a review is about: all that protection depends on.

    Left out are the name, the source, and every key whose change is neutral for protection (`anon-pipeline
    diff`), such as the format of the file or who answers for it. Who knows all else can confirm a guess of a
    private value by it, so it is not published.

    Returns:
        16 hexadecimal digits.
    """
    found = _without_neutral(policy, policy.model_dump(mode="json"))
    kept = {name: one for name, one in found.items() if name not in _NOT_REVIEWED}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_neutral(held: Any, value: Any) -> Any:
    """Return the document of a value without the keys that protection does not depend on."""
    if isinstance(held, BaseModel):
        fields = type(held).model_fields
        return {
            name: _without_neutral(getattr(held, name), one)
            for name, one in value.items()
            if name not in fields or protection_of(fields[name]) is not NEUTRAL
        }
    if isinstance(held, Mapping):
        pairs = zip(held.values(), value.items(), strict=True)
        return {key: _without_neutral(one, below) for one, (key, below) in pairs}
    if is_list(held):
        return [_without_neutral(one, below) for one, below in zip(held, value, strict=True)]
    return value
