"""The rule of every contract that no column holds an identifier which nobody declared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from anon_pipeline.base.mistakes import counted_records
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.patterns import matches
from anon_pipeline.policy.columns import Column

RULE = "must hold no identifier of a person"


@dataclass(frozen=True, slots=True)
class NoIdentifiers:
    """Tell of a column whether it is free of identifiers.

    allow: detectors that the policy allows in it.
    """

    allow: frozenset[str] = frozenset()

    def __call__(self, column: pd.Series) -> bool:
        """Tell whether no detector finds anything; for Pandera, and for whoever asks once more."""
        return not matches(column, self.allow)

    def find(self, column: pd.Series) -> dict[str, str]:
        """Say what was found: a line with the number of records for each detector, by its name."""
        words = {detector.name: detector.words for detector in DETECTORS}
        return {
            name: f"must hold no {words[name]} ({name}), got {counted_records(records)}"
            for name, records in matches(column, self.allow).items()
        }

    @property
    def bad(self) -> list[str]:
        """Values that a judge of this rule must refuse, invented ones; none where the policy allows each."""
        return [
            example
            for detector in DETECTORS
            if detector.name not in self.allow
            for example in detector.examples
        ]


def no_identifiers(column: Column) -> NoIdentifiers:
    """Return the rule for a column of a policy."""
    return NoIdentifiers(frozenset(getattr(column, "allow", ())))


def describe_identifiers(lines: Iterable[str], frame: Table, rules: Mapping[str, NoIdentifiers]) -> list[str]:
    """Say of each broken rule about identifiers which kind was found, and in how many records.

    Args:
        lines: ``column: rule`` of broken rules.
    Returns:
        The lines, sorted; one for each kind of identifier, the last of these with what to do.
    """
    told: set[str] = set()
    kinds: dict[str, str] = {}
    for line in lines:
        name, _, rule = line.rpartition(": ")
        if rule != RULE or name not in rules:
            told.add(line)
            continue
        found = rules[name].find(frame[name])
        kinds |= {f"{name}: {said}": detector for detector, said in found.items()} or {line: "DETECTOR"}
    last = max(kinds, default=None)
    return sorted(told | {f"{one}. {_advice(kinds[one])}" if one == last else one for one in kinds})


def _advice(detector: str) -> str:
    return (
        "Look at the source first: its columns may be shifted. If these identify people, give the column "
        f"the role identifier; if they are intended, write allow: {{{detector}: why}} (docs/identifiers.md)."
    )
