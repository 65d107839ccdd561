"""What attackers get right, one row for each that was measured: what he knows, how many, how it is known.

The public sees what follows from released file and policy, and for everything else the bound. What was
measured on the originals is in the internal report alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from anon_pipeline.base.shares import percent, percent_at_most
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.limits.verdicts import bottom_of_band, top_of_band
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.columns import SizeBin
from anon_pipeline.report.estimates import estimate


@dataclass(frozen=True, slots=True)
class Attack:
    """One attacker.

    knows: of a person.
    share: of ``among`` that he gets right, or at most gets right.
    among: how many it is a share of; None: that is not known.
    most: whether it is a bound.
    how: it is known.
    limit: name of the limit that bounds it; None: it follows from the classes alone.
    noun: what is counted: people, where the policy says whose records they are; else records.
    least: share that he gets right at least, of a band that has no upper edge.
    advised: bound that only warns, and was exceeded; None: there is none.
    """

    knows: str
    share: float
    among: int | None
    most: bool
    how: str
    limit: str | None = None
    noun: str = "records"
    least: float = 0.0
    advised: float | None = None

    @property
    def is_limited(self) -> bool:
        """Whether he cannot get all of them right."""
        return not self.most or self.share < 1

    @property
    def right(self) -> int:
        """How many he gets right, or at most gets right, on average; 0 if it is not known of how many."""
        among = self.among or 0
        return math.floor(self.share * among + 1e-9) if self.most else round(self.share * among)

    @property
    def risk(self) -> str:
        """Say the share.

        >>> Attack("his job", 1.0, 300, True, "a band", least=0.5).risk
        '50 % or more, no limit'
        >>> Attack("his job", 1.0, 300, True, "a band", least=0.5, advised=0.2).risk
        '50 % or more (advised: at most 20 %)'
        """
        if self.is_limited:
            said = f"at most {percent_at_most(self.share)}" if self.most else percent(self.share)
        elif self.advised is None:
            return f"{percent(self.least)} or more, no limit" if self.least else "no limit"
        else:
            said = f"{percent(self.least)} or more" if self.least else "not limited"
        return said if self.advised is None else f"{said} (advised: at most {percent(self.advised)})"

    @property
    def many(self) -> str:
        """Say how many he gets right.

        >>> Attack("his job", 0.2, 300, True, "a bound", noun="people").many
        'at most 60 of 300 people'
        >>> Attack("his job", 1.0, 300, True, "a band", least=0.5).many
        '150 or more of 300 records'
        """
        if self.among is None:
            return "–"
        whole = f"of {self.among:,} {self.noun}"
        if self.is_limited:
            return f"{'at most' if self.most else 'about'} {self.right:,} {whole}"
        least = math.ceil(self.least * self.among - 1e-9)
        return f"{least:,} or more {whole}" if least else f"any number {whole}"

    @property
    def portion(self) -> str:
        """Say what share he gets right, in words.

        >>> Attack("his job", 0.2, 300, True, "a bound", noun="people").portion
        'at most 20 % of the people'
        >>> Attack("his job", 1.0, 300, True, "a band", least=0.5).portion
        '50 % of the records or more'
        """
        if self.is_limited:
            share = f"at most {percent_at_most(self.share)}" if self.most else f"about {percent(self.share)}"
            return f"{share} of the {self.noun}"
        return (
            f"{percent(self.least)} of the {self.noun} or more"
            if self.least
            else f"any share of the {self.noun}"
        )

    @property
    def success(self) -> str:
        """Say how often he picks the right record, and which bound does not hold; a sentence without him.

        >>> Attack("his job", 0.2, 300, True, "a bound", noun="people").success
        'picks the right record for at most 60 of 300 people'
        >>> Attack("his job", 1.0, 300, True, "a band", least=0.5, advised=0.2).success
        'picks the right record for 50 % of the records or more; the advised bound of 20 % is exceeded'
        """
        said = f"picks the right record for {self.many if self.is_limited else self.portion}"
        if self.advised is not None:
            return f"{said}; the advised bound of {percent(self.advised)} is exceeded"
        return said if self.is_limited else f"{said}; no limit holds"


def attacks(
    policy: Policy, gate: GateReport, sizes: Sequence[SizeBin], *, internal: bool, people: int | None = None
) -> Iterator[Attack]:
    """Yield the attacks that were measured.

    Args:
        gate: verdicts on the release; internal ones with all values.
        sizes: classes by size; internal ones with the linking risk that was realized.
        people: who are released; None where records are counted.
    """
    names, records = ", ".join(policy.generalized), sum(row.records for row in sizes)
    noun, among = ("records", records) if people is None else ("people", people)
    smallest = max(sizes, key=lambda row: row.risk)
    chance = percent_at_most(smallest.risk)
    size = f"{smallest.label} record{'' if smallest.label == '1' else 's'}"
    counted = f"counted in the released file: {chance}, for records of the smallest classes ({size})"
    yield Attack(
        f"the values of {names}",
        smallest.risk,
        smallest.records if people is None else smallest.people,
        True,
        counted
        if people is None
        else f"{chance}: each class has at least {max(round(1 / smallest.risk), 1):,} people",
        noun=noun,
    )
    for verdict in gate.verdicts:
        limit = limit_of(verdict.limit)
        if limit.words.knows:
            words = limit.words
            knows = words.knows if policy.noisy or not words.knows_plain else words.knows_plain
            found = _limit_attack(verdict, limit, among, knows=knows, internal=internal)
            yield from (replace(attack, noun=noun) for attack in found)
    if internal and policy.perturbed:
        yield from _realized_attacks(sizes, ", ".join(policy.perturbed), noun)
    elif policy.perturbed and not any(_is_on_noise(limit_of(verdict.limit)) for verdict in gate.verdicts):
        yield Attack(
            next(filter(_is_on_noise, LIMITS)).words.knows, 1.0, among, True, "no limit is on it", noun=noun
        )


def _limit_attack(
    verdict: Verdict, limit: Limit, among: int, *, knows: str, internal: bool
) -> Iterator[Attack]:
    knows = knows.format(verdict.limit.partition(".")[2])
    advised = verdict.bound if verdict.status is Status.WARNED else None
    value = verdict.value if internal or limit.recomputable else None
    if value is not None:
        how = "the mean over the noise, on the originals" if limit.judged.needs else "the file"
        yield Attack(knows, value, among, False, f"measured: {how}", verdict.limit, advised=advised)
        return
    most, how = _most(verdict)
    least = bottom_of_band(verdict.band) if most >= 1 and verdict.band is not None else 0.0
    yield Attack(knows, most, among, True, how, verdict.limit, least=least, advised=advised)


def band_in_words(band: str) -> str:
    """Say a public band in per cent.

    >>> band_in_words("0.05 to 0.1"), band_in_words("0.5 or more")
    ('5 % to 10 %', '50 % or more')
    """
    if top_of_band(band) == 1:
        return f"{percent(bottom_of_band(band))} or more"
    return f"{percent(bottom_of_band(band))} to {percent(top_of_band(band))}"


def _most(verdict: Verdict) -> tuple[float, str]:
    """Return the upper bound of the share from public numbers, and its source."""
    bound = 1.0 if verdict.bound is None or verdict.status is Status.WARNED else verdict.bound
    if verdict.band is not None and top_of_band(verdict.band) <= bound:
        return top_of_band(verdict.band), f"{verdict.limit}: {band_in_words(verdict.band)} was measured"
    if verdict.status is Status.WARNED:
        return bound, f"{verdict.limit}: more than is advised; what was measured is the curator's"
    if bound >= 1 and verdict.band is None:
        return bound, f"{verdict.limit} bounds nothing; what was measured is the curator's"
    return bound, f"limited by {verdict.limit}"


def _realized_attacks(sizes: Sequence[SizeBin], noisy: str, noun: str) -> Iterator[Attack]:
    """Yield what the drawn noise lets be linked, by size of the class, with how well that is known."""
    for row in sizes:
        if row.linking is not None:
            among = row.records if row.people is None else row.people
            yield Attack(
                f"the generalized values, and the exact {noisy}; classes of {row.label}",
                row.linking,
                among,
                False,
                f"measured on the originals, {estimate(row.linking, among).as_text()}",
                noun=noun,
            )


def largest(found: Sequence[Attack]) -> Attack:
    """Return the attack of the largest risk, the first of equal ones; there is at least one.

    Of those without a limit it is the one that is known to get the most right.
    """
    return max(found, key=lambda attack: (attack.share, attack.least))


def is_limited(policy: Policy, gate: GateReport) -> bool:
    """Tell whether anything bounds what the noisy columns let be linked; without such columns nothing can."""
    bounded = [v for v in gate.verdicts if v.bound is not None and v.bound < 1]
    return not policy.perturbed or any(_is_on_noise(limit_of(verdict.limit)) for verdict in bounded)


def _is_on_noise(limit: Limit) -> bool:
    """Return whether a limit is on attackers who know only the originals of the noisy numbers."""
    words = limit.words
    return words.question == "linkability" and bool(words.knows) and not limit.published.banded


def may_repeat(gate: GateReport) -> bool:
    """Tell whether the gate warned that a person may have several records."""
    return any(one.limit == REPEATED_PEOPLE.name and one.status is Status.WARNED for one in gate.verdicts)
