"""The table of what happens to columns with the role identifier.

A new action is its function, the field of `facts.records.DeidentifiedFacts` that names its columns, and one
entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class IdentifierAction:
    """What happens to an identifier.

    name: in the policy.
    fact: field of the facts of `deidentified` that names the columns.
    promise: sentence of a release's guarantee; ``{}`` stands for the columns.
    replaces: place of the function from a column and the key to what is released; None: the column is not.
    rule: place of the rule that what is released keeps, see `stages.contracts.column_rules`; None:
        nothing is released.
    shown: what released values are called in reports.
    left: what is left of the column in a release, in words.
    keyed: whether it needs the policy's key.
    tells_apart: whether released values show which records have the same one.
    """

    name: str
    fact: str
    promise: str
    replaces: str | None = None
    rule: str | None = None
    shown: str = ""
    left: str = ""
    keyed: bool = False
    tells_apart: bool = False

    @property
    def released(self) -> bool:
        """Whether the column is part of the release."""
        return self.replaces is not None


_ALL = (
    IdentifierAction("drop", "dropped", "Left out: {}."),
    IdentifierAction(
        "mask",
        "masked",
        "Replaced by ***: {}.",
        "anon_pipeline.stages.deidentify:mask_column",
        "anon_pipeline.stages.contracts.column_rules:IS_MASKED",
        "masks",
        "*** in every record",
    ),
    IdentifierAction(
        "hash",
        "hashed",
        "Released as keyed hashes (pseudonyms): {}. Equal values have equal hashes, so records can be joined "
        "across releases made with the same key, and by them a record is not hidden among k.",
        "anon_pipeline.stages.deidentify:hash_column",
        "anon_pipeline.stages.contracts.column_rules:IS_HASHED",
        "pseudonyms",
        "as a pseudonym: equal values have equal ones, also in other releases with the same key",
        keyed=True,
        tells_apart=True,
    ),
)
IDENTIFIER_ACTIONS: Mapping[str, IdentifierAction] = MappingProxyType({one.name: one for one in _ALL})
DEFAULT_ACTION = _ALL[0].name
