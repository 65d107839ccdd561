"""Answers to the questions about columns: another role in place of the proposed one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.detectors.name_hints import find_hint
from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import Look
from anon_pipeline.draft.profile.profile_table import Profile
from anon_pipeline.draft.profile.proposals import Proposal, Sure, propose_dropping
from anon_pipeline.draft.profile.record_owners import asks_for_owners, several_records, without_owners
from anon_pipeline.draft.profile.roles import (
    MOST_EMPTY,
    MOST_LACKING,
    doubts,
    propose_noise,
    propose_quasi,
    propose_sensitive,
)

_SENSITIVE = "secret"  # as people say it
_SAID = "whoever ran init said so"
_TAKEN = "whoever ran init took it as proposed"


def _left_out(look: Look) -> Proposal:
    return propose_dropping(look.seen, _SAID, Sure.CERTAIN)


ANSWERS: Mapping[str, Callable[[Look], Proposal | None]] = MappingProxyType(
    {
        "leave out": _left_out,
        "known": lambda look: propose_quasi(look, find_hint(look.seen.name), _SAID, Sure.CERTAIN),
        "noise": lambda look: propose_noise(look, _SAID, Sure.CERTAIN),
        _SENSITIVE: lambda look: propose_sensitive(look, _SAID, Sure.CERTAIN, most_lacking=MOST_EMPTY),
    }
)
"""What a person can say of a column, and the proposal that follows; None where the values do not allow it."""

NOT_KNOWN = (
    "If yes, or if you do not know, answer: leave out. The answer known releases values that enough records "
    "share, also a name."
)
"""What the answers mean for a column whose values may name people."""

AS_PROPOSED = "as proposed"
PERSON = "person"
"""The answer that a column says whose record it is: it is offered where a question is whether it does."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        AS_PROPOSED: "the role that is proposed",
        "leave out": "it is not released",
        "known": "others could know it of a person: it is released coarser (generalize)",
        "noise": "others could know it of a person: the number gets noise (perturb)",
        PERSON: "it says whose record it is, and people have several records: it is left out, and people are "
        "counted",
        _SENSITIVE: "nobody should learn it of a person: it is released, and the gate limits how well it can "
        "be guessed (sensitive)",
    }
)
"""What follows from each answer, for people."""


def possible_answers(look: Look, *, person: bool = False) -> dict[str, Proposal]:
    """Return the answers that the values of a column allow, each with its proposal.

    The question about the role is answered by them; what is unclear about how the cells are written is not.

    Args:
        look: the column.
        person: whether it may say whose record it is, see `record_owners.asks_for_owners`.
    """
    owns = {PERSON: replace(_left_out(look), person=True)} if person else {}
    found = owns | _by_role(look)
    return dict(sorted(found.items(), key=lambda one: [*MEANINGS].index(one[0])))


def _by_role(look: Look) -> dict[str, Proposal]:
    found = {answer: proposes(look) for answer, proposes in ANSWERS.items()}
    return {
        answer: replace(proposal, question=None if proposal.dropped else " ".join(doubts(look.seen)) or None)
        for answer, proposal in found.items()
        if proposal is not None
    }


def answer_columns(found: Profile, said: Mapping[str, str]) -> list[Proposal]:
    """Apply answers to the proposals of a profile.

    If one of them is `PERSON`, no other column is asked whose record it is.

    Args:
        said: by name of the column, one of `MEANINGS`; the column needs no question.
    Raises:
        InputError: a name that is no column; an answer that the column does not allow, see
            `possible_answers`.
    """
    looks = {look.seen.name: look for look in found.looks}
    unknown = sorted({*said} - {*looks})
    problems = [f"--answer must name columns of the data, got: {', '.join(unknown)}"] if unknown else []
    answered = [*found.proposals]
    for place, proposal in enumerate(found.proposals):
        if proposal.name in said:
            one = _answer(proposal, looks[proposal.name], said[proposal.name])
            if isinstance(one, Proposal):
                answered[place] = one
            else:
                problems.append(one)
    owners = [one.name for one in answered if one.person]
    if len(owners) > 1:
        problems.append(f"--answer may be {PERSON} for one column, got: {', '.join(owners)}")
    if problems:
        raise InputError(problems)
    return without_owners(answered)


def _answer(proposal: Proposal, look: Look, said: str) -> Proposal | str:
    """Return the proposal that follows from an answer; or, if the column does not allow it, why."""
    allowed = possible_answers(look, person=asks_for_owners(proposal))
    if said == AS_PROPOSED:
        return as_proposed(proposal)
    if said in allowed:
        return allowed[said]
    possible = ", ".join([AS_PROPOSED, *allowed])
    got = f", got {said}{_why_not(look, said)}" if said in MEANINGS else ""
    return f"--answer for {proposal.name} must be one of {possible}{got}"


def _why_not(look: Look, said: str) -> str:
    """Say why a column does not allow an answer."""
    if said == _SENSITIVE and look.seen.missing_share > MOST_EMPTY:
        return f"; {questions.too_many_empty(look.seen.missing_share)}"
    if said == PERSON and look.seen.missing:
        return "; person needs a value in every record: complete the others, or remove them from the source"
    return "; its values or its name do not allow that"


def as_proposed(proposal: Proposal) -> Proposal:
    """Take a proposal as it is: the question about its role is answered.

    What no role answers is asked in the file still: how cells are written, or whether people have several
    records.
    """
    seen, asked = proposal.seen, proposal.question or ""
    others = (questions.TOTAL, questions.STRAY_TEXTS, several_records(seen), *doubts(seen))
    left = " ".join(question for question in others if question in asked)
    return replace(proposal, question=left or None, reason=f"{proposal.reason}; {_TAKEN}")


def _asked_of_people(proposal: Proposal) -> str:
    """Return what is asked of a column that may say whose record it is: what the answer *person* means."""
    left = proposal.question or ""
    for about in (questions.PERSONS_OR_THINGS, several_records(proposal.seen)):
        left = left.replace(about, "")
    return f"{questions.ONE_PERSON} {questions.asked_in(left.strip())}".rstrip()


def columns_left_out(before: Sequence[Proposal], after: Sequence[Proposal]) -> list[str]:
    """Name the columns that are left out although an answer says that they are released.

    Args:
        before: proposals with their answers.
        after: of the policy that was fitted, in the same order.
    """
    return [
        said.name
        for said, now in zip(before, after, strict=True)
        if (_SAID in said.reason or _TAKEN in said.reason) and now.dropped and not said.dropped
    ]


def prompt_of(proposal: Proposal, look: Look, answers: Collection[str]) -> str:
    """Return what is asked on a terminal: the questions alone, and what empty cells mean for the answers.

    Args:
        proposal: with a question.
        look: its column.
        answers: that are offered.
    """
    seen = look.seen
    asked = _asked_of_people(proposal) if PERSON in answers else questions.asked_in(proposal.question or "")
    about_names = (questions.MANY_CATEGORIES, questions.NAMES_PERSONS)
    if any(one in (proposal.question or "") for one in about_names):
        asked = f"{asked} {NOT_KNOWN}"
    gaps = (questions.needed_with_gaps(seen.name), questions.MOSTLY_EMPTY)
    about_roles = (questions.KNOWN_TO_OTHERS, *gaps)
    if seen.missing_share <= MOST_LACKING or not any(one in (proposal.question or "") for one in about_roles):
        return asked
    if _SENSITIVE in answers:
        return f"{asked} {questions.empty_cells(seen.missing_share)}"
    if seen.missing_share > MOST_EMPTY:
        return f"{asked} {questions.too_many_empty(seen.missing_share)}"
    return asked
