"""The sections of a policy on noise, budget, suppression by confidence, publishing, vault and schedule."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entries import Promise
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM, mechanisms_with
from anon_pipeline.catalog.releases import DEFAULT_RELEASE_FORMAT, PARTITION_KINDS
from anon_pipeline.policy.columns import Perturb, PerturbCategories, columns_of
from anon_pipeline.policy.deliver import Deliver
from anon_pipeline.policy.fields import LocalPath, Plain, Real, Strict, Whole
from anon_pipeline.policy.gate_limits import LIMIT_KEYS, Gate
from anon_pipeline.policy.kind_names import Mechanism, PartitionName, ReleaseFormat
from anon_pipeline.policy.marks import (
    AFTER,
    LATER,
    SHOWN,
    TEXT,
    BeforeMaking,
    Below,
    Fits,
)
from anon_pipeline.policy.partition_names import can_be_listed
from anon_pipeline.policy.protection import (
    BY_PROMISE,
    LESS,
    LESS_IF_SET,
    MORE_IF_SET,
    NEUTRAL,
    PRESENT,
    SOONER,
    by_rank,
)
from anon_pipeline.policy.usefulness_bounds import Usefulness
from anon_pipeline.policy.whole_column_rules import needs_distribution

__all__ = [
    "LIMIT_KEYS",
    "Budget",
    "Deidentify",
    "Gate",
    "PerturbSection",
    "Publish",
    "Sample",
    "Schedule",
    "Sign",
    "SuppressSection",
    "Usefulness",
    "VaultSection",
]

_CONTRADICTIONS = "anon_pipeline.policy.contradictions"
_WITH_DELTA: Promise = "epsilon and delta"
_timezones = cache(zoneinfo.available_timezones)  # looked for in all of the time zones' files


class Deidentify(Strict):
    """Where the key for ``action: hash`` is. The key is never written anywhere."""

    key_env: Annotated[str | None, TEXT] = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="Name of an environment variable."
    )
    key_file: Annotated[LocalPath | None, Below("sources")] = Field(
        None, description="Path of a file; its bytes, without trailing newlines."
    )

    @model_validator(mode="after")
    def _one(self) -> Deidentify:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("exactly one of key_env and key_file must be given")
        return self


def _sticky(republish: str, sections: Mapping[str, Any]) -> Iterator[str]:
    if republish == "sticky" and sections.get("record_key") is None:
        yield "sticky needs record_key"


class PerturbSection(Strict):
    """The budget of one record for all of its perturb columns together."""

    epsilon: Annotated[Real, SHOWN, LESS, BeforeMaking(f"{_CONTRADICTIONS}:unlimited_linking")] = Field(
        gt=0, description="ε of one record, for all of its perturb columns together."
    )
    mechanism: Annotated[Mechanism, SHOWN, BY_PROMISE] = Field(
        DEFAULT_MECHANISM,
        description="Kind of noise, of columns of numbers that name none themselves. It promises ε with "
        f"{mechanisms_with(promises=('epsilon',))}; ε and δ with {mechanisms_with(promises=(_WITH_DELTA,))}; "
        f"nothing with {mechanisms_with(promises=('nothing',))}.",
    )
    delta: Annotated[Real | None, SHOWN, LESS_IF_SET] = Field(
        None,
        ge=1e-12,
        lt=1,
        description="δ of one record, for all of its columns together whose noise needs one "
        f"({mechanisms_with(promises=(_WITH_DELTA,))}).",
    )
    without_guarantee: Annotated[bool, SHOWN, by_rank(True, False)] = Field(
        False,
        strict=True,
        description="Whether columns may have noise that guarantees nothing "
        f"({mechanisms_with(promises=('nothing',))}).",
    )
    republish: Annotated[Literal["fresh", "sticky"], SHOWN, Fits(_sticky)] = Field(
        "fresh",
        description="fresh: new noise in each release; sticky: a published noisy value stays while its "
        "original value does, whatever its class. Needs record_key, and noise of a public scale: "
        "sensitivity: declared, or categories.",
    )


class Budget(Strict):
    """What all releases of a dataset may spend together."""

    epsilon: Annotated[Real, AFTER, LESS] = Field(
        gt=0, description="Largest sum of ε of the dataset's releases."
    )
    per: Annotated[Literal["dataset", "record"], AFTER, by_rank("record", "dataset")] = Field(
        "dataset",
        description="record: partitions hold different people, each partition has the budget for itself; "
        "needs {partition} in source.path, and one kind of partition for the dataset.",
    )
    window: Annotated[Whole | None, AFTER, MORE_IF_SET] = Field(
        None, ge=1, le=36_500, description="Days after which ε counts no more. None: it counts forever."
    )


def _noisy(confidence: float | None, sections: Mapping[str, Any]) -> Iterator[str]:
    if "perturb" not in sections or confidence is None or columns_of(sections["columns"], Perturb):
        return
    if categories := columns_of(sections["columns"], PerturbCategories):
        yield (
            f"needs a perturb column with numbers, got categories alone: {', '.join(categories)}. "
            f"Limits that fit: k, {', '.join(CLASS_LIMITS)}."
        )
    else:
        yield "must be left out when no column has the role perturb"


class Sample(Strict):
    """A random sample of the input, which alone is released."""

    share: Annotated[Real, SHOWN, LESS] = Field(
        gt=0, lt=1, description="Probability of a record, or of a person, to be in the sample."
    )


class SuppressSection(Strict):
    """Confidence-based suppression."""

    confidence: Annotated[
        Real | None,
        SHOWN,
        PRESENT,
        Fits(_noisy, "every column"),
        Fits(needs_distribution, "every column"),
    ] = Field(
        None,
        gt=0,
        lt=1,
        description="Confidence of the interval that must not single a record out; none: no such step.",
    )


class Sign(Strict):
    """Where the private key that signs manifests is. The key is never written anywhere."""

    key_env: Annotated[str | None, TEXT, AFTER] = Field(
        None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="Name of an environment variable that holds an Ed25519 private key in PEM.",
    )
    key_file: Annotated[LocalPath | None, Below("sources"), AFTER] = Field(
        None, description="Path of a PEM file; anon-pipeline keygen writes one."
    )

    @model_validator(mode="after")
    def _one(self) -> Sign:
        if (self.key_env is None) == (self.key_file is None):
            raise ValueError("exactly one of key_env and key_file must be given")
        return self


class Publish(Strict):
    """Where the release goes."""

    to: Annotated[LocalPath | None, Below("releases"), AFTER] = Field(
        None, description="Folder, relative to the folder of releases. Default: releases/<name>."
    )
    format: Annotated[ReleaseFormat, SHOWN, AFTER, NEUTRAL] = Field(
        DEFAULT_RELEASE_FORMAT, description="Format of the data file."
    )
    records_per_file: Annotated[int | None, SHOWN, AFTER, NEUTRAL, LATER] = Field(
        None,
        ge=1_000,
        description="Records of each data file, at most; the last one has the rest. Not set: one data file.",
    )
    wait: Annotated[Real, AFTER, NEUTRAL] = Field(
        60, ge=0, le=86_400, description="Seconds to wait for another run that publishes to the folder."
    )
    sign: Annotated[Sign | None, PRESENT] = Field(
        None, description="Key that signs the manifest. Not set: the manifest is not signed."
    )
    formulas: Annotated[Literal["neutralize", "keep"], SHOWN, AFTER, by_rank("keep", "neutralize")] = Field(
        "neutralize", description="CSV only: texts that a spreadsheet would run get a ' in front."
    )
    deliver: Annotated[Deliver | None, AFTER, LATER] = Field(
        None, description="Where the published release is copied to; none: nowhere."
    )


class VaultSection(Strict):
    """How long the private tables stay after publishing."""

    retain: Annotated[Literal["none", "last"] | Annotated[int, Field(ge=1)], AFTER, SOONER] = Field(
        "last",
        description="none: deleted after publishing; last: until the next release replaces them; a number: "
        "those of all partitions are deleted after publishing when they are older than so many days.",
    )

    @field_validator("retain", mode="before")
    @classmethod
    def _one_of(cls, value: object) -> object:
        days = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if not days and value not in ("none", "last"):
            raise ValueError(f"must be none, last or a whole number of days, at least 1, got {value!r}")
        return value


class Schedule(Strict):
    """When the release is made, and over which partitions."""

    cron: Annotated[str | None, TEXT, AFTER] = Field(
        None, description="Five fields. Not set: nothing is made by itself."
    )
    timezone: Annotated[str, TEXT, AFTER] = Field("UTC", description="IANA name.")
    partitions: Annotated[PartitionName | None, AFTER] = Field(
        None,
        description="One release per period, or for each of the listed keys; weeks begin on Monday.",
    )
    keys: Annotated[tuple[Plain, ...], TEXT, AFTER, LATER] = Field(
        (),
        description="For listed: the keys. What stands before the last dot of a key is its group: partitions "
        "of one group hold different records.",
    )
    start: Annotated[datetime.date, AFTER] = Field(
        datetime.date(2026, 1, 1), description="First partition begins here or after."
    )

    @field_validator("cron")
    @classmethod
    def _five(cls, value: str | None) -> str | None:
        if value is not None and len(value.split()) != 5:
            raise ValueError(f"cron must have five fields, got {value!r}")
        return value

    @field_validator("keys")
    @classmethod
    def _names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [key for key in value if not can_be_listed(key)]
        if wrong or len({key.casefold() for key in value}) < len(value):  # each is the name of a folder
            raise ValueError(
                "keys must differ in more than letter case, and be plain names (letters, digits, - _ : .) "
                "that are no dates" + (f", got {', '.join(map(repr, wrong[:3]))}" if wrong else "")
            )
        return value

    @model_validator(mode="after")
    def _fits(self) -> Schedule:
        listed = self.partitions is not None and PARTITION_KINDS[self.partitions].listed
        if listed != bool(self.keys):
            raise ValueError("keys must be given with partitions: listed, at least one, and only with it")
        if self.cron is None and self.partitions is None:
            raise ValueError("cron or partitions must be given")
        return self

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in _timezones():
            raise ValueError(f"timezone must be an IANA name, got {value!r}")
        return value
