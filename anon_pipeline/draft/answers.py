"""Answers to the questions about columns: another role in place of the proposed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from anon_pipeline.catalog.detectors.name_hints import find_hint
from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import Look
from anon_pipeline.draft.profile.proposals import Proposal, Sure, propose_dropping
from anon_pipeline.draft.profile.roles import doubts, propose_noise, propose_quasi, propose_sensitive

_SAID = "whoever ran init said so"
_TAKEN = "whoever ran init took it as proposed"


def _left_out(look: Look) -> Proposal:
    return propose_dropping(look.seen, _SAID, Sure.CERTAIN)


ANSWERS: Mapping[str, Callable[[Look], Proposal | None]] = MappingProxyType(
    {
        "leave out": _left_out,
        "known": lambda look: propose_quasi(look, find_hint(look.seen.name), _SAID, Sure.CERTAIN),
        "noise": lambda look: propose_noise(look, _SAID, Sure.CERTAIN),
        "secret": lambda look: propose_sensitive(look, _SAID, Sure.CERTAIN),
    }
)
"""What a person can say of a column, and the proposal that follows; None where the values do not allow it."""

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "as proposed": "the role that is proposed",
        "leave out": "it is not released",
        "known": "others could know it of a person: it is released coarser (generalize)",
        "noise": "others could know it of a person: the number gets noise (perturb)",
        "secret": "nobody should learn it of a person: it is released, and the gate limits how well it can "
        "be guessed (sensitive)",
    }
)
"""What follows from each answer, for people."""


def possible_answers(look: Look) -> dict[str, Proposal]:
    """Return the answers that the values of a column allow, each with its proposal.

    The question about the role is answered by them; what is unclear about how the cells are written is not.
    """
    found = {answer: proposes(look) for answer, proposes in ANSWERS.items()}
    return {
        answer: replace(proposal, question=None if proposal.dropped else " ".join(doubts(look.seen)) or None)
        for answer, proposal in found.items()
        if proposal is not None
    }


def as_proposed(proposal: Proposal) -> Proposal:
    """Take a proposal as it is: the question about its role is answered.

    What no role answers is asked in the file still: how cells are written, or whether people have several
    records.
    """
    seen, asked = proposal.seen, proposal.question or ""
    others = (questions.TOTAL, questions.STRAY_TEXTS, questions.several_records(seen.name), *doubts(seen))
    left = " ".join(question for question in others if question in asked)
    return replace(proposal, question=left or None, reason=f"{proposal.reason}; {_TAKEN}")
