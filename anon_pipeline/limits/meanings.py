"""What a limit demands, in one sentence for people: in general, or as one policy has it."""

from __future__ import annotations

from anon_pipeline.limits.limit import Limit, judges_expectation
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.policy.model import Policy

OVER_NOISE = "The mean over the noise is judged; with linking: realized, the drawn noise."
"""How limits on linking are judged, where no policy says which of the two holds."""

_ON_AVERAGE = "Judged on average over all noise that could have been drawn."
_AS_DRAWN = "Judged on the noise that was drawn."


def meaning_of(limit: Limit, of: str, policy: Policy | None = None) -> str:
    """Say what a limit demands.

    Args:
        of: column or part that it is about; empty where it is about the whole release.
        policy: that demands it; None: in general.
    """
    if policy is None:
        return limit.meaning.format(of)
    said = limit.meaning if limit.meaning_for is None else limit.meaning_for(policy)
    return said.format(of).replace(OVER_NOISE, _judged(policy)).rstrip()


def _judged(policy: Policy) -> str:
    """Say which noise a policy judges linking on; nothing without noise."""
    if judges_expectation(policy):
        return _ON_AVERAGE
    return _AS_DRAWN if policy.noisy else ""


def limits_nothing(verdict: Verdict, limit: Limit) -> bool:
    """Tell whether the bound of a verdict lets every value pass."""
    return is_free(limit, verdict.bound, verdict.sense)


def is_free(limit: Limit, bound: float | None, sense: str) -> bool:
    """Tell whether a bound lets every value pass: the whole, of a share that somebody gets right."""
    return bool(limit.knows) and bound is not None and bound >= 1 and sense == "at most"


def demanded(verdict: Verdict, limit: Limit | None) -> str:
    """Say the bound of a verdict: ``at most 0.2``, ``holds``, ``no limit``."""
    if verdict.bound is None:
        return verdict.sense
    free = limit is not None and limits_nothing(verdict, limit)
    return "no limit" if free else f"{verdict.sense} {verdict.bound:.6g}"
