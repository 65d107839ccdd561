"""The result: what a release loses by every measure of the table, by its name and as rows for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, NamedTuple

import pandas as pd

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.policy.model import Policy
from anon_pipeline.utility.comparison import compare
from anon_pipeline.utility.measures import GROUPS, MEASURES


@dataclass(frozen=True, slots=True, eq=False)
class Utility(Mapping[str, Any]):
    """What a release loses, by the names of `MEASURES`; None where a measure has nothing to measure.

    Each is an attribute, too: ``found.precision`` is ``found["precision"]``. See docs/utility.md.
    """

    measured: Mapping[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.measured[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measured)

    def __len__(self) -> int:
        return len(self.measured)

    def __getattr__(self, name: str) -> Any:
        if name != "measured" and name in self.measured:
            return self.measured[name]
        raise AttributeError(name)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON types: for the curator alone."""
        return {name: _plain(value) for name, value in self.measured.items()}


class Row(NamedTuple):
    """A number as it is shown; column: that it is about, if it is about one."""

    group: str
    words: str
    column: str
    value: str
    unit: str
    better: str


def utility(
    evidence: Evidence, policy: Policy, before: pd.DataFrame, *, target: str | None = None, seed: int = 0
) -> Utility:
    """Measure everything that an analyst loses.

    Args:
        evidence, before, target: see `comparison.compare`.
        seed: of the random queries.
    Returns:
        The measures, whatever the order of the rows.
    Raises:
        InputError: see `comparison.compare`.
    """
    compared = compare(evidence, policy, before, target=target, seed=seed)
    return Utility({name: measure.computes(compared) for name, measure in MEASURES.items()})


def rows(found: Utility) -> Iterator[Row]:
    """Yield the numbers of a result, in groups; what has nothing to measure is –."""
    values = found.to_json()
    shown = (
        (group, one.name, number) for group, ones in GROUPS.items() for one in ones for number in one.numbers
    )
    for group, name, number in shown:
        for column, value in _find(values[name], [*filter(None, number.path.split("."))]):
            yield Row(group, number.words, column, _text(value), number.unit, number.better)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return {name: _plain(below) for name, below in value.items()} if isinstance(value, Mapping) else value


def _find(values: Any, path: list[str], column: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what stands at a path, with the column that its ``*`` stands for."""
    if not path or values is None:
        yield column, values
    elif path[0] == "*":
        several = values.items() if isinstance(values, Mapping) else enumerate(values, 1)
        for name, below in several:
            yield from _find(below, path[1:], f"{column}, {name}" if column else str(name))
    else:
        yield from _find(values[path[0]], path[1:], column)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return (
        f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    )
