"""What `ledger list` says of releases: as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from anon_pipeline.catalog.releases import group_of
from anon_pipeline.cli.shared import print_table

if TYPE_CHECKING:
    from anon_pipeline.ledger.budget import State

_HEADINGS = (
    *("id", "dataset", "release", "partition", "policy", "data", "state", "ε spent", "k", "since (UTC)"),
)


def release_row(found: State) -> dict[str, Any]:
    """Return a release as JSON types; its ε is the exact text that the ledger has."""
    last = found.last
    return {
        "id": last.release_id,
        "dataset": last.dataset,
        "release": last.release,
        "partition": last.partition,
        "policy_digest": last.policy_digest,
        "data_digest": last.data_digest,
        "state": found.name,
        "epsilon": last.epsilon if found.counts else "0",
        "k": last.k,
        "since": last.at,
    }


def print_releases(releases: Iterable[State]) -> None:
    """Print a line for each release."""
    print_table(_HEADINGS, map(_cells, releases), width=120)


def _cells(found: State) -> tuple[str, ...]:
    last = found.last
    return (
        last.release_id[:12],
        last.dataset,
        last.release,
        last.partition or "",
        last.policy_digest[:8],
        (last.data_digest or "")[:8],
        found.name,
        last.epsilon if found.counts else "0",
        "–" if ":" in last.dataset else str(last.k),  # accounts of releases without classes have a colon
        last.at[:19],
    )


def describe_total(dataset: str, releases: Sequence[State]) -> str:
    """Say what the releases of a dataset have spent together."""
    from anon_pipeline.ledger.budget import exact_text  # noqa: PLC0415

    counted = [state for state in releases if state.counts]
    waiting = [state for state in counted if state.last.event == "opened" and state.published_at is None]
    unpublished = [state for state in counted if state.drawn_at is not None and state.published_at is None]
    total, of_a_record = _sum(counted), _spent_by_a_record(counted)
    text = f"{dataset}: ε = {exact_text(of_a_record)} spent, releases: {len(counted)}"
    text += f", of them open: {len(waiting)}" if waiting else ""
    text += f", drawn and not published: {len(unpublished)}" if unpublished else ""
    if of_a_record < total:
        text += (
            f". No record has spent more: it is in one partition of each divided table. All partitions "
            f"together: ε = {exact_text(total)}"
        )
    return text


def _spent_by_a_record(counted: Sequence[State]) -> Fraction:
    """Return what is spent on one record at most, which is in one partition of each divided table."""
    from anon_pipeline.ledger.budget import most_of_each_group  # noqa: PLC0415

    most = most_of_each_group(state.entry for state in counted if _is_divided(state))
    others = [state for state in counted if not _is_divided(state)]
    return _sum(others) + sum((Fraction(entry.epsilon) for entry in most), start=Fraction(0))


def _is_divided(state: State) -> bool:
    """Tell whether this is a release of a partition whose group has others, with other records."""
    from anon_pipeline.ledger.budget import is_listed  # noqa: PLC0415

    key = state.last.partition
    return key is not None and is_listed(state.last.partition_kind, key) and group_of(key) != ""


def _sum(counted: Iterable[State]) -> Fraction:
    return sum((state.epsilon for state in counted), start=Fraction(0))
