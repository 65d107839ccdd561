"""What a stage of a release is, and what its work is done with."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import dagster as dg

from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.orchestration.upstream import upstream_keys
from anon_pipeline.orchestration.vault import location_of
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.responsible import Responsible
from anon_pipeline.publish.accounting.booking import Booking, booking
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import STAGES

_RETRIES = 2
RETRY_SECONDS = 10
"""Until a step is tried again; then twice as long."""
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True, slots=True)
class StageRun:
    """What a stage's work is done with: the policy, the deployment's folders, the run and its partition.

    vault: the IO manager of the private tables.
    observe: called with the progress of a search.
    read_source: reads the source, where Dagster does; None: the policy alone says how it is read.
    """

    policy: Policy
    folders: Locations
    partition: str | None
    run: str
    vault: object
    observe: Observer = ignore
    read_source: Callable[[], Table] | None = field(default=None, repr=False)

    def where(self) -> Where:
        """Return where the tables of this run belong."""
        return location_of(self.vault, self.policy, self.folders, self.partition)

    def booking(self) -> Booking:
        """Return what the ledger is asked of this run."""
        return booking(self.policy, self.folders, partition=self.partition, run=self.run)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One stage of a release: an asset made of the table of the stage before it.

    name: last part of its asset's key, ``<release>/<name>``.
    build: makes the asset, given the stages whose tables it takes, by argument.
    takes: argument for the table of the stage before; None for the first stage.
    needs: further stages whose tables it takes, by argument.
    """

    name: str
    build: Callable[[Mapping[str, str]], dg.AssetsDefinition]
    takes: str | None = "before"
    needs: Mapping[str, str] = field(default_factory=dict)

    def asset(self, before: str | None) -> dg.AssetsDefinition:
        """Return the asset after the stage of this name."""
        taken = {} if self.takes is None or before is None else {self.takes: before}
        return self.build({**taken, **self.needs})


def stage_key(policy: Policy, stage: str) -> dg.AssetKey:
    """Return the key of a stage's asset: ``<release>/<stage>``."""
    return dg.AssetKey([policy.name, stage])


def asset_declaration(policy: Policy, stage: str, meaning: str, ins: Mapping[str, str]) -> dict[str, Any]:
    """Return what all assets of a release are declared with."""
    private = stage != "published"
    return {
        "key": stage_key(policy, stage),
        "ins": {argument: dg.AssetIn(stage_key(policy, before)) for argument, before in ins.items()},
        "deps": [] if ins or stage != STAGES[0] else [*upstream_keys(policy), *_window_before(policy)],
        "description": meaning,
        "group_name": policy.name,
        "partitions_def": partitions_of(policy),
        "kinds": {"python", "parquet" if private else policy.publish.format},
        "tags": {"anon_pipeline/private": "true" if private else "false"},
        "owners": owners(policy),
    }


def _window_before(policy: Policy) -> list[dg.AssetDep]:
    """Return that a partition of a stream comes after the one before it: a backfill makes one at a time."""
    if policy.stream is None or not isinstance(partitions_of(policy), dg.TimeWindowPartitionsDefinition):
        return []
    before = dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)
    return [dg.AssetDep(stage_key(policy, STAGES[0]), partition_mapping=before)]


class Owned(Protocol):
    """The policy of a release of any kind, as far as it says whose it is."""

    @property
    def name(self) -> str:
        """Name of the release."""

    @property
    def responsible(self) -> Responsible | None:
        """Section with who answers for it."""


def run_options(policy: Owned) -> dict[str, Any]:
    """Return how the steps of a release are run: one run at a time, and again if a place did not answer.

    An instance holds the pool to one run where its `dagster.yaml` says so. A refusal and a bug are not
    retried, see `failures.as_failure`.
    """
    backoff = dg.Backoff.EXPONENTIAL
    return {
        "pool": f"anon_pipeline_{policy.name}",
        "retry_policy": dg.RetryPolicy(max_retries=_RETRIES, delay=RETRY_SECONDS, backoff=backoff),
    }


def owners(policy: Owned) -> list[str]:
    """Return whom Dagster names as the owner: the policy's ``responsible.contact``, if it is an address."""
    contact = None if policy.responsible is None else policy.responsible.contact
    return [contact] if contact is not None and _ADDRESS.fullmatch(contact) else []
