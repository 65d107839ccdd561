"""Finishes releases whose run was killed after the manifest was renamed, which publishes a release.

The ledger may still have such a release as open, the key of its noise may still be in the vault, and it may
not have been delivered. Nothing is made again, and no ε is spent.

Decision: docs/adr/0101-published-partitions-are-finished.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.ledger.draws import finished_draws
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.policy.locations import OFF, Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.deliver.delivery import deliver_release, destination_of
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.writer import read_manifest


def finish_published(policy: Policy, locations: Locations, partitions: Collection[str]) -> list[str]:
    """Enter published partitions that the ledger has as open, destroy their keys, deliver what is not there.

    Releases that were withdrawn are not delivered.

    Args:
        partitions: each has a release in its folder.
    Returns:
        The partitions that were delivered.
    Raises:
        InputError: the ledger or the vault cannot be written, or a file is not the manifest's.
        PublishError: a destination could not be written.
    """
    withdrawn = frozenset[str]()
    if locations.ledger != OFF and partitions:
        ledger = ledger_at(locations.ledger)
        states = release_states(ledger.events())
        withdrawn = frozenset(name for name, state in states.items() if state.last.event == "withdrawn")
        _enter(policy, locations, partitions, states.values())
        _destroy_keys(policy, locations, ledger)
    return [key for key in partitions if _deliver(policy, locations, key, but=withdrawn)]


def _enter(policy: Policy, locations: Locations, partitions: Iterable[str], states: Iterable[State]) -> None:
    """Enter what is out of the releases that the ledger has as open."""
    still_open = {
        state.last.partition
        for state in states
        if state.last.release == policy.name and state.last.event == "opened"
    }
    for key in partitions:
        if key in still_open:
            booking(policy, locations, partition=key).find()


def _destroy_keys(policy: Policy, locations: Locations, ledger: Ledger) -> None:
    """Destroy the keys of draws that the ledger has as published, withdrawn or closed."""
    draws = draws_of(policy, locations, None)
    found = draws.ids()
    over = finished_draws(ledger, found.values())
    names = [name for name, release_id in found.items() if release_id in over]
    if names:
        with draws.alone():
            draws.destroy(names)


def _deliver(policy: Policy, locations: Locations, partition: str, *, but: Collection[str]) -> bool:
    """Deliver a partition unless readers see it already; tell whether it was.

    Args:
        but: releases that are not delivered.
    """
    destination = destination_of(policy, locations, partition)
    document = read_manifest(locations.release(policy, partition))
    if destination is None or document is None or named_by(document)[0] in but:
        return False
    if destination.holds(document):
        return False
    deliver_release(policy, locations, partition=partition)
    return True
