"""What every model of a policy is built from: a strict model, and the texts and numbers that fields hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from anon_pipeline.base.places import LOCAL, is_local
from anon_pipeline.base.spelling import escaped, plain
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.named import one_of
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS
from anon_pipeline.catalog.sources import FORMATS, GENERATORS


def _no_switch(value: Any) -> Any:
    """Refuse true and false where a number belongs: ``linking_risk: true`` would be a limit of 100 %."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {str(value).lower()}")
    return value


def _plain(value: str) -> str:
    """Refuse what a reader of the policy would not see, or what a file system ends a path at."""
    if not plain(value):
        raise ValueError(f"must not hold control characters, got {escaped(value)}")
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
Separator = Annotated[str, Field(pattern=r"^[\t -!#-~]$")]
if TYPE_CHECKING:
    Mechanism = str
    CategoryMechanism = str
    Action = str
    FileFormat = str
    ReleaseFormat = str
    PartitionName = str
    GeneratorName = str
else:
    Mechanism, CategoryMechanism = one_of(MECHANISMS), one_of(CATEGORY_MECHANISMS)
    FileFormat, GeneratorName = one_of(FORMATS), one_of(GENERATORS)
    ReleaseFormat, PartitionName = one_of(RELEASE_FORMATS), one_of(PARTITION_KINDS)
    Action = one_of(IDENTIFIER_ACTIONS)
Share = Annotated[Real, Field(ge=0, le=1)]


class Strict(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_min_length=1)
