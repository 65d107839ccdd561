"""A proposal as a policy writes it, and left out instead."""

from __future__ import annotations

from anon_pipeline.draft.profile.look import Kind, Seen
from anon_pipeline.draft.profile.proposals import Proposal, Sure, drop_instead, propose_dropping
from anon_pipeline.policy.columns import Generalize
from anon_pipeline.policy.hierarchies import Suppress

SEEN = Seen("x", Kind.CATEGORY, 10)


def test_what_is_a_default_is_not_written() -> None:
    found = Proposal(
        SEEN, Generalize(role="generalize", hierarchy=Suppress(suppress=True)), "why", Sure.LIKELY
    )
    assert found.document == {"role": "generalize", "hierarchy": {"suppress": True}}
    assert (found.name, found.role, found.dropped) == ("x", "generalize", False)


def test_left_out_with_the_reason_why_it_was_not() -> None:
    first = Proposal(SEEN, Generalize(role="generalize"), "why", Sure.LIKELY, rows=(("a", "*"),))
    found = drop_instead(first, "too many", "which?")
    assert found.document == {"role": "identifier", "action": "drop"}
    assert (found.reason, found.question, found.rows, found.dropped) == ("too many (why)", "which?", (), True)
    assert propose_dropping(SEEN, "why", Sure.CERTAIN).dropped
