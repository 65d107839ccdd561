"""What every model of a policy is built from: a strict model, and the texts and numbers that fields hold.

Plugins build their models from it, too: it must not import a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from anon_pipeline.base.places import LOCAL, is_local, remote_problem
from anon_pipeline.base.spelling import escape, is_plain
from anon_pipeline.policy.marks import left_out


def _no_switch(value: Any) -> Any:
    """Refuse true and false where a number belongs: ``linking_risk: true`` would be a limit of 100 %."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {str(value).lower()}")
    return value


def _plain(value: str) -> str:
    """Refuse what a reader of the policy would not see, or what a file system ends a path at."""
    if not is_plain(value):
        raise ValueError(f"must not hold control characters, got {escape(value)}")
    return value


def _local(value: str) -> str:
    """Refuse a URL where a path is expected."""
    if not is_local(value):
        raise ValueError(LOCAL)
    return value


Plain = Annotated[str, AfterValidator(_plain)]
LocalPath = Annotated[Plain, AfterValidator(_local)]
Reason = Annotated[str, Field(max_length=200), AfterValidator(_plain)]
Real = Annotated[float, BeforeValidator(_no_switch)]
Whole = Annotated[int, BeforeValidator(_no_switch)]
Missing = Literal["error", "suppress"]
"""What happens to records without a value in a column that must have one."""
LEFT_OUT: Missing = "suppress"
"""They are suppressed before recoding."""
Separator = Annotated[str, Field(pattern=r"^[\t -!#-~]$")]
Share = Annotated[Real, Field(ge=0, le=1)]
Positive = Annotated[Real, Field(gt=0)]


def url_check(kinds: Sequence[str]) -> AfterValidator:
    """Return the check that a text is a URL of some kinds, without credentials; see `remote_problem`."""

    def check(url: str) -> str:
        """Return the URL, or say what is wrong with it, without repeating it."""
        problem = remote_problem(url, kinds=kinds)
        if problem:
            raise ValueError(problem)
        return url

    return AfterValidator(check)


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        str_min_length=1,
        hide_input_in_errors=True,  # Dagster shows pydantic's text, and the value may be a credential
    )

    @model_serializer(mode="wrap")
    def _without_later(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what came later and is not set: digests without it are what they always were."""
        document: dict[str, Any] = handler(self)
        for name in left_out(self):
            document.pop(name, None)
        return document
