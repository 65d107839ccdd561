"""What policies of releases with declared columns have in common.

Nothing of these releases is decided by what the data looks like but what their methods take from it. So all
values of a column are declared, and each cell of a record counts as one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, field_validator, model_validator

from anon_pipeline.catalog.release_kinds import ReleaseKind
from anon_pipeline.catalog.releases import DEFAULT_RELEASE_FORMAT, RELEASE_FORMATS
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.fields import LocalPath, Real, Strict, Whole
from anon_pipeline.policy.frozen_mapping import Keyed
from anon_pipeline.policy.kind_names import ReleaseFormat
from anon_pipeline.policy.marks import AFTER, LATER, PRIVATE, SHOWN, TEXT, Below
from anon_pipeline.policy.model import document_digest, file_schema
from anon_pipeline.policy.open_questions import Questioned
from anon_pipeline.policy.protection import NEUTRAL
from anon_pipeline.policy.responsible import Responsible
from anon_pipeline.policy.schema_choices import discriminate
from anon_pipeline.policy.sections import Budget, Schedule, Sign
from anon_pipeline.policy.size import refuse_large_values
from anon_pipeline.policy.source import Source


class DeclaredPublish(Strict):
    """Where the release goes."""

    to: Annotated[LocalPath | None, Below("releases"), AFTER] = Field(
        None, description="Folder, relative to the folder of releases. Default: releases/<name>."
    )
    format: Annotated[ReleaseFormat, SHOWN, AFTER] = Field(
        DEFAULT_RELEASE_FORMAT, description="Format of the data file."
    )
    wait: Annotated[Real, AFTER, NEUTRAL] = Field(
        60, ge=0, le=86_400, description="Seconds to wait for another run that publishes to the folder."
    )
    sign: Sign | None = Field(
        None, description="Key that signs the manifest. Not set: the manifest is not signed."
    )


class DeclaredRelease(Questioned, Strict):
    """The policy of a release whose columns are declared; each kind of release has a model of its own."""

    kind: ClassVar[ReleaseKind]
    others: ClassVar[Mapping[str, str]]
    """Keys of the policy of other releases, and why they do not fit."""

    name: Annotated[str, SHOWN] = Field(
        description="Letters, digits and underscores; names assets, jobs and folders."
    )
    source: Annotated[Source, PRIVATE]
    records: Annotated[Whole | None, SHOWN] = Field(
        None,
        ge=1,
        description="How many records the source must have. The number is public in any case. Default: as "
        "many as there are.",
    )
    columns: Annotated[Keyed[DeclaredColumn], SHOWN] = Field(
        min_length=1, description="The columns that are released; others of the source are not used."
    )
    publish: DeclaredPublish = DeclaredPublish()
    schedule: Schedule | None = None
    dataset: Annotated[str | None, TEXT, AFTER] = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9_-]*$",
        description="The population that the data is about, which releases of this kind share. Default: the "
        "name.",
    )
    budget: Budget | None = None
    responsible: Annotated[Responsible | None, LATER] = None

    @classmethod
    def model_json_schema(cls, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Return the JSON Schema, with each choice made by the key that decides it; see `discriminate`."""
        return discriminate(super().model_json_schema(*arguments, **named))

    @model_validator(mode="before")
    @classmethod
    def _weighed(cls, attributes: Any) -> Any:
        """Refuse what is too large before anything is made of it, whoever read the file."""
        refuse_large_values(attributes)
        return attributes

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", value):
            raise ValueError(f"name must be letters, digits and underscores, a letter first, got {value!r}")
        return value

    @model_validator(mode="after")
    def _together(self) -> DeclaredRelease:
        problems = [*self.broken_method(), *self._broken_sections()]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    def broken_method(self) -> list[str]:
        """Say what is wrong with the method and the columns that it takes."""
        return []

    def _broken_sections(self) -> list[str]:
        """Say what is wrong between other sections."""
        problems, whole = [], f"{self.kind.words} is made of one piece"
        if self.budget is not None and self.budget.per != "dataset":
            problems.append(f"budget.per: must be dataset: {whole}")
        if self.schedule is not None and self.schedule.partitions is not None:
            problems.append(f"schedule.partitions: must be left out: {whole}")
        if self.source.named_partitions():
            problems.append(f"source: must not hold {{partition}}: {whole}")
        if RELEASE_FORMATS[self.publish.format].runs_formulas:
            problems += [
                f"columns.{name}.values: must not begin with = + - @ or a tab in a format for spreadsheets"
                for name, column in self.columns.items()
                if any(value[:1] in "=+-@\t" for value in column.values or ())
            ]
        return problems

    @property
    def person_column(self) -> str | None:
        """Column of the source that says whose a record is; None: the policy names none."""
        return None

    @property
    def numeric(self) -> tuple[str, ...]:
        """Columns with numbers, in their order."""
        return tuple(name for name, column in self.columns.items() if column.bounds is not None)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON: comments, order of keys, spelled-out defaults do not matter."""
        return document_digest(self.model_dump(mode="json"))

    @classmethod
    def fit_attributes(cls, attributes: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return attributes without keys of other kinds of releases, and why each does not fit."""
        strange = [key for key in attributes if key in cls.others]
        left = {key: one for key, one in attributes.items() if key not in strange}
        return left, [cls.misfit(str(key)) for key in strange]

    @classmethod
    def misfit(cls, key: str) -> str:
        """Say that a key of the policy of other releases does not fit, and why."""
        return f"{key}: must be left out of {cls.kind.words}: {cls.others[key]}"


def declared_json_schema(model: type[DeclaredRelease]) -> dict[str, Any]:
    """Return the JSON Schema of the policy file of a kind of release, for editors."""
    title = f"anon-pipeline policy of {model.kind.words}"
    of_models: type[BaseModel] = model
    return file_schema(title, model.kind.type, of_models)
