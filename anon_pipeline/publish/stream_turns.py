"""What a stream asks a deployment before it is decided who waits: what is published, what may be booked.

The folders of a release and the ledger tell what the vault may have forgotten: it can be purged.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.ledger.former_streams import has_been_stream, published_partitions
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import Booking
from anon_pipeline.publish.manifest.manifest import BESIDE, MANIFEST
from anon_pipeline.publish.manifest.promises import STREAM
from anon_pipeline.publish.writer import released_partitions
from anon_pipeline.windows.window_table import Deployment

_PROMISED = STREAM.partition("{}")[0]
_MARKS = (b'"stream"', _PROMISED.encode())


def deployment_of(policy: Policy, locations: Locations, booked: Booking) -> Deployment:
    """Return what a partition's decision is asked of.

    Args:
        booked: the partition's release in the ledger.
    """
    return Deployment(
        partial(_all_partitions, policy, locations, booked),
        partial(booked.refuse_unbookable, fresh=policy.perturb is not None),
        partial(has_streamed, policy, locations, booked),
    )


def _all_partitions(policy: Policy, locations: Locations, booked: Booking) -> set[str]:
    """Return the partitions that have a manifest, and those that the ledger has as published once."""
    entered = set() if booked.ledger is None else published_partitions(booked.ledger, booked.asked)
    return released_partitions(policy, locations) | entered


def has_streamed(policy: Policy, locations: Locations, booked: Booking) -> bool:
    """Tell whether a stream made releases of this name, by the ledger, or by what is in their folders.

    Args:
        booked: a release of this name in the ledger.
    Raises:
        InputError: the ledger cannot be read.
    """
    if booked.ledger is not None and has_been_stream(booked.ledger, booked.asked):
        return True
    return any(_tells_of_stream(path, policy.name) for path in _descriptions(locations.release(policy)))


def _descriptions(root: Path) -> list[Path]:
    """Return the manifests and public policies of partitions, those of the releases before, too.

    Args:
        root: folder of the release without a partition; one that cannot be has none, and publishing says why.
    """
    patterns = (f"*/{MANIFEST}", f"*/*-policy-*.{BESIDE['policy']}")
    try:
        return [path for pattern in patterns for path in root.glob(pattern)]
    except OSError:
        return []


def _tells_of_stream(path: Path, release: str) -> bool:
    """Tell whether a manifest or a public policy is of a release whose records could wait."""
    try:
        data = read_small(path, MANIFEST_BYTES) or b""
        if not any(mark in data for mark in _MARKS):
            return False
        document: Any = json.loads(data)
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(document, dict) or document.get("release") != release:
        return False
    attributes, promised = document.get("attributes"), document.get("guarantee")
    if isinstance(attributes, dict) and attributes.get("stream") is not None:
        return True
    return isinstance(promised, list) and any(str(one).startswith(_PROMISED) for one in promised)
