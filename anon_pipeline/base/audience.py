"""Who may see a number, and what it is computed from: declared once, for every place that shows it.

What nobody declared is the curator's.

Decision: docs/adr/0045-three-audiences.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal


class Audience(StrEnum):
    """Who sees a number: each sees what the one before sees, and more.

    public: whoever has the release: manifest, public report, released file.
    operator: who runs it: terminal, CI log, Dagster's events, metadata and checks.
    curator: who has the originals anyway: vault, internal report, files of mode 0600.
    """

    PUBLIC = "public"
    OPERATOR = "operator"
    CURATOR = "curator"

    def sees(self, number: Number) -> bool:
        """Tell whether a number is for this audience."""
        order = list(Audience)
        return order.index(number.to) <= order.index(self)


Source = Literal["policy", "released file", "the run", "originals", "noise", "population table", "history"]
"""What a number is computed from. ``the run``: time, versions, random ids; ``history``: earlier releases,
with the originals they came from."""

_OPEN: frozenset[Source] = frozenset({"policy", "released file", "the run"})


@dataclass(frozen=True, slots=True)
class Number:
    """The declaration of a number, or of a text made of numbers.

    of: what it is computed from.
    to: the widest audience that sees it.
    because: why others than the curator see it although it is not computed from policy, released file and
        run alone. Without a reason they must not.
    """

    of: tuple[Source, ...]
    to: Audience = Audience.CURATOR
    because: str = ""

    def __post_init__(self) -> None:
        private = not _OPEN.issuperset(self.of)
        if not self.of or (private and self.to is not Audience.CURATOR) != bool(self.because):
            raise ValueError(
                "a number must say what it is computed from, and give a reason where, and only where, others "
                "than the curator see what policy, released file and run do not reveal."
            )


POLICY = Number(("policy",), Audience.PUBLIC)
FILE = Number(("policy", "released file"), Audience.PUBLIC)
RUN = Number(("the run",), Audience.PUBLIC)
CURATORS = Number(("originals",))

_KEY = "number"


def number_field(number: Number | Mapping[str, Number]) -> dict[str, Number | Mapping[str, Number]]:
    """Return the metadata of a dataclass field that declares it; of one with parts, each of them by name."""
    return {_KEY: number}


def declaration_of(metadata: Mapping[str, Any]) -> Number | Mapping[str, Number]:
    """Return what a field of a dataclass declares; what declares nothing is the curator's."""
    found: Number | Mapping[str, Number] = metadata.get(_KEY, CURATORS)
    return found
