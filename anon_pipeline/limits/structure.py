"""Limits that every release has: its contract, its origin, k, and people without several records.

Decision: docs/adr/0103-records-of-the-same-people-are-refused.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from anon_pipeline.encode.codes import PRIVATE
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.repeated_combinations import FEWEST_COLUMNS
from anon_pipeline.stages.contracts.stages import broken_contract, release_contract
from anon_pipeline.stages.facts.origin import broken_origin
from anon_pipeline.stages.facts.records import RawFacts
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.repeated_people import combined_columns


def _holds(demand: Demand, problems: Iterable[str]) -> Verdict:
    """Return the verdict of a limit that is broken or not, with what is wrong."""
    said = "; ".join(problems) or None
    return Verdict(demand.name, Status.PASSED if said is None else Status.REFUSED, reason=said)


def _contract(case: Case, demand: Demand) -> Verdict:
    shown = case.release
    if case.evidence.originals is not None:
        shown = shown.drop(columns=[*PRIVATE], errors="ignore")
    return _holds(demand, broken_contract(shown, release_contract(case.policy, case.evidence.hierarchies)))


def _origin(case: Case, demand: Demand) -> Verdict:
    """Judge whether every stage was made by this policy, noise and order without a seed, here, of these."""
    problems = broken_origin(case.policy, case.facts or {}, hierarchies=case.evidence.hierarchies)
    problems += ["materialize these stages again"] if problems else []
    if case.descent is not None:
        problems += case.descent.problems(require_originals(case.evidence).frame)
    return _holds(demand, problems)


def _k(case: Case, demand: Demand) -> Verdict:
    """Judge the smallest class, in people where the policy says who they are.

    A file alone does not say whose records they are; but fewer records than k are fewer people, too.
    """
    records = demand.compare(case.evidence.classes.k)
    if case.policy.person is None or records.status is Status.REFUSED:
        return records
    if case.evidence.originals is None:
        reason = "needs the originals: a file alone does not say whose records they are"
        return Verdict(demand.name, Status.UNMEASURED, None, demand.bound, demand.sense, reason=reason)
    return demand.compare(int(case.evidence.class_sizes.min()))


def _judge_repeated_people(case: Case, demand: Demand) -> Verdict:
    """Say which columns look like those of people with several records; how often, nobody sees."""
    names = (case.facts or {}).get(RawFacts.stage, {}).get("repeated")
    if names is None:
        return Verdict(demand.name, Status.UNMEASURED, reason="needs the facts of the stages")
    return _holds(demand, _said_of_repeated(case.policy, names))


def _counts_of_people(demand: Demand, policy: Policy, recoded: Staged) -> str | None:
    """Say, before noise is drawn, that records look like several of each person; None: they do not."""
    said = [*_said_of_repeated(policy, recoded.facts[RawFacts.stage]["repeated"])]
    return f"{demand.name}: {'; '.join(said)}. Next: {_who_they_are(policy)}" if said else None


_NAME_PEOPLE = "set person to the column that identifies people, not records: k then counts people. "
_STATE_IT = "If you have made sure that each person has one record, write one_record_per_person: true."


def _who_they_are(policy: Policy, of: str = "") -> str:
    """Say what to do about records that look like several of each person."""
    if policy.one_record_per_person:
        return (
            "nothing has to change if each person has one record, as the policy says. If not, replace "
            "one_record_per_person by person, with the column that identifies people."
        )
    if policy.person is not None or policy.record_key is not None:
        return "if one person has several values in the column that identifies people, name another column."
    return _NAME_PEOPLE + _STATE_IT


def _said_of_repeated(policy: Policy, names: Sequence[str]) -> Iterator[str]:
    identifiers = [name for name in names if name in policy.identifiers]
    others = [name for name in names if name not in policy.identifiers]
    repeat = f"values of {', '.join(identifiers)} repeat"
    occur = f"equal values of {', '.join(others)} occur together"
    if policy.one_record_per_person:
        found = " and ".join([repeat] * bool(identifiers) + [occur] * bool(others))
        if found:
            yield (
                f"the policy says one_record_per_person: true, but {found} as if people had several records: "
                "if they have, a class can be fewer people than k"
            )
        return
    who = policy.person or policy.record_key
    if identifiers and who is None:
        yield (
            f"{repeat} as if people had several records, but k counts records: set person to the column that "
            "identifies people"
        )
    elif identifiers:
        yield (
            f"{repeat} like those of one person, but {who} assigns these records to several people: {who} "
            "may have several values for one person"
        )
    if others and who is None:
        yield (
            f"{occur} as if people had several records, but k counts records: keep the column that "
            "identifies people, and set person to it"
        )
    elif others:
        yield (
            f"{occur} like those of one person, but {who} assigns these records to several people: set "
            "person to a column that identifies people, not records"
        )


CONTRACT = Limit(
    "contract",
    Words(
        "The release has only the policy's columns, no undeclared identifier, and numbers on their grid.",
        advice="declare every column; give a column that may hold identifiers another role, or a reason.",
    ),
    Judged(judge=_contract),
    demanded=lambda policy: {"": None},
    expectation="",
    always=True,
    published=Published(valued=False, compares_lists=True, by_version=True),
    forecast=Forecast(certain=True),
)
ORIGIN = Limit(
    "origin",
    Words(
        "Every stage was made by this policy; noise and order come from the system's entropy, not from "
        "a seed.",
        advice="nothing in the policy has to change: make all stages again, from the source on.",
    ),
    Judged(judge=_origin, needs=("originals",)),
    demanded=lambda policy: {"": None},
    expectation="",
    always=True,
    published=Published(valued=False),
    forecast=Forecast(certain=True),
)
K = Limit(
    "k",
    Words(
        "Every class of equal quasi-identifiers has at least this many {counted}.",
        question="singling out",
    ),
    Judged(judge=_k, sense="at least", people=True, judges_records=True),
    demanded=lambda policy: {"": policy.gate_k},
    always=True,
    expectation="expect_release_to_be_k_anonymous",
    forecast=Forecast(value=lambda expected, policy: expected.smallest_class),
)


def _unknown_people(policy: Policy) -> Demanded:
    """Demand it where an identifier or enough quasi-identifiers can show people's records.

    As advice, where the policy says who the people are, or that each of them has one record.
    """
    said = policy.person or policy.record_key
    unsecret = len(policy.generalized) + len(policy.noisy) + len(policy.insensitive)
    if unsecret >= FEWEST_COLUMNS or {*policy.identifiers} - {said} or _combines(policy):
        return {"": Advised(None) if said or policy.one_record_per_person else None}
    return {}


def _combines(policy: Policy) -> bool:
    """Tell whether there are enough columns whose combinations can show people's records."""
    return len(combined_columns(policy)) >= FEWEST_COLUMNS


def _only_identifiers(policy: Policy) -> tuple[str, str] | None:
    if _combines(policy):
        return None
    return (
        "identifiers only",
        f"Only identifiers were looked at, not other columns together: fewer than {FEWEST_COLUMNS} of "
        "them cannot show whether a person has several records.",
    )


REPEATED_PEOPLE = Limit(
    "repeated_people",
    Words(
        "Neither an identifier nor the quasi-identifiers together repeat as if one person had several "
        "records. It refuses unless the policy says who the people are, or that each has one record; then it "
        "only warns.",
        advice=_NAME_PEOPLE + _STATE_IT,
        advice_for=_who_they_are,
        only=_only_identifiers,
    ),
    Judged(
        judge=_judge_repeated_people,
        bound=lambda wanted: None,
        needs=("originals",),
        before_drawing=_counts_of_people,
    ),
    demanded=_unknown_people,
    expectation="",
    advisable=True,
    published=Published(valued=False),
)
