"""What a stream asks a deployment before it is decided who waits: what is published, what may be booked."""

from __future__ import annotations

from functools import partial

from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import Booking
from anon_pipeline.publish.writer import released_partitions
from anon_pipeline.windows.window_table import Deployment


def deployment_of(policy: Policy, locations: Locations, booked: Booking) -> Deployment:
    """Return what a partition's decision is asked of.

    Args:
        booked: the partition's release in the ledger.
    """
    return Deployment(
        partial(released_partitions, policy, locations),
        partial(booked.refuse_unbookable, fresh=policy.perturb is not None),
    )
