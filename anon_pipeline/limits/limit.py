"""The entry of a kind of limit, a policy's demand for it, and judging a release by that demand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from anon_pipeline.evidence.expected import Expectation
from anon_pipeline.limits.case import MISSING, Case, Need
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy

Demanded = Mapping[str, Any]
"""What a policy demands by one kind of limit: by column or part, ``""`` where it has none."""


CLOSE = 1e-9
"""How far apart sums of floats may be, in whatever order they are added; a share where they are above 1."""


def _number(wanted: Any) -> float | None:
    return None if wanted is None else float(wanted)


class Foreseen(Protocol):
    """What tuning expects of a release before any noise is drawn, see `tuning.tuned.Expected`."""

    @property
    def smallest_class(self) -> int: ...  # noqa: D102
    @property
    def linking(self) -> float: ...  # noqa: D102
    @property
    def linking_released(self) -> float: ...  # noqa: D102
    @property
    def standard_error(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def suppression_judged(self) -> float: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Limit:
    """A kind of limit: all that others need to know of it.

    name: in verdicts, and in the policy.
    meaning: one sentence for people; ``{}`` stands for the column or part.
    demanded: what a policy demands by it; empty where the limit is not set. None, as every limit of a plugin
        has it: what ``gate.<name>`` says.
    measure: what is compared with the bound.
    judge: takes the place of ``measure`` where one number and its bound do not say it.
    bound: from what the policy demands to the number that a verdict shows.
    sense: of a value and its bound.
    tolerance: what floats are given, as a share of the bound where that is above 1.
    needs: what it cannot be measured without; then it stays unmeasured, and the release is not published.
    over_noise: the mean of ``measure`` over the noise; None where it does not look at the drawn noise.
    attack: whether it stands under ``gate.attacks``.
    linking: whether it says how much linking is too much; tuning then looks for the least loss.
    certain: whether it holds in every release that the stages make.
    always: whether every policy demands it.
    valued: whether its verdict has a value and a bound; else it says only whether the limit holds.
    boundless: whether a manifest may record a value of it without a bound.
    missing: whether its value is the share of the input that is not released, which the stages count, too.
    mapped: whether maps of risk and information loss show it as the risk.
    together: whether it bounds what all releases of a person tell together.
    promise: sentence of a release's guarantee on what it demands; None: it promises nothing to persons.
    foreseen: what tuning compares with the bound before there is a release; None: it cannot judge the limit.
    expectation: its name in Great Expectations; None: by the default of `expectation_name`; empty where a
        table and its originals alone do not show whether it is kept.
    """

    name: str
    meaning: str
    demanded: Callable[[Policy], Demanded] | None = None
    measure: Callable[[Case, Demand], float] | None = None
    judge: Callable[[Case, Demand], Verdict] | None = None
    bound: Callable[[Any], float | None] = _number
    sense: str = "at most"
    tolerance: float = 0.0
    needs: tuple[Need, ...] = ()
    over_noise: Callable[[Case, Demand], Expectation] | None = None
    attack: bool = False
    linking: bool = False
    certain: bool = False
    always: bool = False
    valued: bool = True
    boundless: bool = False
    missing: bool = False
    mapped: bool = False
    together: bool = False
    promise: Callable[[Demand], str] | None = None
    foreseen: Callable[[Foreseen, Policy], float] | None = None
    expectation: str | None = None

    def __post_init__(self) -> None:
        if (self.measure is None) == (self.judge is None):
            raise ValueError(f"exactly one of measure and judge must be given, not so for {self.name}.")

    @property
    def expectation_name(self) -> str:
        """Its name in Great Expectations; empty where it has no expectation."""
        if self.expectation is not None:
            return self.expectation
        return "expect_release_to_withstand_attack" if self.attack else f"expect_release_to_keep_{self.name}"

    def broken(self, verdict: Verdict) -> str | None:
        """Say what contradicts a verdict that this limit is kept; recursive l-diversity may have no bound."""
        value, bound = verdict.value, verdict.bound
        if not self.valued:
            bare = (value, bound, verdict.sense) == (None, None, "holds")
            return None if bare else f"{self.name} must have neither value nor bound"
        if value is None and self.over_noise is not None:  # an expectation is not published
            return None if bound is not None else f"{verdict.limit}: it must have a bound"
        if value is None or not 0 <= value < math.inf:
            return "a limit must have a value, none below 0"
        if bound is None:
            return None if self.boundless else "a limit must have a bound"
        if not 0 <= bound < math.inf:
            return "a bound must not be below 0"
        slack = CLOSE * max(1.0, bound)
        kept = {
            "at least": value >= bound - slack,
            "at most": value <= bound + slack,
            "below": value < bound + slack,
        }
        return None if kept.get(verdict.sense) else "a value is beyond its bound, and yet it passed"

    def demands(self, policy: Policy) -> Iterator[Demand]:
        """Yield what a policy demands by this limit."""
        demanded = _at_gate(policy, self.name) if self.demanded is None else self.demanded(policy)
        for of, wanted in demanded.items():
            yield Demand(self, of, wanted)


def _at_gate(policy: Policy, name: str) -> Demanded:
    """Return what stands at a key of the gate: by column where it is a mapping."""
    wanted = getattr(policy.gate, name)
    if wanted is None:
        return {}
    return wanted if isinstance(wanted, Mapping) else {"": wanted}


@dataclass(frozen=True, slots=True)
class Demand:
    """A limit as one policy demands it.

    of: column or part that it is about; empty where it is about the whole release.
    wanted: as the policy has it.
    """

    limit: Limit
    of: str
    wanted: Any

    @property
    def name(self) -> str:
        """Its name in verdicts: ``k``, ``t_closeness.salary``."""
        return f"{self.limit.name}.{self.of}" if self.of else self.limit.name

    @property
    def meaning(self) -> str:
        """One sentence for people."""
        return self.limit.meaning.format(self.of)

    @property
    def bound(self) -> float | None:
        """The number that a verdict shows; None where the limit has none."""
        return self.limit.bound(self.wanted)

    def verdict(self, case: Case) -> Verdict:
        """Judge a release; a limit that lacks what it needs stays unmeasured."""
        for need in self.limit.needs:
            if not case.has[need]:
                sense = "holds" if self.bound is None else self.limit.sense
                return Verdict(self.name, Status.UNMEASURED, None, self.bound, sense, reason=MISSING[need])
        if self.limit.judge is None:
            found = self.compared(self.value(case), self.realized(case))
        else:
            found = self.limit.judge(case, self)
        if type(found) is not Verdict or found.limit != self.name or not found.is_readable:
            raise ValueError(f"{self.name} must be judged by a verdict on itself, got another.")
        said_more = found.reason or (found.realized is not None and self.limit.over_noise is None)
        kept = found.status is Status.PASSED
        if kept and (said_more or found.bound != self.bound or self.limit.broken(found)):
            raise ValueError(f"{self.name} must be kept within its bound by a finite value, it is not.")
        return found

    def value(self, case: Case) -> float:
        """Return what is compared with the bound: the mean over the noise, or what was realized."""
        if self.limit.over_noise is None or not judges_expectation(case.policy):
            return self._measured(case)
        return self.limit.over_noise(case, self).judged

    def realized(self, case: Case) -> float | None:
        """Return the same of the noise that was drawn; None where that is what is compared."""
        if self.limit.over_noise is None or not judges_expectation(case.policy):
            return None
        return self._measured(case)

    def compared(self, value: float, realized: float | None = None) -> Verdict:
        """Compare what was measured with the bound."""
        bound = self.bound
        if bound is None:
            raise ValueError(f"{self.name} must have a bound to be compared with.")
        near = abs(value - bound) <= self.limit.tolerance * max(bound, 1.0)
        return judge_bound(self.name, bound if near else value, bound, self.limit.sense, realized)

    def _measured(self, case: Case) -> float:
        if self.limit.measure is None:
            raise ValueError(f"{self.name} must have a measure.")
        return self.limit.measure(case, self)


def judge_bound(name: str, value: float, bound: float, sense: str, realized: float | None = None) -> Verdict:
    """Judge a value against the bound that it must reach (``at least``) or not exceed (``at most``)."""
    kept = value >= bound if sense == "at least" else value <= bound
    return Verdict(
        name, Status.PASSED if kept else Status.REFUSED, float(value), float(bound), sense, None, realized
    )


def judges_expectation(policy: Policy) -> bool:
    """Tell whether limits on linking are judged on the mean over the noise; without noise there is none."""
    return policy.gate.linking == "expected" and bool(policy.perturbed)
