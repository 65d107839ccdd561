"""What a policy asks for that cannot be, or that protects nobody: found before anything is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.policy.attacks import KnownColumns
from anon_pipeline.policy.marks import NEEDS_NOISE, BeforeMaking, marked_values, needs_noise
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.safe_harbor_rules import unsafe_by_policy

LARGE_EPSILON = 10
"""ε from which on a policy must say how much linking is too much (ADR 48)."""


def refuse_contradictions(policy: Policy) -> None:
    """Refuse a policy by which no release should be made; releases that are out can still be verified by it.

    Raises:
        PolicyError: with what to change, all of it.
    """
    problems = [f"{line}. Nothing was made, and no ε was spent." for line in _broken_fields(policy)]
    if problems:
        raise PolicyError(problems)


def _broken_fields(policy: Policy) -> Iterator[str]:
    """Yield what fields say that is wrong with them where a release is made, see `BeforeMaking`."""
    for name in type(policy).model_fields:
        section = getattr(policy, name)
        if isinstance(section, BaseModel):
            for key, value, mark in marked_values(name, section, BeforeMaking):
                yield from (f"{key}: {line}" for line in import_entry(mark.broken)(value, policy))


def unreachable_k(wanted: int | None, policy: Policy) -> Iterator[str]:
    """Yield that the gate asks for more records together than recoding and suppression see to."""
    made = policy.anonymize.k
    if wanted is not None and wanted > made:
        yield (
            f"must be at most anonymize.k, which makes the classes, got {wanted} and {made}. Set anonymize.k "
            f"to {wanted}"
        )


def unlimited_linking(epsilon: float, policy: Policy) -> Iterator[str]:
    """Yield that so large an ε hides nobody, where the policy does not say how many may be linked."""
    if not policy.perturbed or policy.noise_epsilon is None or epsilon <= LARGE_EPSILON:
        return
    if all(bound == 1 for _, bound in linking_bounds(policy.gate, "gate")):
        yield (
            f"above {LARGE_EPSILON} needs a limit on linking below 1, such as gate.{_example()}, got "
            f"{epsilon:g} without one. Add one, or lower ε"
        )


def unlimited_categories(known: Sequence[KnownColumns], policy: Policy) -> Iterator[str]:
    """Yield that an ε this large keeps most categories, if no limit bounds what that may reveal."""
    if policy.perturb is None or not policy.drawn_categories or policy.perturb.epsilon <= LARGE_EPSILON:
        return
    limited = {name for entry in known if entry.risk < 1 for name in entry.columns}
    if missing := [name for name in policy.drawn_categories if name not in limited]:
        yield (
            f"must have a limit below 1 for each column of categories, such as "
            f"[{{columns: [{missing[0]}], risk: …}}], where perturb.epsilon is above {LARGE_EPSILON}, got "
            f"{policy.perturb.epsilon:g} without one for {', '.join(missing)}. Set it, or a smaller ε"
        )


def unsafe_whatever_the_data(wanted: bool, policy: Policy) -> Iterator[str]:
    """Yield what breaks Safe Harbor whatever the data is, where the policy demands it."""
    yield from unsafe_by_policy(policy) if wanted else ()


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
    first: str = next(name for name, field in fields.items() if NEEDS_NOISE in field.metadata)
    return first
