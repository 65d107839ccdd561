"""Answers to the three questions of European guidance, in plain words.

All of it is said of policy, manifest and released file; the exact term of each idea stands in brackets.
Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP 216), section 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anon_pipeline.base.shares import percent
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.gate import GateReport, Verdict
from anon_pipeline.limits.meanings import limits_nothing
from anon_pipeline.limits.table import demands, limit_meaning, limit_of, outcome_of
from anon_pipeline.limits.traits import Question
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.attacks import Attack, is_limited, may_repeat
from anon_pipeline.report.exposure import Plain
from anon_pipeline.report.first_sentences import Counted, counted_subjects, first_sentences
from anon_pipeline.report.linking_sentences import (
    by_linking,
    by_share,
    by_values,
    links_also,
    links_by_noise,
    noisy_lines,
)
from anon_pipeline.report.rows import bound_of

__all__ = ["Answer", "Counted", "answers", "counted_subjects", "first_sentences"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question.

    asked: in plain words.
    term: of the guidance.
    short: the answer in a few words.
    open: whether something is left that nothing limits.
    lines: what was measured or limited.
    """

    asked: str
    term: Question
    short: str
    open: bool
    lines: tuple[str, ...]


def answers(
    policy: Policy, gate: GateReport, plain: Sequence[Plain], found: Sequence[Attack], *, internal: bool
) -> list[Answer]:
    """Return the answers to the three questions.

    Args:
        gate: verdicts; internal ones with all values.
        plain: columns that are released as they are.
        found: attacks, that by the class alone first.
    """
    return [
        _answer_singling_out(policy, gate, plain, found, internal),
        _linkable(policy, gate, found, internal),
        _answer_inference(policy, gate, plain, internal),
    ]


def _judgments(policy: Policy, gate: GateReport, question: Question, internal: bool) -> Iterator[str]:
    """Yield what the limits say to a question."""
    for verdict in gate.verdicts:
        limit = limit_of(verdict.limit)
        if limit.words.question == question:
            told = internal or limit.recomputable
            numbers = _numbers(verdict, bound_of(verdict, policy), told=told)
            yield f"{limit_meaning(verdict.limit, policy)} ({verdict.limit}: {numbers})"


def _numbers(verdict: Verdict, bound: str, *, told: bool) -> str:
    if told and verdict.value is not None:
        return f"{bound}, measured {verdict.value:.4g}"
    if limits_nothing(verdict, limit_of(verdict.limit)):
        return f"{bound}, {outcome_of(verdict)}" + ("" if verdict.band is None else f": {verdict.band}")
    return f"{bound}, {verdict.status}"


def _answer_singling_out(
    policy: Policy, gate: GateReport, plain: Sequence[Plain], found: Sequence[Attack], internal: bool
) -> Answer:
    alone, hashed = [column for column in plain if column.alone], _hashed_names(policy)
    names, exact = ", ".join(policy.generalized), [*(column.column for column in alone), *hashed]
    once = " if each person has one record, which the gate doubts (repeated_people)" * may_repeat(gate)
    fit = max(round(1 / found[0].share), 1)
    alike = f"not by {names} alone: at least {fit:,} {found[0].noun} have the same values{once}"
    short = f"Yes, by {', '.join(exact)}, but {alike}" if exact else f"No, {alike}"
    if policy.noisy:
        changed = "released with noise or changed" if policy.changed_columns else "released with noise"
        short += (
            f". An attacker who also knows the exact {', '.join(policy.noisy)}, {changed}, picks "
            "the right record as often as records can be linked (see linkability)"
        )
    one_value = (
        "Of {:,} different values of {}, {:,} occur once: anyone who knows such a value can find the record."
    )
    lines = (
        f"An attacker who knows {names} picks the right record with a chance of at most "
        f"{percent(found[0].share)}{once}.",
        *_judgments(policy, gate, "singling out", internal),
        *(one_value.format(c.distinct, c.column, c.alone) for c in alone),
        *(
            f"{name} is a keyed hash: anyone who has the key, or has seen a person's hash, can find the "
            f"record."
            for name in hashed
        ),
        *noisy_lines(policy, gate, found),
        *(
            f"No value of {c.column} occurs once ({c.distinct:,} different ones)."
            for c in plain
            if not c.alone
        ),
    )
    is_open = bool(exact) or bool(once) or not is_limited(policy, gate)
    return Answer("Can a person be picked out?", "singling out", short, is_open, lines)


def _hashed_names(policy: Policy) -> list[str]:
    return [n for n, column in policy.identifiers.items() if IDENTIFIER_ACTIONS[column.action].keyed]


def _linkable(policy: Policy, gate: GateReport, found: Sequence[Attack], internal: bool) -> Answer:
    hashed, unlimited = _hashed_names(policy), not is_limited(policy, gate)
    lines = list(_judgments(policy, gate, "linkability", internal))
    if unlimited:
        lines.append(
            f"An attacker who knows the exact {', '.join(policy.perturbed)} of a person may pick the right "
            "record by them: no limit says how often."
        )
    if not policy.perturbed:
        lines.append("No column with numbers has noise: records are linked by their classes and by values.")
    lines += [
        f"{name} is released as a keyed hash (pseudonym): records of a person can be linked in every release "
        f"that has it."
        for name in hashed
    ]
    together = any(limit_of(v.limit).published.together for v in gate.verdicts)
    if not together:
        lines.append("What several releases reveal together is not limited.")
    worst = by_values(found)
    linked = by_linking(found)
    is_open = unlimited or bool(hashed) or not all(one.is_limited for one in linked)
    short = links_by_noise(policy, max(linked, key=by_share)) if linked else "At most as the classes reveal"
    short = "Not limited" if is_open else short + (", and limited over all releases" if together else "")
    known = worst is not None and all(worst.share > one.share for one in linked)
    if worst is not None and known and not is_open:
        short += f". {links_also(policy, worst)}"
    return Answer("Can records of a person be linked?", "linkability", short, is_open or known, tuple(lines))


def _answer_inference(policy: Policy, gate: GateReport, plain: Sequence[Plain], internal: bool) -> Answer:
    asked, present = "Can something be concluded about a person?", _presence(plain)
    if not policy.sensitive:
        unasked = "The policy names no sensitive column: of secrets nothing was measured."
        lines = [unasked, *_judgments(policy, gate, "inference", internal), present]
        return Answer(asked, "inference", "Not measured", True, tuple(lines))
    advised = {demand.name for demand in demands(policy) if demand.advised}
    judged = {v.limit for v in gate.verdicts if limit_of(v.limit).words.question == "inference"}
    bounded = {name.partition(".")[2] for name in judged - advised}
    free = [name for name in policy.sensitive if name not in bounded]
    lines = list(_judgments(policy, gate, "inference", internal))
    lines += [f"Nothing limits what a class reveals about {name}." for name in free]
    lines += [*(_one_value(column) for column in plain if column.sensitive), present]
    short = "Limited" if not free else f"Nothing limits what a class reveals about {', '.join(free)}"
    given = "; ".join(f"for {c.told:,} records the class gives away {c.column}" for c in plain if c.told)
    return Answer(asked, "inference", short + (given and f". F{given[1:]}"), bool(free), tuple(lines))


def _presence(plain: Sequence[Plain]) -> str:
    """Say what anyone learns from knowing that a person is in the table."""
    shared = [column.column for column in plain if column.shared]
    values = f", and the one value of {', '.join(shared)} that all have" if shared else ""
    return (
        f"Nothing measures whether somebody is in the table. Anyone who knows that a person is in it "
        f"learns what all people in it share: what the table is about{values}."
    )


def _one_value(column: Plain) -> str:
    """Say how many records are in a class with a single value."""
    if not column.told:
        return f"No record is in a class with one value of {column.column} (homogeneity)."
    many = f"{column.told:,} records are in classes with one value of {column.column}"
    return f"{many}: anyone who finds the class of a person knows it (homogeneity)."
