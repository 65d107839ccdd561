"""What the page of a collection shows of each release, and of each limit over all of them.

All of it is read from manifests that were verified, one at a time: what they say is public.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.gate import Status, Verdict
from anon_pipeline.limits.linking import LINKING_RISK
from anon_pipeline.limits.structure import K
from anon_pipeline.limits.table import demanded_by, limit_meaning, limit_of
from anon_pipeline.limits.verdicts import NO_LIMIT, NOT_PUBLISHED, GateReport, bottom_of_band

"""What the page shows in place of a value that depends on the originals."""


@dataclass(frozen=True, slots=True)
class PartFigures:
    """What one release says.

    kind: in words; empty of a release of classes.
    records, released: None where its kind does not compare them.
    people: of the input and of the release; None: records are counted.
    smallest, k: of its classes, and what the policy promises.
    linking: the risk, or what it is limited to.
    passed, warned: verdicts of its gate.
    link: to its own report, relative to the page; empty: it has none.
    noise: whether it may have noise.
    """

    folder: str
    key: str
    kind: str
    records: int | None
    released: int | None
    people: tuple[int, int] | None
    smallest: float | None
    k: float | None
    linking: str
    passed: int
    warned: int
    epsilon: float | None
    made_at: str
    link: str
    noise: bool = True

    @property
    def left_out(self) -> float | None:
        """The share of its input that is not released."""
        if self.records is None or self.released is None:
            return None
        return 1 - self.released / max(self.records, 1)


@dataclass(frozen=True, slots=True)
class WorstPart:
    """One limit over all releases: the value that is nearest to its bound, or farthest beyond it.

    value: as text. folder: of the release that has it; empty: no value is published.
    parts: how many releases have this limit. warned: in how many of them it warned.
    loosest: the bound, as a number that grows with what it lets pass. differs: whether some of the releases
        have another bound. The bound is that of the value; without one, the loosest.
    example: folder of one of these. of_policy: whether it is about what the policy accepts.
    """

    limit: str
    meaning: str
    bound: str
    value: str
    folder: str
    parts: int
    warned: int
    example: str
    of_policy: bool = False
    loosest: float = 0.0
    differs: bool = False
    rank: float | None = None

    @property
    def has_bound(self) -> bool:
        """Whether it is a number with a bound, and not something that only holds."""
        return self.value != ""

    @property
    def exceeded(self) -> str:
        """In how many releases the bound is exceeded, as the page shows it."""
        return "–" if self.bound == NO_LIMIT and not self.warned else f"{self.warned:,} of {self.parts:,}"


@dataclass(frozen=True, slots=True)
class CollectionFigures:
    """What the page shows: each release, and each limit over all of them.

    promised: in how many releases each sentence of the guarantee stands.
    """

    parts: list[PartFigures] = field(default_factory=list, repr=False)
    limits: dict[str, WorstPart] = field(default_factory=dict, repr=False)
    promised: Counter[str] = field(default_factory=Counter, repr=False)

    def add(self, folder: str, document: Mapping[str, Any]) -> None:
        """Add what the verified manifest of one release says."""
        gate = GateReport.from_json(document["gate"])
        self.parts.append(_figures(folder, document, gate))
        self.promised.update(dict.fromkeys(document["guarantee"], 1))
        for verdict in gate.verdicts:
            new = _limit_row(folder, verdict)
            old = self.limits.get(verdict.limit)
            self.limits[verdict.limit] = new if old is None else _join(old, new)


def collection_figures(manifests: Iterable[tuple[str, Mapping[str, Any]]]) -> CollectionFigures:
    """Return what verified manifests say.

    Args:
        manifests: names of folders, and the manifest in each.
    """
    found = CollectionFigures()
    for folder, document in manifests:
        found.add(folder, document)
    return found


def _figures(folder: str, document: Mapping[str, Any], gate: GateReport) -> PartFigures:
    by_name = {verdict.limit: verdict for verdict in gate.verdicts}
    k, linking = by_name.get(K.name), by_name.get(LINKING_RISK.name)
    kind = RELEASE_KINDS.get(str(document.get("kind")))
    facts, report = document.get("facts", {}), document.get("report")
    return PartFigures(
        folder=folder,
        key=str(document.get("partition") or document["release"]),
        kind="" if kind is None else kind.words,
        records=document["records"] if kind is not None else facts.get("raw", {}).get("records"),
        released=None if kind is not None else sum(item["records"] for item in document["files"]),
        people=None if kind is not None else _people(facts),
        smallest=None if k is None else k.value,
        k=None if k is None else k.bound,
        linking="–" if linking is None else _public_value(linking) or _bound_kept(linking),
        passed=len(gate.with_status(Status.PASSED)),
        warned=len(gate.with_status(Status.WARNED)),
        epsilon=document.get("epsilon"),
        made_at=str(document.get("made_at", "")),
        link=f"./{quote(folder)}/{quote(report['name'])}" if isinstance(report, Mapping) else "",
        noise=not facts.get("perturbed", {}).get("passed_through", False),
    )


def _bound_kept(verdict: Verdict) -> str:
    """Say the bound of a verdict whose value is not published, and whether it is kept."""
    return demanded_by(verdict) + (" (exceeded)" if verdict.status is Status.WARNED else "")


def _people(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    came = facts.get("deidentified", {}).get("people")
    left = facts.get("suppressed", {}).get("released_people")
    return None if came is None or left is None else (came, left)


def _limit_row(folder: str, verdict: Verdict) -> WorstPart:
    """Return what one release says of a limit."""
    seen, meaning, of_policy = _public_value(verdict), "", False
    with suppress(KeyError):  # of another kind of release
        meaning, of_policy = limit_meaning(verdict.limit), limit_of(verdict.limit).of_policy
    warned = verdict.status is Status.WARNED
    return WorstPart(
        limit=verdict.limit,
        meaning=meaning,
        bound=demanded_by(verdict),
        value=seen or ("" if verdict.bound is None else NOT_PUBLISHED),
        folder=folder if seen else "",
        parts=1,
        warned=int(warned),
        example=folder if warned else "",
        of_policy=of_policy,
        loosest=_looseness(verdict.bound or 0.0, verdict),
        rank=_rank(verdict) if seen else None,
    )


def _public_value(verdict: Verdict) -> str:
    """Return the value or the band that the public sees; empty: neither."""
    public = True
    with suppress(KeyError):
        public = limit_of(verdict.limit).recomputable
    if verdict.value is not None and public:
        return f"{verdict.value:.6g}"
    return verdict.band or ""


def _rank(verdict: Verdict) -> float:
    """Return a number that grows as a verdict becomes worse."""
    value = bottom_of_band(verdict.band) if verdict.value is None and verdict.band else verdict.value or 0.0
    return _looseness(value, verdict)


def _looseness(number: float, verdict: Verdict) -> float:
    """Return a number that grows as people are protected less."""
    return -number if verdict.sense == "at least" else number


def _join(old: WorstPart, new: WorstPart) -> WorstPart:
    """Return the worse one of two, with the counts of both; of equal ones the first."""
    if old.rank is None and new.rank is None:
        is_worse = new.loosest > old.loosest
    else:
        is_worse = new.rank is not None and (old.rank is None or new.rank > old.rank)
    worse = new if is_worse else old
    return replace(
        worse,
        parts=old.parts + new.parts,
        warned=old.warned + new.warned,
        example=old.example or new.example,
        differs=old.differs or old.bound != new.bound,
    )
