"""A release made to be measured and thrown away: nothing is published, written or spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources import read_source
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means, Staged
from anon_pipeline.utility.filled_table import fillable_tables
from anon_pipeline.utility.results import Utility, utility
from anon_pipeline.utility.sql_workload import Workload, measure_workload


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A release in memory, and the tables behind it.

    policy: that it was made by.
    chain: the tables of its stages.
    before: the table before recoding, without the records beyond ``rows_per_person``.
    memory: what was published before; None without ``record_key``.
    hierarchies: folder of the hierarchy tables.
    """

    policy: Policy
    chain: Chain = field(repr=False)
    before: Table = field(repr=False)
    memory: Memory | None
    hierarchies: Path

    def evidence(self) -> Evidence:
        """Return what can be measured of it."""
        released, originals = self.chain.suppressed.frame, self.chain.k_anonymized.frame
        return evidence_from(released, self.policy, originals=originals, hierarchies=self.hierarchies)


def make_trial(policy: Policy, frame: Table, means: Means) -> Trial:
    """Make a release of a table in memory; the gate is not asked.

    Args:
        policy: what the release would be.
        frame: (n, columns) personal data.
        means: hierarchies, key, entropy, who observes.
    Raises:
        InputError, InfeasibleError: see the stages.
    """
    before: list[Staged] = []  # recoding: all stages from there on keep the order of its rows
    chain = run(policy, frame, means, without_identifiers=before.append)
    return Trial(policy, chain, before[0].frame, means.memory, means.hierarchies)


def measure_trial_of(
    policy: Policy,
    frame: Table,
    means: Means,
    *,
    target: str | None = None,
    workload: Workload | None = None,
) -> Utility:
    """Make a release of a table in memory and measure what an analyst would lose by it.

    Args:
        policy, frame, means: see `make_trial`.
        target: column to classify by, see `utility.results.utility`.
        workload: queries of the user, whose losses are then ``workload`` of the result.
    Raises:
        InputError, InfeasibleError: see the stages.
    """
    made = make_trial(policy, frame, means)
    means.observe(Step("utility"))
    with private_stage("utility"):
        evidence, before = made.evidence(), unpack_table(made.before)
        found = utility(evidence, policy, before, target=target)
        if workload is None:
            return found
        tables = fillable_tables(evidence, policy, before)
        asked = measure_workload(workload, tables.before, tables.fill_often())
        return Utility({**found.measured, "workload": {loss.name: loss for loss in asked}})


def trial_means(policy: Policy, locations: Locations, *, observe: Observer = ignore) -> Means:
    """Return what the stages need for a release that is made as if none had been published before.

    Raises:
        InputError: the key cannot be read.
    """
    with private_stage("key"):
        key = hashing_key(policy, folder=locations.sources)
    memory = None
    if policy.record_key is not None:
        memory = Memory.empty().rehash(memory_key(policy, key))
    return Means(locations.hierarchies, key, system_entropy(), memory=memory, observe=observe)


def measure_trial(
    policy: Policy,
    locations: Locations,
    *,
    partition: str | None = None,
    target: str | None = None,
    workload: Workload | None = None,
    observe: Observer = ignore,
) -> Utility:
    """Read the policy's source, make the release as if none had been published before, and measure it.

    Args:
        target: column to classify by.
        workload: queries of the user.
        observe: called when a stage begins, and now and then with how far a search is.
    Raises:
        InputError, InfeasibleError: see the stages.
    """
    locations.confine(policy, partition)
    means = trial_means(policy, locations, observe=observe)
    observe(Step("source"))
    with private_stage("source"):
        frame = read_source(policy, folder=locations.sources, partition=partition)
    return measure_trial_of(policy, frame, means, target=target, workload=workload)
