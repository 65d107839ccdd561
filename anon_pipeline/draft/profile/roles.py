"""A role for each column: rules in a table, of which the first that fits decides.

No rule proposes `insensitive`: only who answers for a release can say that a column is public.
Source: [DB 2.2] for the kinds of columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.full_names import are_full_names, are_titled_names, is_word_for_persons
from anon_pipeline.catalog.detectors.name_hints import Hint, find_hint
from anon_pipeline.draft.profile import questions
from anon_pipeline.draft.profile.look import MOSTLY, SOME, Kind, Look, Seen
from anon_pipeline.draft.profile.proposals import Proposal, Sure, propose_dropping
from anon_pipeline.draft.profile.proposed_hierarchies import lack_zeros, propose_hierarchy
from anon_pipeline.draft.profile.record_owners import may_own_records, several_records
from anon_pipeline.draft.profile.steps import inner_bounds, step_from
from anon_pipeline.policy.columns import Generalize, Perturb, Sensitive
from anon_pipeline.policy.fields import LEFT_OUT

MOST_EMPTY = 0.5
"""Share of empty cells up to which a column can be said to be secret: records without one are left out."""

MOST_LACKING = 0.02
"""Share of the records without a value that may be left out for one column with noise, or a sensitive one."""
_MOST_SENSITIVE_VALUES = 60
_ROUNDED = 30  # multiples that a rounded column has, about
MOST_ANSWERS = 11
"""Answers of an item of a questionnaire; largest number of categories that need no telling name."""
_OWN = 0.5  # distinction from which on values are numbers of one's own
_SCALE = 40  # different numbers from which on a column is measured rather than counted
_DETECTED = {detector.name: detector.words for detector in DETECTORS}


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A column to decide on: as it is read, with what its name says."""

    look: Look
    hint: Hint | None

    @property
    def named(self) -> str:
        """What its name says, for people."""
        return "" if self.hint is None else f"the name says {self.hint.meaning}"

    def leads(self, *ways: str) -> bool:
        """Tell whether the name leads to one of some roles."""
        return self.hint is not None and self.hint.leads in ways


Rule = Callable[[Case], Proposal | None]


def _without_information(case: Case) -> Proposal | None:
    if case.look.seen.kind is Kind.EMPTY:
        return propose_dropping(case.look.seen, "no record has a value", Sure.CERTAIN)
    if case.look.seen.kind is Kind.SAME:
        return propose_dropping(case.look.seen, "all records have the same value", Sure.CERTAIN)
    return None


def _propose_for_detected(case: Case) -> Proposal | None:
    seen = case.look.seen
    if not seen.found or seen.kind is Kind.DATE:
        return None
    words = ", ".join(_DETECTED[name] for name in seen.found)
    if seen.found_share >= MOSTLY:
        return propose_dropping(seen, f"its values have the form of {words}", Sure.CERTAIN)
    many = "some" if seen.found_share >= SOME else f"a few (less than {SOME:.0%})"
    reason = f"{many} of its values have the form of {words}"
    if seen.kind is Kind.TEXT:
        return propose_dropping(seen, f"free text, which can name anybody; {reason}", Sure.CERTAIN)
    sure = Sure.LIKELY if seen.found_share >= SOME else Sure.UNSURE
    return propose_dropping(seen, reason, sure, questions.some_identifiers(words, seen.found))


def _names_people(case: Case) -> Proposal | None:
    """Values that look like names of people, whatever the column is called."""
    if case.look.seen.kind is not Kind.CATEGORY:
        return None
    texts, name = case.look.values.astype(str).tolist(), case.look.seen.name
    if are_full_names(texts, of_persons=is_word_for_persons(name)) or are_titled_names(texts):
        return propose_dropping(case.look.seen, "its values look like names of people", Sure.LIKELY)
    return None


def _named_identifier(case: Case) -> Proposal | None:
    seen = case.look.seen
    if not case.leads("identifier"):
        return None
    few = seen.distinction < 0.05 and seen.different <= 50
    return propose_dropping(
        seen, case.named, Sure.UNSURE if few else Sure.CERTAIN, questions.NAMES_PERSONS if few else None
    )


def _free_text(case: Case) -> Proposal | None:
    seen = case.look.seen
    if seen.kind is Kind.TEXT:
        return propose_dropping(seen, "free text, which can name anybody, is not released", Sure.CERTAIN)
    if case.leads("free text") and seen.kind is Kind.CATEGORY and seen.different > MOST_ANSWERS:
        return propose_dropping(
            seen, f"{case.named}, which can name anybody and is not released", Sure.LIKELY
        )
    return None


def _own_number(case: Case) -> Proposal | None:
    """Values that differ from record to record, or repeat as those of people with several records do."""
    seen = case.look.seen
    whole = seen.kind is Kind.NUMBER and seen.whole
    if case.leads("number of one's own") and (whole or seen.kind is Kind.CATEGORY):
        if seen.distinction >= _OWN or seen.consecutive:
            reason = f"{case.named}, and its values are different"
            return propose_dropping(seen, reason, Sure.CERTAIN, _several(seen))
        if seen.different > MOST_ANSWERS:
            question = " ".join(filter(None, (questions.PERSONS_OR_THINGS, _several(seen))))
            return propose_dropping(seen, case.named, Sure.LIKELY, question)
    category = seen.kind is Kind.CATEGORY and _unreadable(case) is None  # else perhaps a number or a day
    if category and seen.distinction >= _OWN and seen.different > MOST_ANSWERS:
        return propose_dropping(seen, "at least half of the values are distinct", Sure.CERTAIN)
    if whole and (seen.consecutive or (seen.distinction > 0.95 and case.hint is None)):
        return propose_dropping(seen, "different whole numbers", Sure.LIKELY, questions.OWN_NUMBER)
    return None


def _several(seen: Seen) -> str | None:
    """Ask whether people have several records, where a few values repeat."""
    return several_records(seen) if may_own_records(seen) else None


def _dates_unread(case: Case) -> Proposal | None:
    """Texts that look like dates, of a form that no format reads."""
    seen = case.look.seen
    if seen.kind is not Kind.CATEGORY or not seen.dated or seen.different <= MOST_ANSWERS:
        return None
    reason = "it looks like dates or times, of a form that is not read"
    return propose_dropping(seen, reason, Sure.UNSURE, questions.UNREAD_DATES)


def _unreadable(case: Case) -> Proposal | None:
    """Numbers or dates with other texts among them."""
    seen = case.look.seen
    if seen.kind is not Kind.CATEGORY or not seen.mixed or seen.different <= MOST_ANSWERS:
        return None
    return propose_dropping(
        seen,
        "numbers or dates, of several forms or with texts among them that are neither",
        Sure.UNSURE,
        questions.STRAY_TEXTS,
    )


def _sensitive(case: Case) -> Proposal | None:
    """A secret, by its name; left out if many cells are empty, since no limit protects it in another role."""
    if not case.leads("sensitive"):
        return None
    found = propose_sensitive(case.look, case.named, Sure.LIKELY)
    if found is None and propose_sensitive(case.look, case.named, Sure.LIKELY, most_lacking=1.0) is not None:
        seen = case.look.seen
        reason = f"{case.named}, and {seen.missing_share:.1%} of its cells are empty"
        needed = questions.needed_with_gaps(seen.name)
        asked = questions.MOSTLY_EMPTY if seen.missing_share > MOST_EMPTY else needed
        return propose_dropping(seen, reason, Sure.UNSURE, asked)
    return found


def propose_sensitive(
    look: Look, reason: str, sure: Sure, *, most_lacking: float = MOST_LACKING
) -> Proposal | None:
    """Propose that a column is what an attacker wants to learn; None where it has too many categories.

    Args:
        look: the column.
        reason: why, for people.
        sure: how sure that is.
        most_lacking: share of the records without a value from which on there is no proposal, in [0, 1].
    """
    seen = look.seen
    missing = {"missing": LEFT_OUT} if seen.missing else {}
    if seen.missing_share > most_lacking:
        return None
    if seen.kind is Kind.NUMBER:
        rounding, words = _propose_rounding(look)
        return Proposal(
            seen,
            Sensitive(role="sensitive", distance="ordered", **rounding, **missing),
            reason + words,
            sure,
        )
    if seen.kind is not Kind.CATEGORY or seen.different > _MOST_SENSITIVE_VALUES:
        return None
    return Proposal(seen, Sensitive(role="sensitive", distance="equal", **missing), reason, sure)


def _propose_rounding(look: Look) -> tuple[dict[str, float], str]:
    """Return by what a sensitive number is rounded and between which bounds; whole numbers of a few stay."""
    if look.seen.whole and look.seen.different <= _ROUNDED:
        return {}, ""
    rows = np.repeat(look.values.to_numpy(np.float64), look.counts)
    low, high = (float(q) for q in np.quantile(rows, (0.02, 0.98)))
    span = high - low or float(np.ptp(rows)) or 1.0
    step = step_from(max(span / _ROUNDED, 1.0 if look.seen.whole else 0.0))
    bottom, top = inner_bounds(rows, step)
    bounds = {name: end for name, end in (("bottom", bottom), ("top", top)) if end is not None}
    words = "; rounded to a public step" + (", bounds have at least 20 records beyond them" if bounds else "")
    return {"round": step, **bounds}, words


def _quasi(case: Case) -> Proposal | None:
    if not case.leads("quasi", "measure"):
        return None
    if case.leads("measure") and (noisy := propose_noise(case.look, case.named, Sure.LIKELY)):
        return noisy
    return propose_quasi(case.look, case.hint, case.named, Sure.LIKELY)


def propose_quasi(look: Look, hint: Hint | None, reason: str, sure: Sure) -> Proposal | None:
    """Propose a quasi-identifier with a hierarchy; None where no hierarchy fits."""
    found = propose_hierarchy(look, hint)
    if found is None:
        return None
    column = Generalize(role="generalize", hierarchy=found.spec)
    return Proposal(look.seen, column, f"{reason}; {found.reason}", sure, found.question, found.rows)


def propose_noise(look: Look, reason: str, sure: Sure) -> Proposal | None:
    """Propose a number that gets noise; None where it is none, or lacks too many values."""
    seen = look.seen
    if (
        seen.kind is not Kind.NUMBER
        or seen.different < _SCALE
        or seen.missing_share > MOST_LACKING
        or seen.sentinel
    ):
        return None
    rows = np.repeat(look.values.to_numpy(np.float64), look.counts)
    span = float(np.subtract(*np.quantile(rows, (0.98, 0.02)))) or float(np.ptp(rows))
    resolution = step_from(max(span / 1_000, 1.0 if seen.whole else 0.0) * 0.999)
    missing = {"missing": LEFT_OUT} if seen.missing else {}
    return Proposal(
        seen,
        Perturb(role="perturb", resolution=resolution, **missing),
        f"{reason}; a number that is measured",
        sure,
    )


def _guess(case: Case) -> Proposal | None:
    """Take a column that nothing is known of for a quasi-identifier, which is the safe way to release it.

    Many categories may be names of people: they are left out.
    """
    if case.hint is None and case.look.seen.kind is Kind.CATEGORY and case.look.seen.different > MOST_ANSWERS:
        return propose_dropping(
            case.look.seen,
            "many categories, and nothing shows what they mean",
            Sure.UNSURE,
            questions.MANY_CATEGORIES,
        )
    reason = "nothing shows what it is"
    known = case.leads("sensitive")
    found = None if case.hint is not None else propose_noise(case.look, reason, Sure.UNSURE)
    found = found or propose_quasi(case.look, case.hint, case.named if known else reason, Sure.UNSURE)
    lacking = case.look.seen.missing_share > MOST_LACKING
    secret = propose_sensitive(case.look, case.named, Sure.CERTAIN, most_lacking=MOST_EMPTY)
    question = questions.known_to_others(case.look.seen.name, many_empty=lacking, offered=secret is not None)
    return None if found is None else replace(found, question=question, guess=True)


RULES: tuple[Rule, ...] = (
    _without_information,
    _propose_for_detected,
    _names_people,
    _named_identifier,
    _free_text,
    _unreadable,
    _dates_unread,
    _own_number,
    _sensitive,
    _quasi,
    _guess,
)
"""The rules, in the order in which they are asked."""


def propose_role(look: Look) -> Proposal:
    """Propose a role for a column; one that no rule fits is left out, with a question."""
    hint = find_hint(look.seen.name)
    if hint is not None and hint.is_postal and lack_zeros(look.values):
        look = replace(look, seen=replace(look.seen, lost_zeros=True))
    case = Case(look, hint)
    found = next((proposal for rule in RULES if (proposal := rule(case)) is not None), None)
    if found is None:
        found = propose_dropping(
            look.seen,
            "too many different values for a hierarchy that can be proposed",
            Sure.UNSURE,
            questions.NO_HIERARCHY,
        )
    return _with_doubts(found)


def _with_doubts(proposal: Proposal) -> Proposal:
    """Add what is unclear about how the cells are written, where the column is released."""
    seen = proposal.seen
    said = doubts(seen)
    if proposal.dropped or not said:
        return proposal
    return replace(proposal, question=" ".join([*filter(None, [proposal.question]), *said]), sure=Sure.UNSURE)


def doubts(seen: Seen) -> list[str]:
    """Return what is unclear about how the cells of a column are written, as questions."""
    found = []
    if seen.date is not None and seen.date.ambiguous:
        found.append(questions.DAY_OR_MONTH)
    if seen.number is not None and seen.number.ambiguous:
        found.append(questions.decimal_or_thousands(seen.number))
    if seen.sentinel:
        found.append(questions.SENTINEL)
    if seen.lost_zeros:
        found.append(questions.LOST_ZEROS)
    if seen.shortened:
        found.append(questions.SHORTENED)
    return found
