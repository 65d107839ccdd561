"""Kinds of releases of which a dataset may have one: another would tell more than each by itself."""

from __future__ import annotations

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.publish.accounting.booking import Booking


def refuse_another(policy: DeclaredRelease, booked: Booking) -> None:
    """Refuse a second release of a dataset of such a kind; without a ledger nothing is known of a first one.

    Raises:
        GateRefused: the ledger has a published release of the dataset, of this kind.
    """
    once = policy.kind.once
    if once is not None and booked.ledger is not None and booked.ledger.has_published(booked.asked):
        raise GateRefused(
            f"{policy.kind.words} of this dataset is published, and {once}. If this release is about other "
            "people, change dataset in the policy. If it is about the same people, keep the published one."
        )
