"""What a manifest says of its time, against what the policy acknowledges: for how long, and how much.

No release is made by an acknowledgement that has lapsed or has not begun, so a manifest that says so is
forged. Entries that lapsed and are not needed any more are none of that: another entry may have taken the
place of one, or the columns may single out few people by now.

Decision: docs/adr/0069-an-acknowledgement-can-lapse.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import chain, combinations, islice
from typing import Any

from anon_pipeline.base.errors import PublishError
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.evidence.identifying_columns import allowed_share
from anon_pipeline.policy.acknowledgements import Acknowledged, hashed_columns
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import LARGEST_SET, exceeds

_MOST = 200  # combinations of the columns of one entry that are looked at


def broken_acknowledgements(document: Mapping[str, Any], policy: Policy, frame: Table | None) -> list[str]:
    """List the columns that must be acknowledged on the day of ``made_at``, and are not.

    A hash must be, whatever is in it. Insensitive columns must if the file alone shows that they single out
    more people than they may: however many records are missing, each is like one released record at most.
    The day before counts, too: the gate may have judged before midnight.

    Args:
        document: the manifest of version 2; its time, files and facts have the shape of the version.
        frame: (r, columns) the released table; None: not known.
    """
    made = datetime.fromisoformat(document["made_at"]).astimezone(UTC).date()
    days = (made, made - timedelta(days=1))
    wrong = [*_hash_terms(policy, days)]
    if frame is not None:
        records = max(int(document["facts"]["raw"]["records"]), len(frame))
        for entry in policy.acknowledged:
            wrong += _together(entry, policy, days, (frame, records))
    return wrong


def refuse_lapsed(document: Mapping[str, Any], policy: Policy, frame: Table) -> None:
    """Refuse to write a manifest whose time was moved to that of the one before, past an acknowledgement.

    The gate has judged by the day of today. A manifest is made no earlier than the one before it, so where a
    clock ran ahead then, it would say a day on which nobody answers, and could not be verified.

    Raises:
        PublishError: with what to do; nothing is written.
    """
    if wrong := broken_acknowledgements(document, policy, frame):
        raise PublishError(
            f"publish.to: the release there says that it was made at {document['made_at']}, and none may be "
            f"made before it. {'. '.join(wrong)}. If the clock ran ahead then, give this release another "
            f"folder; else acknowledge until a later day."
        )


def _hash_terms(policy: Policy, days: Sequence[date]) -> Iterator[str]:
    for name in hashed_columns(policy.columns):
        if not any(entry.covers([name], day) for entry in policy.acknowledged for day in days):
            term = f"{name} is acknowledged{_term(policy, [name])}"
            yield f"made_at must be a day on which {term}, got {days[0]}"


def _together(
    entry: Acknowledged, policy: Policy, days: Sequence[date], table: tuple[Table, int]
) -> Iterator[str]:
    """Yield the first combination of an entry's columns that must be acknowledged on a day when nobody did.

    Args:
        table: the released one, and how many records came in.
    """
    frame, records = table
    if any(entry.covers([], day) for day in days):
        return
    names = [name for name in entry.columns if name in policy.insensitive]
    sets = chain.from_iterable(combinations(names, many) for many in range(2, LARGEST_SET + 1))
    for chosen in islice(sets, _MOST):
        there = unpack_table(frame[list(chosen)]).dropna()
        alone = int((~there.duplicated(keep=False)).sum()) - (records - len(frame))
        if exceeds(alone, records, allowed_share(policy, chosen, days)):
            term = f"{', '.join(chosen)} are acknowledged{_term(policy, chosen)}"
            yield f"made_at must be a day on which {term}, got {days[0]}"
            return


def _term(policy: Policy, names: Sequence[str]) -> str:
    """Say from when until when the last entry holds that names some columns."""
    found = [entry for entry in policy.acknowledged if set(names) <= set(entry.columns)]
    return f" (from {found[-1].when} until {found[-1].until})" if found else ""
