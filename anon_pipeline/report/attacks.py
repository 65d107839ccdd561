"""What attackers get right, one row for each that was measured: what he knows, how many, how it is known.

The public has what released file and policy tell, and of everything else the bound. What was measured on the
originals is in the internal report alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.table import limit_of
from anon_pipeline.limits.verdicts import top_of_band
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.columns import SizeBin
from anon_pipeline.report.estimates import estimate


@dataclass(frozen=True, slots=True)
class Attack:
    """One attacker.

    knows: of a person.
    share: of the records of ``among`` that he gets right, or at most gets right.
    among: records that it is a share of; people where these are counted.
    most: whether it is a bound.
    how: it is known.
    limit: name of the limit that bounds it; None: it follows from the classes alone.
    of: what ``among`` counts: records, or people.
    """

    knows: str
    share: float
    among: int
    most: bool
    how: str
    limit: str | None = None
    of: str = "records"

    @property
    def right(self) -> int:
        """Records or people that he gets right, or at most gets right, on average."""
        return math.floor(self.share * self.among + 1e-9) if self.most else round(self.share * self.among)


def attacks(
    policy: Policy,
    gate: GateReport,
    sizes: Sequence[SizeBin],
    *,
    internal: bool,
    people: int | None = None,
) -> Iterator[Attack]:
    """Yield the attacks that were measured.

    Args:
        gate: verdicts on the release; internal ones with all values.
        sizes: classes by size; internal ones with the linking risk that was realized.
        people: with a released record; None where records are counted.
    """
    names, records = ", ".join(policy.generalized), sum(row.records for row in sizes)
    smallest = max(sizes, key=lambda row: row.risk)
    yield Attack(
        f"the values of {names}",
        smallest.risk,
        smallest.records,
        True,
        "counted in the released file: 1 in the size of the class; records of the smallest classes",
    )
    for verdict in gate.verdicts:
        limit = limit_of(verdict.limit)
        if limit.knows:
            counted = (records, "records") if people is None or not limit.people else (people, "people")
            yield from _limited(verdict, limit, counted, internal=internal)
    if internal and policy.perturbed:
        yield from _realized(sizes, ", ".join(policy.perturbed))


def _limited(verdict: Verdict, limit: Limit, counted: tuple[int, str], *, internal: bool) -> Iterator[Attack]:
    """Yield the attack that a limit bounds, as a share of what is counted: how many, of what."""
    among, of = counted
    knows = limit.knows.format(verdict.limit.partition(".")[2])
    seen = verdict.value if internal or limit.recomputable else None
    value = verdict.realized if internal and verdict.realized is not None else seen
    if value is not None:
        how = "the mean over the noise or what was drawn, on the originals" if limit.needs else "the file"
        yield Attack(knows, value, among, False, f"measured: {how}", verdict.limit, of)
        return
    most, how = _most(verdict)
    if most < 1 or verdict.band is not None:
        yield Attack(knows, most, among, True, how, verdict.limit, of)


def _most(verdict: Verdict) -> tuple[float, str]:
    """Return the most that the share can be by what may be told of it, and what tells so."""
    bound = 1.0 if verdict.bound is None or verdict.status is Status.WARNED else verdict.bound
    if verdict.band is not None and top_of_band(verdict.band) <= bound:
        return top_of_band(verdict.band), f"{verdict.limit}: {verdict.band} was measured"
    return bound, f"limited by {verdict.limit}"


def _realized(sizes: Sequence[SizeBin], noisy: str) -> Iterator[Attack]:
    """Yield what the drawn noise lets be linked, by size of the class, with how well that is known."""
    for row in sizes:
        if row.linking is not None:
            among, of = (row.records, "records") if row.people is None else (row.people, "people")
            yield Attack(
                f"the generalized values, and the exact {noisy}; classes of {row.label}",
                row.linking,
                among,
                False,
                f"measured on the originals, {estimate(row.linking, among).as_text()}",
                of=of,
            )


def largest(found: Sequence[Attack]) -> Attack:
    """Return the attack of the largest risk, the first of equal ones; there is at least one."""
    return max(found, key=lambda attack: attack.share)


def is_limited(policy: Policy, gate: GateReport) -> bool:
    """Tell whether anything bounds what the noisy columns let be linked; without such columns nothing can."""
    bounded = [v for v in gate.verdicts if v.bound is not None and v.bound < 1]
    limits = [limit_of(verdict.limit) for verdict in bounded]
    linking = any(one.question == "linkability" and one.knows and not one.banded for one in limits)
    return not policy.perturbed or linking
