"""What a second person confirms of a policy: what no limit can measure, as questions about its own columns.

Decision: docs/adr/0077-a-second-person-reviews.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anon_pipeline.limits.accepted_risks import accepted_risks
from anon_pipeline.policy.model import Policy

REVIEW = "reviewed"
"""Key of the policy, and of what is accepted without it."""


def treatments(policy: Policy) -> Iterator[tuple[str, list[str]]]:
    """Yield what is done with which columns, in words; every column of the policy is in one of them."""
    names = policy.columns
    left = {name for name in policy.identifiers if name in policy.released}
    yield "never released", [name for name in names if name not in policy.released]
    yield "identifiers that are masked or hashed", [name for name in names if name in left]
    yield "generalized", [name for name in names if name in policy.generalized]
    yield "released with noise", [name for name in names if name in policy.noisy]
    yield "sensitive, released as they are", [*policy.sensitive]
    yield "insensitive, released as they are", [*policy.insensitive]


def review_questions(policy: Policy) -> Iterator[str]:
    """Yield the questions, each to be answered with yes or no; a no means that the policy must change."""
    yield from _of_exact_columns(policy)
    yield from _of_quasi_identifiers(policy)
    yield from _of_people(policy)
    yield from _of_use(policy)


def risks_of_author(policy: Policy) -> Mapping[str, str]:
    """Return what the author accepts beyond what is usual, which the reviewer accepts as well, by key."""
    return {key: said for key, said in accepted_risks(policy).items() if key != REVIEW}


def _of_exact_columns(policy: Policy) -> Iterator[str]:
    if plain := [*policy.insensitive]:
        yield (
            f"Insensitive ({_join(plain)}): nobody can be recognized by these values, none of them is a "
            "secret, and no secret follows from them?"
        )
    if secrets := [*policy.sensitive]:
        yield (
            f"Sensitive ({_join(secrets)}): each cell holds one secret, and no column repeats or completes "
            "another one?"
        )
        yield (
            f"Sensitive ({_join(secrets)}): different words mean different things, and neither an empty "
            'cell nor a word like "unknown" gives something away?'
        )


def _of_quasi_identifiers(policy: Policy) -> Iterator[str]:
    known = [*policy.generalized, *policy.noisy]
    yield (
        f"Protected columns ({_join(known) or 'none'}): no other released column helps a neighbor, a "
        "colleague, the press or a public register to recognize a person?"
    )
    if policy.generalized:
        yield (
            f"Generalized ({_join([*policy.generalized])}): none of these columns is itself a secret, and "
            "no label of a hierarchy describes single members of its group?"
        )


def _of_people(policy: Policy) -> Iterator[str]:
    if policy.person is not None:
        yield f"{policy.person}: every person has one value there, the same in all of their records?"
    else:
        yield "Nobody has more than one record in this table?"
    yield (
        f"Every other release about these people has the same dataset ({policy.dataset or policy.name}), so "
        "that the ledger adds up what they cost?"
    )
    yield "It is harmless if somebody finds out that a person is in this table at all?"


def _of_use(policy: Policy) -> Iterator[str]:
    purpose = None if policy.responsible is None else policy.responsible.purpose
    said = "its purpose" if purpose is None else f"its purpose ({purpose})"
    yield (
        f"You have read what is left, at the end of a run: that is enough for {said}, and no group that "
        "matters is gone?"
    )
    yield "The limits of the gate fit the harm that a disclosure would do to the people in this table?"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names)
