"""What a report says first, gathered: sentences, answers, attacks, levels, columns released as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.answers import Answer, answers
from anon_pipeline.report.attacks import Attack, attacks, largest
from anon_pipeline.report.columns import SizeBin
from anon_pipeline.report.exposure import Level, Plain, levels, plain_columns
from anon_pipeline.report.first_sentences import counted_subjects, first_sentences
from anon_pipeline.report.manifest_data import Described


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of a release.

    sentences: the first five, each with what it answers; that on attackers is one for each of them.
    answers: to the three questions of the European guidance.
    attacks: those that were measured.
    largest: the one of the largest risk.
    plain: columns that are released as they are.
    levels: of the generalized columns.
    sizes: classes by size.
    """

    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    answers: tuple[Answer, ...]
    attacks: tuple[Attack, ...]
    largest: Attack
    plain: tuple[Plain, ...]
    levels: tuple[Level, ...]
    sizes: tuple[SizeBin, ...]


def findings(
    policy: Policy, described: Described, frame: Table, sizes: Sequence[SizeBin], *, internal: bool
) -> Findings:
    """Gather what a report says first.

    Args:
        frame: (r, columns) the released table.
        sizes: its classes by size; internal ones with the linking risk that was realized.
        internal: whether values that need the originals are shown; else their bounds are.
    """
    known = described.exact
    gate = described.gate if not internal or known is None or known.gate is None else known.gate
    plain = tuple(plain_columns(policy, frame))
    left = tuple(levels(policy, described.facts["k_anonymized"]["levels"], frame))
    about = counted_subjects(policy, described)
    people = about.released if policy.person is not None and about.noun == "people" else None
    found = tuple(attacks(policy, gate, sizes, internal=internal, people=people))
    return Findings(
        tuple(first_sentences(policy, described, plain, left, found)),
        tuple(answers(policy, gate, plain, found, internal=internal)),
        found,
        largest(found),
        plain,
        left,
        tuple(sizes),
    )
