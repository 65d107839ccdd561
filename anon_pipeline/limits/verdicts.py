"""What the gate says: one verdict per limit, and the report of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How a limit was judged."""

    PASSED = "passed"
    REFUSED = "refused"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One limit, judged.

    limit: its name, such as ``k`` or ``t_closeness.salary``.
    status: passed, refused, or unmeasured (which publishing counts as refused).
    value: what was measured; None where nothing could be.
    bound: what the policy demands; None where the limit is a contract.
    sense: ``at least``, ``at most``, ``below`` or ``holds``.
    reason: why it was refused or not measured; counts and names, no values of the data.
    realized: where ``value`` is an expectation over the noise, the same of the noise that was drawn. It
        depends on the originals and the noise together: for the curator, not for publication.
    """

    limit: str
    status: Status
    value: float | None = None
    bound: float | None = None
    sense: str = "holds"
    reason: str | None = None
    realized: float | None = None

    @property
    def is_readable(self) -> bool:
        """Whether its status is one, and its numbers are numbers."""
        numbers = (self.value, self.bound, self.realized)
        return isinstance(self.status, Status) and not any(
            isinstance(one, bool) or not isinstance(one, (int, float, type(None))) for one in numbers
        )

    def as_text(self) -> str:
        """Say the verdict in one line."""
        measured = "" if self.value is None else f": {self.measured}"
        demanded = "" if self.bound is None else f" ({self.sense} {self.bound:.6g})"
        return f"{self.limit}{measured}{demanded} {self.status}" + (f": {self.reason}" if self.reason else "")

    @property
    def measured(self) -> str:
        """Say what was measured, empty where nothing was; of an expectation what was realized, too."""
        if self.value is None:
            return ""
        return f"{self.value:.6g}" + ("" if self.realized is None else f", realized {self.realized:.6g}")

    def to_json(self) -> dict[str, Any]:
        """Return what may be published of it as JSON types.

        That is neither what was realized nor the expectation beside it: this is a function of the originals
        alone, and tells who knows all but one of a class about the last one.
        """
        said = {name: value for name, value in asdict(self).items() if name != "realized"}
        return said if self.realized is None else said | {"value": None}


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
        """Whether every limit was measured and kept."""
        return bool(self.verdicts) and all(verdict.status is Status.PASSED for verdict in self.verdicts)

    def with_status(self, status: Status) -> tuple[Verdict, ...]:
        """Return the verdicts of one status."""
        return tuple(verdict for verdict in self.verdicts if verdict.status is status)

    def to_json(self) -> dict[str, Any]:
        """Return what may be published of the report as JSON types; see `Verdict.to_json`."""
        known = {} if self.population_digest is None else {"population_digest": self.population_digest}
        return {
            "passed": self.passed,
            "data_digest": self.data_digest,
            "policy_digest": self.policy_digest,
            **known,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> GateReport:
        """Read a report back; ``passed`` is computed anew from the verdicts.

        Raises:
            LookupError, TypeError, ValueError: it is none, or tells what is not to be published.
        """
        if any("realized" in item for item in document["verdicts"]):
            raise ValueError("a report must not tell what was realized, got one that does.")
        verdicts = tuple(
            Verdict(**{**item, "status": Status(item["status"])}) for item in document["verdicts"]
        )
        return cls(
            verdicts, document["data_digest"], document["policy_digest"], document.get("population_digest")
        )
