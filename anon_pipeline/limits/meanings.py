"""What a limit demands, in one sentence for people: in general, or as one policy has it."""

from __future__ import annotations

from anon_pipeline.limits.limit import Limit, judges_expectation, unit_of
from anon_pipeline.limits.verdicts import NO_LIMIT, Verdict
from anon_pipeline.policy.model import Policy

OVER_NOISE = "The mean over the noise is judged; with linking: realized, the drawn noise."
"""How limits are judged that look at the noise, where no policy says which of the two holds."""

_ON_AVERAGE = "Judged on average over all noise that could have been drawn."
_AS_DRAWN = "Judged on the noise that was drawn."


def meaning_of(limit: Limit, of: str, policy: Policy | None = None) -> str:
    """Say what a limit demands.

    Args:
        of: column or part that it is about; empty where it is about the whole release.
        policy: that demands it; None: in general.
    """
    words, slots = limit.words, {"counted": "records", "k": "k"}
    said = dict(words.parts).get(of, words.meaning)
    if policy is not None:
        slots = {"counted": unit_of(policy), "k": str(policy.gate_k)}
        said = words.of_people if policy.person is not None and words.of_people else said
    said = said.format(of, **slots)
    if (only := _only(limit, policy)) is not None:
        said = f"{said} {only[1]}"
    return said if limit.judged.over_noise is None else f"{said} {_noise_judged(policy)}".rstrip()


def _only(limit: Limit, policy: Policy | None) -> tuple[str, str] | None:
    """Return which part of a limit can be judged for a policy, in short and in a sentence; None: all."""
    return None if policy is None or limit.words.only is None else limit.words.only(policy)


def _noise_judged(policy: Policy | None) -> str:
    """Say which noise a limit is judged on; nothing without noise."""
    if policy is None:
        return OVER_NOISE
    if judges_expectation(policy):
        return _ON_AVERAGE
    return _AS_DRAWN if policy.noisy else ""


def limits_nothing(verdict: Verdict, limit: Limit) -> bool:
    """Tell whether the bound of a verdict lets every value pass."""
    return is_free(limit, verdict.bound, verdict.sense)


def is_free(limit: Limit, bound: float | None, sense: str) -> bool:
    """Tell whether a bound lets every value pass: the whole, of a share that somebody gets right."""
    return bool(limit.words.knows) and bound is not None and bound >= 1 and sense == "at most"


def bound_text(verdict: Verdict, limit: Limit | None, policy: Policy | None = None) -> str:
    """Say the bound of a verdict: ``at most 0.2``, ``holds``, ``holds (identifiers only)``, ``no limit``."""
    if verdict.bound is None:
        only = None if limit is None else _only(limit, policy)
        return verdict.sense if only is None else f"{verdict.sense} ({only[0]})"
    free = limit is not None and limits_nothing(verdict, limit)
    return NO_LIMIT if free else f"{verdict.sense} {verdict.bound:.6g}"
