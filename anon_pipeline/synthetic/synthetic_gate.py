"""The gate of synthetic releases: declared values, the draw, and what simulated attackers learn."""

from __future__ import annotations

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.declared_values import DRAW, VALUES, judge_draw, judge_values
from anon_pipeline.declared.parts import Release
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.attackers import Learned, learned_by_attackers
from anon_pipeline.synthetic.several_records import LEAST, PEOPLE, enough_people, judge_people

COPIED, MEMBERSHIP, GAIN = "copied_records", "membership", "attribute_gain"

MEANINGS = {
    VALUES: "Each file has the declared columns, only declared values, and as many records as it must.",
    DRAW: "The random numbers come from the operating system.",
    PEOPLE: "The records do not look as if people had several of them, or the policy says who the people "
    "are. Attackers are then measured by people.",
    COPIED: "Unique records of the data are in the copies no more often than records that the model has "
    "not seen, up to this share.",
    MEMBERSHIP: "An attacker tells a record that the model has seen from another one with this probability "
    "at most; 0.5 is a coin.",
    GAIN: "An attacker who knows all other columns guesses a sensitive value right no more often than of "
    "records that the model has not seen, up to this share. Not measured if the policy names no sensitive "
    "column.",
}
"""Limits of the gate, in words. The last three are measured with attackers that are simulated."""


def refuse_synthetic(policy: SyntheticPolicy, records: int) -> None:
    """Refuse a source that is too small to be divided.

    Raises:
        InputError: fewer than ten times k records.
    """
    if records < LEAST * policy.k:
        raise InputError(
            f"the source must have at least {LEAST} times k records ({LEAST * policy.k:,}), got "
            f"{records:,}: half of them are held back to measure what attackers learn"
        )


def judge_synthetic(policy: SyntheticPolicy, release: Release) -> list[Verdict]:
    """Judge a synthetic release; what needs the data is unmeasured where there are the files alone."""
    records = policy.copy_records or release.records
    values = [judge_values(policy, table, records) for table in release.tables]
    broken = next((one for one in values if one.status is not Status.PASSED), values[0])
    if len(release.tables) != policy.copies:
        broken = Verdict(VALUES, Status.REFUSED, reason=f"there must be {policy.copies} copies")
    learned = None
    if release.codes is not None and enough_people(policy, release.people):
        learned = learned_by_attackers(policy, release.codes, release.people)
    return [
        broken,
        judge_draw(seeded=release.seeded, from_files=release.codes is None),
        judge_people(policy, release),
        *_of_attackers(policy, learned),
    ]


def _of_attackers(policy: SyntheticPolicy, learned: Learned | None) -> list[Verdict]:
    gate, worst, gain = policy.gate, None, None
    if learned is not None and learned.gains:
        worst = max(learned.gains, key=lambda name: learned.gains[name])
        gain = learned.gains[worst]
    return [
        _verdict_of(COPIED, gate.copied_records, None if learned is None else learned.copied),
        _verdict_of(MEMBERSHIP, gate.membership, None if learned is None else learned.membership),
        _verdict_of(GAIN, gate.attribute_gain, gain, of=worst)
        if learned is None or gain is not None
        else Verdict(
            GAIN,
            Status.WARNED,
            None,
            gate.attribute_gain,
            "at most",
            reason="not measured: no column is sensitive",
        ),
    ]


def _verdict_of(name: str, bound: float, value: float | None, *, of: str | None = None) -> Verdict:
    """Judge a measure; what is exceeded names the column that it is about."""
    if value is None:
        return Verdict(name, Status.UNMEASURED, None, bound, "at most", reason="needs the data")
    if value <= bound:
        return Verdict(name, Status.PASSED, value, bound, "at most")
    return Verdict(name, Status.REFUSED, value, bound, "at most", reason=None if of is None else f"of {of}")
