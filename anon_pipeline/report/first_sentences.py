"""The five sentences that a report begins with: what a privacy officer asks first, in plain words.

They are said of policy, manifest and released file; the exact term of each idea stands in brackets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anon_pipeline.base.shares import percent, percent_at_most
from anon_pipeline.catalog.releases import released_records
from anon_pipeline.gate import GateReport
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.responsible import Responsible
from anon_pipeline.report.attacks import Attack, may_repeat
from anon_pipeline.report.exposure import Level, Plain
from anon_pipeline.report.linking_sentences import by_values, linked_sentence
from anon_pipeline.report.manifest_data import Described


@dataclass(frozen=True, slots=True)
class Counted:
    """What a release is about.

    noun: people, where the policy says whose records they are; else records.
    released, given: how many are released, and came in.
    beyond: records that are not released because their person has more than ``rows_per_person``.
    gaps: people of whom at least one record was suppressed; None where records are counted.
    """

    noun: str
    released: int
    given: int
    beyond: int = 0
    gaps: int | None = None


def counted_subjects(policy: Policy, described: Described) -> Counted:
    """Return about how many people a release is, or records where the policy does not say whose they are."""
    facts = described.facts
    people, last = facts["deidentified"].get("people"), facts["suppressed"]
    if people is not None and last.get("released_people") is not None:
        return Counted(
            "people",
            int(last["released_people"]),
            int(people),
            int(facts["deidentified"]["excess_records"]),
            last.get("people_with_gaps"),
        )
    noun = "people" if policy.record_key is not None else "records"
    return Counted(noun, released_records(described.document), int(facts["raw"]["records"]))


def first_sentences(
    policy: Policy,
    described: Described,
    plain: Sequence[Plain],
    levels: Sequence[Level],
    found: Sequence[Attack],
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the first five sentences, each with what it answers; on attackers, a sentence for each.

    Args:
        plain: columns that are released as they are.
        levels: of the generalized columns.
        found: attacks, that by the class alone first.
    """
    about = counted_subjects(policy, described)
    return [
        ("What was released", (_what(policy, described),)),
        ("About how many", (_how_many(policy, about),)),
        ("What an attacker can do", tuple(_attackers(policy, described.gate, plain, found))),
        ("What is left out", (_left_out(policy, about, levels),)),
        ("Who answers for it", (f"{_who(policy.responsible)} {_reviewer(policy)}",)),
    ]


def _what(policy: Policy, described: Described) -> str:
    names, purpose = policy.released, policy.responsible and policy.responsible.purpose
    made = "" if purpose is None else f", made for this purpose: {purpose}"
    records = released_records(described.document)
    return f"A table of {records:,} records with {len(names)} columns ({', '.join(names)}){made}."


def _how_many(policy: Policy, about: Counted) -> str:
    came = "came in"
    if policy.sample is not None:
        came += f", a random sample of {percent(policy.sample.share)} of the input"
    if policy.stream is not None:
        came += " and do not wait for later ones"
    if about.noun == "people":
        return f"It is about {about.released:,} people, of {about.given:,} whose records {came}."
    return (
        f"It is about {about.released:,} records, of {about.given:,} that {came}; the policy does not say "
        f"whose they are: a person may have several, and {policy.gate_k} records may be fewer people."
    )


def _attackers(
    policy: Policy, gate: GateReport, plain: Sequence[Plain], found: Sequence[Attack]
) -> Iterator[str]:
    first, names = found[0], ", ".join(policy.generalized)
    fit = max(round(1 / first.share), 1)
    yield (
        f"An attacker who knows {names} of a person in it finds at least {fit:,} {first.noun} that fit, "
        f"and picks the right one with a chance of at most {percent_at_most(first.share)}. The policy "
        f"demands at least {policy.gate_k}."
    )
    if may_repeat(gate):
        yield (
            "That is so for a person with one record. The gate warns that people may have several "
            f"(repeated_people): then the chance is larger, and {fit:,} records can be fewer people."
        )
    if policy.perturbed:
        yield linked_sentence(policy, gate, found)
    if (worst := by_values(found)) is not None:
        yield f"An attacker who knows {worst.knows} {worst.success}."
    if alone := [column for column in plain if column.alone]:
        most = max(alone, key=lambda column: column.alone)
        cases = "1 case" if most.alone == 1 else f"{most.alone:,} cases"
        yield (
            f"An attacker who knows {most.column}, which is released {most.how}, finds the only record with "
            f"that value in {cases}."
        )


def _left_out(policy: Policy, about: Counted, levels: Sequence[Level]) -> str:
    missing = about.given - about.released
    touched = missing if about.gaps is None else about.gaps
    share = percent(touched / about.given, 2) if about.given else percent(0)
    gone = [name for name in policy.columns if name not in policy.released]
    said = f"{touched:,} of {about.given:,} {about.noun} ({share}; suppression)"
    if about.gaps is not None:
        said = f"At least one record of {said}, and of {missing:,} of them all"
    if about.beyond:
        said += f", {about.beyond:,} records beyond {policy.rows} per person (rows_per_person)"
    said += f", and {'no column' if not gone else _columns(gone)}"
    hidden = [level.column for level in levels if level.hidden]
    nearly = [f"{one.column} (hidden in {percent(one.share)} of them)" for one in levels if one.nearly_hidden]
    said += f"; nothing is left of {_columns(hidden)}" if hidden else ""
    said += f"; in the released records next to nothing is left of {_columns(nearly)}" if nearly else ""
    return f"{said}."


def _columns(names: Sequence[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _reviewer(policy: Policy) -> str:
    if policy.reviewed is None or not policy.is_reviewed:
        return "No second person has reviewed the policy as it is."
    return f"{policy.reviewed.who} has reviewed the policy, on {policy.reviewed.when}."


def _who(responsible: Responsible | None) -> str:
    if responsible is None or responsible.owner is None:
        return "The policy names nobody who answers for this release (responsible.owner)."
    basis = f", on this legal basis: {responsible.legal_basis}" if responsible.legal_basis else ""
    contact = f"; questions go to {responsible.contact}" if responsible.contact else ""
    return f"{responsible.owner}{basis}{contact}."
