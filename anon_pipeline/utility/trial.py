"""A release made to be measured and thrown away: nothing is published, written or spent."""

from __future__ import annotations

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources import read_source
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means, Staged
from anon_pipeline.utility.results import Utility, utility


def measure_trial_of(policy: Policy, frame: Table, means: Means, *, target: str | None = None) -> Utility:
    """Make a release of a table in memory and measure what an analyst would lose by it.

    Args:
        policy: what the release would be; the gate is not asked.
        frame: (n, columns) personal data. What is measured against is what is recoded: without the records
            beyond ``rows_per_person``.
        means: hierarchies, key, entropy, who observes.
        target: column to classify by, see `utility.results.utility`.
    Raises:
        InputError, InfeasibleError: see the stages.
    """
    before: list[Staged] = []  # recoding: all stages from there on keep the order of its rows
    chain = run(policy, frame, means, without_identifiers=before.append)
    means.observe(Step("utility"))
    with private_stage("utility"):
        evidence = evidence_from(
            chain.suppressed.frame, policy, originals=chain.k_anonymized.frame, hierarchies=means.hierarchies
        )
        return utility(evidence, policy, unpack_table(before[0].frame), target=target)


def measure_trial(
    policy: Policy,
    locations: Locations,
    *,
    partition: str | None = None,
    target: str | None = None,
    observe: Observer = ignore,
) -> Utility:
    """Read the policy's source, make the release as if none had been published before, and measure it.

    Args:
        target: column to classify by.
        observe: called when a stage begins, and now and then with how far a search is.
    Raises:
        InputError, InfeasibleError: see the stages.
    """
    locations.confine(policy, partition)
    with private_stage("key"):
        key = hashing_key(policy, folder=locations.sources)
    observe(Step("source"))
    with private_stage("source"):
        frame = read_source(policy, folder=locations.sources, partition=partition)
    memory = None
    if policy.record_key is not None:
        memory = Memory.empty().rehash(memory_key(policy, key))
    means = Means(locations.hierarchies, key, system_entropy(), memory=memory, observe=observe)
    return measure_trial_of(policy, frame, means, target=target)
