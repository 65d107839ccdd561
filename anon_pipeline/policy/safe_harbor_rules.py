"""What a policy alone breaks of HIPAA's Safe Harbor, whatever the data is.

Source: 45 CFR 164.514(b)(2)(i), and (c) on codes: one that is derived from information about a person, as a
keyed hash of an identifier is, is an identifier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anon_pipeline.catalog.detectors.safe_harbor_names import Holds, held_by_name, per_year, says_age
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.columns import Identifier, Perturb
from anon_pipeline.policy.model import Policy

OLDEST = 90
"""Years of age from which on all people are one group."""


def held_columns(policy: Policy) -> Mapping[str, tuple[Holds, str]]:
    """Return what the released columns hold that Safe Harbor has a rule for, and what to call that.

    What the policy's terms name goes first, then names, then units of numbers with noise. Identifiers are
    none of these: they are masks or hashes.
    """
    terms = policy.gate.safe_harbor_terms
    named: dict[str, tuple[Holds, str]] = {
        **dict.fromkeys(terms.ages, ("ages", "ages")),
        **dict.fromkeys(terms.zips, ("zips", "ZIP codes")),
        **dict.fromkeys(terms.dates, ("days", "calendar dates")),
    }
    found = {}
    for name in policy.released:
        column = policy.columns[name]
        held = named.get(name) or held_by_name(name)
        if held is None and isinstance(column, Perturb) and says_age(column.unit):
            held = ("ages", "ages")
        if held is not None and not isinstance(column, Identifier):
            found[name] = held
    return found


def oldest(policy: Policy, name: str) -> float:
    """Return the age from which on a column must have one group, in its unit."""
    return OLDEST * per_year(f"{name} {getattr(policy.columns[name], 'unit', None) or ''}")


def unsafe_by_policy(policy: Policy) -> Iterator[str]:
    """Yield which columns break Safe Harbor whatever their values are, and what to write instead."""
    for name, identifier in policy.identifiers.items():
        if IDENTIFIER_ACTIONS[identifier.action].tells_apart:
            yield (
                f"{name}: a keyed hash of an identifier must not be released: it is derived from information "
                f"about the person (164.514(c)). Set action: drop"
            )
    alone = {one.columns[0] for one in policy.acknowledged if len(one.columns) == 1} - {*policy.identifiers}
    for name in sorted(alone):
        yield (
            f"{name}: a column that distinguishes people must not be released, even if it is acknowledged. "
            "Set role: identifier with action: drop, or make it coarser and take the acknowledgement out"
        )
    for name, (holds, said) in held_columns(policy).items():
        if name not in alone:
            yield from _held_problems(policy, name, holds, said)


def _held_problems(policy: Policy, name: str, holds: Holds, said: str) -> Iterator[str]:
    column = policy.columns[name]
    if holds == "ages" and isinstance(column, Perturb):
        bound = oldest(policy, name)
        if column.output_bounds is None or column.output_bounds[1] > bound:
            yield (
                f"{name}: ages with noise must end at {bound:g}, which then stands for {bound:g} and above. "
                f"Set output_bounds with {bound:g} as the upper one"
            )
    elif isinstance(column, Perturb):
        yield (
            f"{name}: {said} must not be released as numbers with noise, which nobody can check. Set role: "
            f"identifier with action: drop, or generalize it"
        )
    elif holds == "identifiers" and (name in policy.categorical or _as_it_is(policy, name)):
        yield (
            f"{name}: by its name it holds {said}, and must not be released. Set role: identifier with "
            f"action: drop, or rename it if it is about something else"
        )


def _as_it_is(policy: Policy, name: str) -> bool:
    return name in policy.unchanged and name not in policy.coarsened
