"""A release that is made in memory, judged and thrown away: what refuses it, and what would be left.

Belongs here: the rehearsal and what is said of it. Does not belong here: what to change when it is refused
(`draft.choice`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import GateRefused, InfeasibleError, InputError
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.limits.table import next_step
from anon_pipeline.limits.verdicts import Status
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.report.words import share_in_words, silent_columns
from anon_pipeline.tuning.results import DROWNED

_ASSUMED = " Each person was assumed to have one record: unless the policy says so, the release is refused."


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it.

    refused: limits that refuse it; none: it passed.
    named: columns that these name.
    share: how many of the records would be released, in words; empty where nothing would.
    warned: limits that warn, each with what to do about it.
    silent: columns with one value in every released record.
    """

    refused: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    share: str = ""
    warned: tuple[tuple[str, str], ...] = ()
    silent: tuple[str, ...] = ()


def rehearse(policy: Policy, frame: pd.DataFrame, columns: Sequence[str], folder: Path) -> Rehearsal:
    """Make a release in memory and throw it away.

    Args:
        frame: (n, columns) the table.
        columns: names of its columns, that messages may name.
        folder: of the hierarchy tables.
    """
    try:
        release = anonymize(policy, frame, hierarchies=folder)
    except GateRefused as refused:
        found = re.findall(r"^deidentified: (.+?): ", str(refused), re.MULTILINE)
        known = [name for name in columns if any(name in one.split(", ") for one in found)]
        return Rehearsal(("identifiers",), tuple(known))
    except (InputError, InfeasibleError):
        return Rehearsal(("input",))
    limits = tuple(verdict.limit for verdict in release.report.unkept)
    if limits:
        named = [part for limit in limits for part in limit.partition(".")[2].split(" + ")]
        return Rehearsal(limits, tuple(dict.fromkeys(filter(None, named))))
    return Rehearsal(
        share=share_in_words(release.facts, len(release.frame), rows=policy.rows),
        warned=tuple(
            (verdict.limit, next_step(verdict, policy.model_copy(update={"one_record_per_person": None})))
            for verdict in release.report.with_status(Status.WARNED)
        ),
        silent=tuple(silent_columns(policy, release.frame)),
    )


def describe(rehearsal: Rehearsal, drowned: Sequence[str]) -> Iterator[str]:
    """Say in lines what a rehearsal that passed would publish.

    Args:
        drowned: columns that the noise moves further than their values spread, see `tuning.results.Expected`.
    """
    many = len(rehearsal.warned)
    warnings = f"{many} warning{'' if many == 1 else 's'}" if many else "no warning"
    assumed = _ASSUMED if REPEATED_PEOPLE.name in dict(rehearsal.warned) else ""
    yield f"A rehearsal passed with {warnings}. It would release {rehearsal.share}.{assumed}"
    yield from (f"  warned    {limit}: {advice}" for limit, advice in rehearsal.warned)
    if rehearsal.silent:
        yield f"  nothing is left of {', '.join(rehearsal.silent)}: one value in every record"
    if drowned:
        yield f"  next to nothing is left of {', '.join(drowned)}: {DROWNED}"
