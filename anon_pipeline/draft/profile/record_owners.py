"""Which column may say whose record it is, where people have several: what data and names say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.catalog.detectors.name_hints import fits_pattern, name_words
from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import Seen
from anon_pipeline.draft.profile.proposals import Proposal

SINGLE = 0.99
"""Distinction up to which values of an identifier repeat."""
_OTHERS = (
    *(
        "manager*",
        "supervisor*",
        "boss",
        "lead",
        "leader",
        "chef*",
        "vorgesetzt*",
        "responsable",
        "jefe",
        "capo",
    ),
    *("doctor*", "physician*", "arzt*", "medecin", "medico", "teacher*", "lehrer*", "advis[eo]r*", "agent*"),
    *("approver", "referrer", "parent", "mother", "father", "guardian", "spouse", "partner", "household*"),
)
"""Words of numbers that many records share, of somebody else than the person of the record."""
_PEOPLE = ("emp", "empl", "staff", "personnel", "pupil", "respondent*", "participant*", "pat", "ma")
_NUMBER = ("id", "no", "nr", "num", "number", "nummer", "code", "key")


def may_own_records(seen: Seen) -> bool:
    """Tell whether values repeat as those of people with several records may, and the name is of nobody else.

    >>> from anon_pipeline.draft.profile.look import Kind
    >>> [may_own_records(Seen(name, Kind.CATEGORY, 9, distinction=0.5)) for name in ("user_id", "Manager ID")]
    [True, False]
    """
    words = name_words(seen.name)
    others = any(fits_pattern(word, pattern) for word in words for pattern in _OTHERS)
    return seen.distinction <= SINGLE and not others


def several_records(seen: Seen) -> str:
    """Ask whether people have several records, with numbers from the data."""
    return questions.several_records(seen.name, seen.rows, seen.beyond, offered=not seen.missing)


def asks_for_owners(proposal: Proposal) -> bool:
    """Tell whether a column's question is whether it says whose record it is, and that can be answered."""
    return several_records(proposal.seen) in (proposal.question or "") and not proposal.seen.missing


def without_owners(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Leave that question out where another column says whose record it is.

    That is one that was said to, or one named like numbers of people whose values are different.
    """
    known = any(one.person or numbers_people(one.seen) for one in proposals)
    return [_without_question(one) if known else one for one in proposals]


def numbers_people(seen: Seen) -> bool:
    """Tell whether a column is named like a number of people, and nearly all of its values are different."""
    words = name_words(seen.name)
    short = any(fits_pattern(word, pattern) for word in words for pattern in _PEOPLE)
    named = telling_name(seen.name) or ""
    number = named.startswith("numbers of persons") or (short and bool({*words} & {*_NUMBER}))
    return number and seen.distinction > SINGLE and not seen.missing


def _without_question(proposal: Proposal) -> Proposal:
    if proposal.question is None:
        return proposal
    left = proposal.question.replace(several_records(proposal.seen), "")
    return replace(proposal, question=" ".join(left.split()) or None)
