"""What the gate says: one verdict per limit, and the report of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from anon_pipeline.base.notebook import object_html, tabular


class Status(StrEnum):
    """How a limit was judged."""

    PASSED = "passed"
    WARNED = "warned"
    REFUSED = "refused"
    UNMEASURED = "unmeasured"

    @property
    def publishable(self) -> bool:
        """Whether a limit with this status lets a release be published."""
        return self in (Status.PASSED, Status.WARNED)


_EDGES = (0.0, 0.05, 0.1, 0.2, 0.5)
BANDS = tuple(
    f"{low:g} to {high:g}" if high < 1 else f"{low:g} or more"
    for low, high in zip(_EDGES, (*_EDGES[1:], 1.0), strict=True)
)
"""Public bands of a share: too coarse to reveal the originals, fine enough to act on."""


def band_of(share: float) -> str:
    """Return the band that a share lies in; an edge lies in the band below it.

    >>> [band_of(share) for share in (0, 0.2, 0.201, 1)]
    ['0 to 0.05', '0.1 to 0.2', '0.2 to 0.5', '0.5 or more']
    """
    return BANDS[max(sum(share > edge for edge in _EDGES) - 1, 0)]


def top_of_band(band: str) -> float:
    """Return the largest share that lies in a band.

    >>> [top_of_band(band) for band in ("0 to 0.05", "0.5 or more")]
    [0.05, 1.0]
    """
    return (*_EDGES[1:], 1.0)[BANDS.index(band)]


def bottom_of_band(band: str) -> float:
    """Return the share that every share of a band is above.

    >>> [bottom_of_band(band) for band in ("0 to 0.05", "0.5 or more")]
    [0.0, 0.5]
    """
    return _EDGES[BANDS.index(band)]


def fits_band(verdict: Verdict) -> bool:
    """Tell whether the band of a verdict is one, and neither its value nor its status contradicts it."""
    if verdict.band not in BANDS or verdict.bound is None:
        return False
    if verdict.value is not None:
        return verdict.band == band_of(verdict.value)
    low = _EDGES[BANDS.index(verdict.band)]
    return low < max(verdict.bound, 1e-12) if verdict.status is Status.PASSED else True


NOT_PUBLISHED = "not published"
"""What people read in place of a value that depends on the originals."""

NO_LIMIT = "no limit"
"""What people read in place of a bound that lets every value pass."""

MEASURED_ONLY = "measured only"
"""What people read in place of "passed" where every value passes; manifests and JSON have the status."""

_TOLD = ("limit", "status", "value", "bound", "sense", "reason", "band")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit, judged.

    limit: its name, such as ``k`` or ``t_closeness.salary``.
    status: passed; warned: beyond a bound that only warns; refused; or unmeasured, which publishing counts
        as refused.
    value: what was measured; None where nothing could be.
    bound: what the policy demands; None where the limit is a contract.
    sense: ``at least``, ``at most``, ``below`` or ``holds``.
    reason: why it was refused or not measured; counts and names, no values of the data.
    realized: where ``value`` is an expectation over the noise, the same of the noise that was drawn. It
        depends on the originals and the noise together: for the curator, not for publication.
    band: which of `BANDS` the value lies in, where that may be published; None: nothing is said.
    recomputable: whether the value follows from released file and policy alone, see
        `limits.limit.Limit.number`. Of any other the value is the curator's.
    """

    limit: str
    status: Status
    value: float | None = None
    bound: float | None = None
    sense: str = "holds"
    reason: str | None = None
    realized: float | None = None
    band: str | None = None
    recomputable: bool = field(default=False, compare=False)

    @property
    def is_readable(self) -> bool:
        """Whether its status is one, and its numbers are numbers."""
        numbers = (self.value, self.bound, self.realized)
        return isinstance(self.status, Status) and not any(
            isinstance(one, bool) or not isinstance(one, (int, float, type(None))) for one in numbers
        )

    def outcome(self, *, free: bool) -> str:
        """Say how it ended, for people; see `as_text`."""
        return MEASURED_ONLY if free and self.status is Status.PASSED else str(self.status)

    def as_text(self, *, at_hand: bool = False, free: bool = False) -> str:
        """Say the verdict in one line, as the operator may see it.

        Args:
            at_hand: whether the judged file is in the reader's hands; a refused one else is not.
            free: whether its bound lets every value pass, see `limits.table.verdict_text`.

        >>> known = Verdict("known_columns.job", Status.PASSED, None, 1.0, "at most")
        >>> known.as_text(), known.as_text(free=True)
        ('known_columns.job (at most 1) passed', 'known_columns.job (no limit) measured only')
        """
        seen = self.value_seen(at_hand=at_hand)
        measured = "" if seen is None else f": {seen:.6g}"
        bound = NO_LIMIT if free else "" if self.bound is None else f"{self.sense} {self.bound:.6g}"
        said = f"{self.limit}{measured}{f' ({bound})' if bound else ''} {self.outcome(free=free)}"
        return f"{said}: {self.reason}" if self.reason else said

    def value_seen(self, *, at_hand: bool) -> float | None:
        """Return the value as public and operator see it: only if it follows from the file."""
        return self.value if self.recomputable and (at_hand or self.status.publishable) else None

    @property
    def measured(self) -> str:
        """Say exactly what was measured, for the curator; of an expectation what was realized, too."""
        if self.value is None:
            return ""
        return f"{self.value:.6g}" + ("" if self.realized is None else f", realized {self.realized:.6g}")

    def to_json(self) -> dict[str, Any]:
        """Return the public part as JSON types: the value only if it follows from file and policy.

        Any other value is a function of the originals, and an attacker who knows all but one learns about
        the last
        one: of that, bound and status are published.
        """
        said = {name: getattr(self, name) for name in _TOLD}
        if self.band is None:
            del said["band"]
        if self.status is Status.WARNED:
            said["reason"] = None  # numbers and names of limits only, as of what passed
        return {**said, "status": str(self.status), "value": self.value if self.recomputable else None}

    def exact_json(self) -> dict[str, Any]:
        """Return all of it as JSON types: for the curator alone."""
        said = {name: value for name, value in asdict(self).items() if name != "recomputable"}
        return {**said, "status": str(self.status)}


def _bound_text(verdict: Verdict) -> str:
    return verdict.sense if verdict.bound is None else f"{verdict.sense} {verdict.bound:.6g}"


@dataclass(frozen=True, slots=True)
class GateReport:
    """All verdicts on one release.

    verdicts: in a fixed order, at least the contract and k.
    data_digest: of the released table that was measured, see `digest.digest_frame`.
    policy_digest: of the policy whose limits these are.
    population_digest: SHA-256 of the population's file; None where none was given.
    """

    verdicts: tuple[Verdict, ...]
    data_digest: str
    policy_digest: str
    population_digest: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every limit was measured, and is kept or only warns."""
        return bool(self.verdicts) and all(verdict.status.publishable for verdict in self.verdicts)

    @property
    def unkept(self) -> tuple[Verdict, ...]:
        """The verdicts because of which nothing is published."""
        return tuple(verdict for verdict in self.verdicts if not verdict.status.publishable)

    def with_status(self, status: Status) -> tuple[Verdict, ...]:
        """Return the verdicts of one status."""
        return tuple(verdict for verdict in self.verdicts if verdict.status is status)

    def _repr_html_(self) -> str:
        """Show all verdicts in a notebook, with their exact values."""
        rows = [
            (one.limit, one.measured or one.band or "", _bound_text(one), one.status, one.reason or "")
            for one in self.verdicts
        ]
        said = "passed" if self.passed else f"refused by {', '.join(one.limit for one in self.unkept)}"
        return object_html(
            f"Gate: {said}", [tabular(["limit", "measured", "demanded", "verdict", "why"], rows)]
        )

    def to_json(self) -> dict[str, Any]:
        """Return what may be published of the report as JSON types; see `Verdict.to_json`.

        Of the population's table there is no digest: whoever can guess the table could confirm the guess.
        """
        return {**self._head(), "verdicts": [verdict.to_json() for verdict in self.verdicts]}

    def exact_json(self) -> dict[str, Any]:
        """Return all of the report as JSON types: for the curator alone, not for publication."""
        known = {} if self.population_digest is None else {"population_digest": self.population_digest}
        return {**self._head(), **known, "verdicts": [verdict.exact_json() for verdict in self.verdicts]}

    def _head(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "data_digest": self.data_digest,
            "policy_digest": self.policy_digest,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> GateReport:
        """Read a published report back; ``passed`` is computed anew from the verdicts.

        Of manifests of version 1 the values are those that were published, also where they reveal too much.

        Raises:
            LookupError, TypeError, ValueError: not a verdict, or has a value that must not be published.
        """
        if any("realized" in item for item in document["verdicts"]):
            raise ValueError("a report must not contain values of the drawn noise.")
        verdicts = tuple(
            Verdict(**{**item, "status": Status(item["status"])}, recomputable=item["value"] is not None)
            for item in document["verdicts"]
        )
        return cls(
            verdicts, document["data_digest"], document["policy_digest"], document.get("population_digest")
        )
