"""The sections of a policy beside its columns: source, recoding, noise, gate, publishing, schedule.

Belongs here: one pydantic model per section. Does not belong here: rules between sections (`rules`).
"""

from __future__ import annotations

import datetime
import zoneinfo
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from anon_pipeline.policy.columns import Real, Separator, Strict, Whole

__all__ = [
    "Anonymize",
    "Deidentify",
    "Gate",
    "LDiversity",
    "PerturbSection",
    "Publish",
    "Schedule",
    "Source",
    "SourceOptions",
    "SuppressSection",
]

Share = Annotated[Real, Field(ge=0, le=1)]


class SourceOptions(Strict):
    """How a CSV file is written."""

    sep: Separator = Field(",", description="Between two fields.")
    encoding: str = Field("utf-8", description="Of the file, by its name in Python.")
    decimal: Literal[".", ","] = Field(".", description="Mark in numbers.")
    missing: tuple[str, ...] = Field(
        (), description="Texts that stand for a missing value, beside the empty one."
    )


class Source(Strict):
    """Where the personal data comes from: a file, or the generator."""

    path: str | None = Field(
        None, description="File, relative to the folder of sources; may hold {partition}."
    )
    format: Literal["csv", "parquet"] = Field("csv", description="Of the file.")
    options: SourceOptions = Field(SourceOptions(), description="For CSV.")
    generate: Literal["patients"] | None = Field(None, description="Name of a generator, instead of a path.")
    records: Whole = Field(20_000, ge=1, description="For a generator.")
    seed: Whole = Field(0, ge=0, description="For a generator.")

    @model_validator(mode="after")
    def _one(self) -> Source:
        if (self.path is None) == (self.generate is None):
            raise ValueError("exactly one of path and generate must be given")
        return self


class Deidentify(Strict):
    """Where the key for ``action: hash`` is. It never reaches an artefact."""

    key_env: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="Name of an environment variable."
    )
    key_file: str | None = Field(None, description="Path of a file; its bytes, without trailing newlines.")

    @model_validator(mode="after")
    def _one(self) -> Deidentify:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("exactly one of key_env and key_file must be given")
        return self


class Anonymize(Strict):
    """How quasi-identifiers are generalized."""

    k: Whole = Field(ge=2, description="Records in the smallest class.")
    recoder: Literal["ola", "optimal", "mondrian", "mondrian_relaxed"] = Field(
        "ola",
        description="ola: least loss of the k-minimal nodes; optimal: of all anonymous ones; mondrian: cuts.",
    )
    loss: Literal["precision", "granularity"] = Field(
        "precision",
        description="Information loss to minimize: by levels, or by how many leaves a value covers.",
    )
    suppression_limit: Real = Field(
        0.05, ge=0, lt=1, description="Share of the records that may be suppressed to reach k."
    )


class PerturbSection(Strict):
    """The budget of one record for all of its perturb columns together."""

    epsilon: Real = Field(gt=0, description="ε of one record, for all of its perturb columns together.")
    mechanism: Literal["discrete_laplace"] = Field("discrete_laplace", description="Kind of noise.")
    republish: Literal["fresh", "sticky"] = Field(
        "fresh",
        description="fresh: new noise in each release; sticky: a published noisy value stays while its "
        "original value and class do. Needs record_key.",
    )


class SuppressSection(Strict):
    """Confidence-based suppression."""

    confidence: Real | None = Field(
        None,
        gt=0,
        lt=1,
        description="Of the interval that must not single a record out; none: no such step.",
    )


class LDiversity(Strict):
    """One of three kinds of l-diversity; recursive is (c, l)."""

    kind: Literal["distinct", "entropy", "recursive"] = Field(
        "distinct", description="distinct: l values; entropy: exp(H) ≥ l; recursive: r₁ < c·(r_l + …)."
    )
    l: Real = Field(ge=1, description="How diverse each class must be.")  # noqa: E741 - the field's own letter
    c: Real | None = Field(None, gt=0, description="For recursive.")

    @model_validator(mode="after")
    def _fits(self) -> LDiversity:
        if (self.kind == "recursive") != (self.c is not None):
            raise ValueError("c must be given with kind: recursive, and only with it")
        if self.kind != "entropy" and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for kind: {self.kind}, got {self.l:g}")
        return self


class Gate(Strict):
    """The limits that the release must keep; k always, the others when they are set."""

    k: Whole | None = Field(None, ge=2, description="Default: anonymize.k.")
    t_closeness: dict[str, Share] = Field(
        default_factory=dict, description="Sensitive column → largest distance of a class to the whole input."
    )
    l_diversity: dict[str, LDiversity] = Field(
        default_factory=dict, description="Sensitive column → how diverse each class must be."
    )
    linking_risk: Share | None = Field(
        None, description="Largest share of the records that are nearest to their own original."
    )
    suppression: Share | None = Field(
        None, description="Largest share of the input missing from the release."
    )
    confidence_k: Whole | None = Field(
        None, ge=2, description="Fewest originals within suppress.confidence's interval."
    )
    cross_release_k: Whole | None = Field(
        None,
        ge=2,
        description="Fewest persons who fit all classes that a person was published in, over all releases. "
        "Needs record_key.",
    )


class Publish(Strict):
    """Where the release goes."""

    to: str | None = Field(
        None, description="Folder, relative to the folder of releases. Default: releases/<name>."
    )
    format: Literal["parquet", "csv"] = Field("parquet", description="Of the data file.")


class Schedule(Strict):
    """When the release is made, and over which partitions of time."""

    cron: str
    timezone: str = Field("UTC", description="IANA name.")
    partitions: Literal["daily", "weekly", "monthly"] | None = Field(
        None, description="One release per period; weeks begin on Monday."
    )
    start: datetime.date = Field(
        datetime.date(2026, 1, 1), description="First partition begins here or after."
    )

    @field_validator("cron")
    @classmethod
    def _five(cls, value: str) -> str:
        if len(value.split()) != 5:
            raise ValueError(f"cron must have five fields, got {value!r}")
        return value

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in zoneinfo.available_timezones():
            raise ValueError(f"timezone must be an IANA name, got {value!r}")
        return value
