"""A proposed role: the column of a policy, the reason, how sure, and what is left to decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from anon_pipeline.catalog.identifiers import DEFAULT_ACTION
from anon_pipeline.draft.profile.look import Seen
from anon_pipeline.policy.columns import Column, Identifier


class Sure(StrEnum):
    """How sure a proposal is."""

    CERTAIN = "sure"
    LIKELY = "likely"
    UNSURE = "not sure"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is proposed for one column.

    seen: what is known of it.
    column: its role in the policy, with all that the role needs.
    reason: why, for people, without a value of the data.
    sure: how sure that is.
    question: what the author should decide; None: nothing.
    rows: lines of its hierarchy's table, private; none where it has no table.
    guess: whether nothing but the shape of the values speaks for the role: the first to go where columns are
        too many.
    person: whether the column says whose record it is, and people are counted; it is left out then.
    """

    seen: Seen
    column: Column
    reason: str
    sure: Sure
    question: str | None = None
    rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    guess: bool = False
    person: bool = False

    @property
    def name(self) -> str:
        """The column's name."""
        return self.seen.name

    @property
    def role(self) -> str:
        """The name of its role."""
        return str(self.column.role)

    @property
    def dropped(self) -> bool:
        """Whether the column does not reach the release."""
        return isinstance(self.column, Identifier)

    @property
    def document(self) -> dict[str, Any]:
        """The column as a policy writes it: what is a default is left out."""
        written: dict[str, Any] = self.column.model_dump(mode="json", exclude_unset=True)
        return written


def propose_dropping(seen: Seen, reason: str, sure: Sure, question: str | None = None) -> Proposal:
    """Propose to leave a column out."""
    return Proposal(seen, Identifier(role="identifier", action=DEFAULT_ACTION), reason, sure, question)


def drop_instead(proposal: Proposal, reason: str, question: str) -> Proposal:
    """Propose to leave a column out that could have another role."""
    return replace(
        proposal,
        column=Identifier(role="identifier", action=DEFAULT_ACTION),
        reason=f"{reason} ({proposal.reason})",
        sure=Sure.UNSURE,
        question=question,
        rows=(),
    )
