"""Answers to the questions about columns: another role in place of the proposed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from anon_pipeline.profile.looking import Look
from anon_pipeline.profile.name_hints import find_hint
from anon_pipeline.profile.proposals import Proposal, Sure, dropped
from anon_pipeline.profile.roles import propose_noise, propose_quasi, propose_sensitive

_SAID = "whoever ran init said so"


def _left_out(look: Look) -> Proposal:
    return dropped(look.seen, _SAID, Sure.CERTAIN)


ANSWERS: Mapping[str, Callable[[Look], Proposal | None]] = MappingProxyType(
    {
        "leave out": _left_out,
        "known": lambda look: propose_quasi(look, find_hint(look.seen.name), _SAID, Sure.CERTAIN),
        "noise": lambda look: propose_noise(look, _SAID, Sure.CERTAIN),
        "secret": lambda look: propose_sensitive(look, _SAID, Sure.CERTAIN),
    }
)
"""What a person can say of a column, and the proposal that it makes; None where the values do not allow it.

leave out: it is not released. known: somebody could know it of a person; it is generalized. noise: likewise,
and a number that gets noise. secret: nobody should learn it of a person; sensitive.
"""


def possible_answers(look: Look) -> dict[str, Proposal]:
    """Return the answers that the values of a column allow, each with its proposal."""
    found = {answer: proposes(look) for answer, proposes in ANSWERS.items()}
    return {answer: proposal for answer, proposal in found.items() if proposal is not None}
