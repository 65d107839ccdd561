"""What a policy asks for that cannot be, or that protects nobody: found before anything is made."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy.marks import NEEDS_NOISE, UP_TO_K, needs_noise
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.safe_harbor_rules import unsafe_by_policy

LARGE_EPSILON = 10
"""ε from which on a policy must say how much linking is too much (ADR 48)."""


def refuse_contradictions(policy: Policy) -> None:
    """Refuse a policy by which no release should be made; releases that are out can still be verified by it.

    Raises:
        PolicyError: with what to change, all of it.
    """
    problems = [
        *_unreachable(policy),
        *_unlimited(policy),
        *_unlimited_categories(policy),
        *_unsafe(policy),
    ]
    if problems:
        raise PolicyError(problems)


def _unreachable(policy: Policy) -> Iterator[str]:
    """Yield what the gate asks for, and neither recoding nor suppression sees to."""
    k = policy.anonymize.k
    for name, field in type(policy.gate).model_fields.items():
        wanted = getattr(policy.gate, name)
        if UP_TO_K in field.metadata and wanted is not None and wanted > k:
            yield (
                f"gate.{name}: must be at most anonymize.k, which makes the classes, got {wanted} and {k}. "
                f"Set anonymize.k to {wanted}. Nothing was made, and no ε was spent."
            )


def _unlimited(policy: Policy) -> Iterator[str]:
    """Yield that so large an ε hides nobody, where the policy does not say how many may be linked."""
    if policy.perturb is None or not policy.perturbed or policy.perturb.epsilon <= LARGE_EPSILON:
        return
    if all(bound == 1 for _, bound in linking_bounds(policy.gate, "gate")):
        yield (
            f"perturb.epsilon: above {LARGE_EPSILON} must be given with a limit on linking below 1, such as "
            f"gate.{_example()}, got {policy.perturb.epsilon:g} without one. Set it, or a smaller ε. Nothing "
            f"was made, and no ε was spent."
        )


def _unlimited_categories(policy: Policy) -> Iterator[str]:
    """Yield that so large an ε draws most categories as they are, where no limit says what that may tell."""
    if policy.perturb is None or not policy.categorical or policy.perturb.epsilon <= LARGE_EPSILON:
        return
    limited = {
        name for entry in policy.gate.attacks.known_columns if entry.risk < 1 for name in entry.columns
    }
    if missing := [name for name in policy.categorical if name not in limited]:
        yield (
            f"perturb.epsilon: above {LARGE_EPSILON} must be given with a limit on linking for each column "
            f"of categories, gate.attacks.known_columns: [{{columns: [{missing[0]}], risk: …}}], got "
            f"{policy.perturb.epsilon:g} without one for {', '.join(missing)}. Set it, or a smaller ε. "
            f"Nothing was made, and no ε was spent."
        )


def _unsafe(policy: Policy) -> Iterator[str]:
    """Yield what breaks Safe Harbor whatever the data is, where the policy demands it."""
    if policy.gate.safe_harbor:
        for line in unsafe_by_policy(policy):
            yield f"gate.safe_harbor: {line}. Nothing was made, and no ε was spent."


def linking_bounds(section: BaseModel, key: str) -> Iterator[tuple[str, float]]:
    """Yield the limits on linking by what the noise hides that a section has, or one in it: key, bound."""
    for name in needs_noise(section):
        yield f"{key}.{name}", float(getattr(section, name))
    for name in type(section).model_fields:
        below = getattr(section, name)
        if isinstance(below, BaseModel):
            yield from linking_bounds(below, f"{key}.{name}")


def _example() -> str:
    """Name the first limit on linking of the gate."""
    fields = Policy.model_fields["gate"].annotation.model_fields  # type: ignore[union-attr]
    return next(name for name, field in fields.items() if NEEDS_NOISE in field.metadata)
