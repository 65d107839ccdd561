"""The table of destinations: where a published release is delivered to, in addition to its folder.

A new kind is one entry here, the class that it names, and its field in ``policy/deliver.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class DestinationKind:
    """A kind of place that a release is delivered to.

    name: its key below ``publish.deliver`` in the policy.
    opens: place of the function from policy, folders of the deployment and partition to a
        `publish.deliver.delivery.Destination`.
    """

    name: str
    opens: str


DESTINATIONS: Mapping[str, DestinationKind] = MappingProxyType(
    {
        one.name: one
        for one in (
            DestinationKind("url", "anon_pipeline.publish.deliver.deliver_urls:at_url"),
            DestinationKind("url_env", "anon_pipeline.publish.deliver.deliver_urls:at_url_env"),
            DestinationKind("database_env", "anon_pipeline.publish.deliver.deliver_database:at_database_env"),
            DestinationKind("iceberg", "anon_pipeline.publish.deliver.deliver_iceberg:at_iceberg"),
            DestinationKind("delta", "anon_pipeline.publish.deliver.deliver_delta:at_delta"),
        )
    }
)
"""Where a release is delivered to, by its key below ``publish.deliver``."""
