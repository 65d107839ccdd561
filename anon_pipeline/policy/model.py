"""The policy: what the columns are, how they are protected, and which limits the release must keep."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM, MECHANISMS
from anon_pipeline.policy.acknowledgements import Acknowledged
from anon_pipeline.policy.cleaning import Clean
from anon_pipeline.policy.column_cleaning import ColumnCleaning, column_cleaning
from anon_pipeline.policy.columns import (
    Column,
)
from anon_pipeline.policy.columns_by_role import ColumnsByRole
from anon_pipeline.policy.fields import Strict, Whole
from anon_pipeline.policy.frozen_mapping import Keyed
from anon_pipeline.policy.gate_limits import Gate
from anon_pipeline.policy.later_rules import RETIRED, broken_since
from anon_pipeline.policy.marks import AFTER, LATER, PRIVATE, SHOWN, TEXT
from anon_pipeline.policy.noise_rules import without_public_scale
from anon_pipeline.policy.open_questions import Questioned
from anon_pipeline.policy.protection import FEWER, JUDGED, NEUTRAL, PRESENT
from anon_pipeline.policy.recoding import Anonymize
from anon_pipeline.policy.responsible import Responsible
from anon_pipeline.policy.review import Reviewed, review_digest
from anon_pipeline.policy.rules import broken_rules
from anon_pipeline.policy.schema_choices import discriminate
from anon_pipeline.policy.sections import (
    Budget,
    Deidentify,
    PerturbSection,
    Publish,
    Sample,
    Schedule,
    SuppressSection,
    VaultSection,
)
from anon_pipeline.policy.size import refuse_large_values
from anon_pipeline.policy.source import Source
from anon_pipeline.policy.stream import Stream
from anon_pipeline.policy.walks import binding_fields

TYPE = "anon_pipeline.AnonymizedRelease"


class Policy(ColumnsByRole, Questioned, Strict):
    """One release, as its policy describes it."""

    name: Annotated[str, SHOWN] = Field(
        description="Letters, digits and underscores; names assets, jobs and folders."
    )
    source: Annotated[Source, PRIVATE]
    clean: Annotated[Clean | None, LATER] = Field(
        None, description="How the texts of the source become values; none: they are taken as they are."
    )
    columns: Annotated[Keyed[Column], SHOWN] = Field(
        min_length=1, description="Every column of the input, by name."
    )
    deidentify: Deidentify | None = None
    record_key: Annotated[str | None, SHOWN] = Field(
        None,
        description="Identifier column that identifies a record's person across releases. Only its keyed "
        "hash is kept, in the vault.",
    )
    sample: Annotated[Sample | None, SHOWN, LATER, PRESENT] = Field(
        None,
        description="A random sample of the input, which alone is released. A keyed hash of each record, or "
        "of its person, decides, so that later releases have the same sample.",
    )
    person: Annotated[str | None, SHOWN, PRESENT] = Field(
        None,
        description="Identifier column that identifies a record's person, if people have several records. "
        "People are then counted instead of records. It is never released; only its keyed hash "
        "is kept, in the vault.",
    )
    one_record_per_person: Annotated[Literal[True] | None, SHOWN, AFTER, LATER, JUDGED] = Field(
        None,
        description="true: you have made sure that no person has several records, even if records repeat.",
    )
    rows_per_person: Annotated[Whole | None, SHOWN] = Field(
        None,
        ge=1,
        description="Most records of a person; the others are left out. Needed with person and noise: the ε "
        "of a person is split over so many records.",
    )
    anonymize: Anonymize
    perturb: PerturbSection | None = None
    suppress: SuppressSection = SuppressSection()
    gate: Gate = Gate()
    publish: Publish = Publish()
    vault: VaultSection = VaultSection()
    schedule: Schedule | None = None
    stream: Annotated[Stream | None, SHOWN, LATER, NEUTRAL] = Field(
        None,
        description="For records that arrive continuously: those whose class is too small wait in the vault "
        "for those of later partitions.",
    )
    dataset: Annotated[str | None, TEXT, AFTER] = Field(
        None,
        pattern=r"^[A-Za-z][A-Za-z0-9_-]*$",
        description="The population that the data is about, which releases share. Default: the name.",
    )
    budget: Annotated[Budget | None, PRESENT] = None
    acknowledged: Annotated[tuple[Acknowledged, ...], SHOWN, AFTER, LATER, FEWER] = Field(
        (), description="What the author answers for: columns that single people out, and are released."
    )
    responsible: Annotated[Responsible | None, LATER, NEUTRAL] = None
    reviewed: Annotated[Reviewed | None, LATER, NEUTRAL] = Field(
        None, description="Who has reviewed the policy; `anon-pipeline review` asks what to confirm."
    )

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
    def _together(self, info: ValidationInfo) -> Policy:
        sections = {section: getattr(self, section) for section in type(self).model_fields}
        found = broken_rules(sections)
        if not (info.context or {}).get(RETIRED):
            found += broken_since(sections)
        if found:
            raise ValueError("\n".join(found))
        return self

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON: comments, order of keys, spelled-out defaults do not matter."""
        return document_digest(self.model_dump(mode="json"))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Policy:
        """Return a copy with some fields changed, without the digests that were computed of this policy."""
        copied = super().model_copy(update=update, deep=deep)
        for computed in ("making", "review_digest"):
            copied.__dict__.pop(computed, None)
        return copied

    @cached_property
    def making(self) -> str:
        """SHA-256 of the fields that decide what the private tables are: all that are not marked `AFTER`, and
        of the limits that the recoder keeps.

        Every stage records it, and the gate refuses tables that were made by another policy: it is asked
        some thirty times for each release.
        """
        document = binding_fields(self)
        document["anonymize"] |= {
            kind: {
                name: wanted.model_dump(mode="json") if isinstance(wanted, BaseModel) else wanted
                for name, wanted in limits.items()
            }
            for kind, limits in self.recoding_limits.items()
        }
        return document_digest(document)

    @cached_property
    def review_digest(self) -> str:
        """What a review of the policy as it is now is about, see `policy.review`."""
        return review_digest(self)

    @property
    def is_reviewed(self) -> bool:
        """Whether somebody has reviewed the policy as it is now."""
        return self.reviewed is not None and self.reviewed.digest == self.review_digest

    @property
    def class_limits(self) -> Mapping[str, Mapping[str, Any]]:
        """What the gate demands of each class: kind of limit → sensitive column → what is demanded."""
        return {kind: getattr(self.gate, kind) for kind in CLASS_LIMITS}

    @property
    def recoding_limits(self) -> Mapping[str, Mapping[str, Any]]:
        """What the recoder keeps in each class, as `class_limits`; of a kind that is not set, the gate's."""
        own = {kind: getattr(self.anonymize, kind) for kind in CLASS_LIMITS}
        return {
            kind: limits if own[kind] is None else own[kind] for kind, limits in self.class_limits.items()
        }

    @property
    def class_limited(self) -> list[str]:
        """Sensitive columns with a limit of the gate on each class, in the policy's order."""
        limited = {name for limits in self.class_limits.values() for name in limits}
        return [name for name in self.sensitive if name in limited]

    def suppressible(self, records: int) -> int:
        """Records that may be suppressed of so many ([methods 3]: floor(L·n)).

        Of so many people, with ``person``: as many records have at most as many people.
        """
        return math.floor(self.anonymize.suppression_limit * records + 1e-9)

    @property
    def lasting(self) -> tuple[str, ...]:
        """Perturb columns whose published noise may stay: it promises ε, and its scale is public."""
        without = without_public_scale(self.columns, self.perturb)
        return tuple(name for name in self.noisy if name not in without)

    @property
    def answered_for(self) -> list[dict[str, Any]]:
        """What the author acknowledges, as JSON types, for a manifest."""
        return [one.model_dump(mode="json") for one in self.acknowledged]

    @property
    def cleaned(self) -> dict[str, ColumnCleaning]:
        """How each column is cleaned, in the policy's order; nothing without the section ``clean``."""
        if self.clean is None:
            return {}
        return {name: column_cleaning(self.clean, name, column) for name, column in self.columns.items()}

    @property
    def mechanisms(self) -> dict[str, str]:
        """Kind of noise of each perturb column with numbers, its own or the section's, in their order."""
        default = DEFAULT_MECHANISM if self.perturb is None else self.perturb.mechanism
        return {name: column.mechanism or default for name, column in self.perturbed.items()}

    @property
    def whole_columns(self) -> tuple[str, ...]:
        """Perturb columns with numbers that are changed as a whole, without noise, in their order."""
        kinds = self.mechanisms
        return tuple(name for name in kinds if MECHANISMS[kinds[name]].whole_column is not None)

    @property
    def changed_columns(self) -> dict[str, str]:
        """Mechanism of each perturb column that is changed as a whole: numbers, then categories."""
        kinds = self.mechanisms
        categories = {name: column.mechanism for name, column in self.changed_categories.items()}
        return {name: kinds[name] for name in self.whole_columns} | categories

    @property
    def joint_columns(self) -> tuple[str, ...]:
        """Perturb columns whose values move together, numbers first."""
        return tuple(name for name, column in self.noisy.items() if column.together)

    @property
    def unpromised_kinds(self) -> tuple[str, ...]:
        """Mechanisms of perturb columns that promise nothing, each once, sorted."""
        kinds = {*self.mechanisms.values(), *self.changed_columns.values()}
        return tuple(sorted(kind for kind in kinds if MECHANISMS[kind].promises == "nothing"))

    @property
    def mechanism_of_numbers(self) -> str | None:
        """Kind of noise of columns with numbers that name none themselves; None without such columns."""
        if self.perturb is None or set(self.perturbed) == set(self.whole_columns):
            return None
        return self.perturb.mechanism

    @property
    def rows(self) -> int:
        """Records over which the ε of a person is split: 1 where nothing says that there may be more."""
        return 1 if self.person is None else self.rows_per_person or 1

    @property
    def noise_epsilon(self) -> float | None:
        """ε of the noise of one record, or person; None without noise: columns may be changed otherwise."""
        without = set(self.noisy) == set(self.changed_columns)
        return None if self.perturb is None or without else self.perturb.epsilon

    @property
    def promised_epsilon(self) -> float | None:
        """ε of one record, or person; None without noise, and where a column's noise guarantees nothing."""
        return None if self.perturb is None or self.unpromised_kinds else self.perturb.epsilon

    @property
    def gate_k(self) -> int:
        """Smallest class that the gate lets pass, in records; in people with ``person``."""
        return self.gate.k if self.gate.k is not None else self.anonymize.k


def document_digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a document's canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file, for editors and for `anon-pipeline schema`."""
    return file_schema("anon-pipeline policy", TYPE, Policy)


def file_schema(title: str, kind: str, model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a file with a type, and attributes of a model.

    Args:
        kind: what stands at ``type:``.
    """
    attributes = model.model_json_schema()
    definitions = attributes.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "attributes"],
        "properties": {"type": {"const": kind}, "attributes": attributes},
        "$defs": definitions,
    }
