"""The whole way in one call: for notebooks, and for the command line.

Belongs here: policy and data in, release out. Does not belong here: any step of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anon_pipeline.base.errors import PolicyError, private_stage
from anon_pipeline.base.observer import Observer, Progress, Step, ignore, observer_of
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.perturb.entropy import Entropy, system_entropy
from anon_pipeline.policy.contradictions import refuse_contradictions
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.source import placeless
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.publish.draws.preconditions import refuse_what_cannot_be_published
from anon_pipeline.publish.early_refusals import before_noise, read_memory, refuse_early
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.report import Exact, internal_report, release_html
from anon_pipeline.sources import read_source
from anon_pipeline.sources.population import Population, read_population
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.history.archive import Archive
from anon_pipeline.stages.history.memory import Memory, Past, remember
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means
from anon_pipeline.tuning.advise import with_advice

__all__ = ["Release", "anonymize", "make_release"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release:
    """A table made safe to publish, or refused.

    Who calls this has the originals, so nothing is held back: both are for the curator.

    report: the gate's verdicts, with all numbers; what may be published of it is its ``to_json()``.
    facts: of every stage, with all numbers; what may be published of them is in a manifest.
    """

    _frame: pd.DataFrame
    report: GateReport
    facts: Facts
    _memory: Memory | None = None
    _policy: Policy | None = None
    _hierarchies: Path = Path()

    def _repr_html_(self) -> str | None:
        """Show what is left, the verdicts and the risk by class in a notebook; of a refused one no table."""
        if self._policy is None:
            return None
        return release_html(self._policy, self._frame, self.facts, self.report, hierarchies=self._hierarchies)

    def __repr__(self) -> str:
        """Say whether it passed, and of how many records: a notebook must not show a refused table."""
        refused = ", ".join(v.limit for v in self.report.unkept)
        state = "passed" if self.report.passed else f"refused by {refused}"
        return f"Release({state}; {len(self._frame)} records)"

    @property
    def frame(self) -> pd.DataFrame:
        """The released table, (r, columns).

        Raises:
            GateRefused: the gate has not passed it.
        """
        refuse_unless_passed(self.report)
        return self._frame.copy()

    @property
    def memory(self) -> Memory | None:
        """What is published once this release is: hand it to the next call.

        None without ``record_key``, or if `anonymize` was not given what was published before.

        Raises:
            GateRefused: the gate has not passed the release; what was published before is still all there is.
        """
        refuse_unless_passed(self.report)
        return self._memory


def anonymize(
    policy: Policy,
    frame: pd.DataFrame,
    *,
    hierarchies: str | Path = ".",
    entropy: Entropy | None = None,
    outside: bool = False,
    memory: Memory | None = None,
) -> Release:
    """Make a release of a table in memory; only hierarchies, key and population are read, nothing is written.

    Args:
        policy: what the release is; its source and destination are not used.
        frame: (n, columns) personal data.
        hierarchies: folder that tables of hierarchies, a key file and a population are relative to.
        entropy: for tests; a release made with a seed is refused by the gate.
        outside: whether the policy's paths may leave that folder.
        memory: of the release before, see `Release.memory`; ``Memory.empty()`` says that nothing was
            published before; None says nothing: limits on all releases together are then unmeasured.
    Returns:
        The release with its facts and gate report; its frame can be had if the gate has passed it.
    Raises:
        InputError: the data does not fit the policy.
        InfeasibleError: no recoding within the limits.
        PolicyError: the policy has a budget, which only the ledger of `make_release` and Dagster can keep; or
            it contradicts itself, see `policy.contradictions`.
    """
    refuse_contradictions(policy)
    if policy.budget is not None:
        raise PolicyError("budget: cannot be kept in memory. Use make_release, the command line or Dagster.")
    folder = Path(hierarchies)
    Locations(folder, folder, folder, folder, outside=outside).confine(
        policy.model_copy(update={"source": placeless()})  # the frame takes its place
    )
    with private_stage("key"):
        key = hashing_key(policy, folder=folder)
    known = memory
    if policy.record_key is not None:
        known = (memory or Memory.empty()).rehash(memory_key(policy, key))
        memory = None if memory is None else known
    with private_stage("population"):
        population = read_population(policy, folder=folder, hierarchies=folder)
    means = Means(folder, key, entropy or system_entropy(), memory=known)
    chain = run(policy, frame, means, **before_noise(policy, folder))
    with private_stage("gate"):
        report = _judge(policy, chain, folder, memory=memory, population=population)
        if memory is not None and report.passed:
            past = Past(report.data_digest, None)
            memory = remember(memory, policy, chain.suppressed.frame, chain.k_anonymized.frame, past=past)
    facts = chain.suppressed.facts
    return Release(chain.suppressed.frame[policy.released], report, facts, memory, policy, folder)


def _judge(
    policy: Policy, chain: Chain, folder: Path, *, memory: Memory | None, population: Population | None
) -> GateReport:
    """Judge tables that were made in memory just now."""
    released = chain.suppressed
    return evaluate(
        released.frame,
        policy,
        released.facts,
        originals=chain.k_anonymized.frame,
        hierarchies=folder,
        memory=memory,
        population=population,
        descent=Descent(released.frame, released.lineage, Where(None, policy.name)),
    )


def make_release(  # noqa: PLR0913 - two are deprecated
    policy: Policy,
    locations: Locations,
    *,
    partition: str | None = None,
    observe: Observer = ignore,
    archive: Archive | None = None,
    reported: Callable[[bytes], None] | None = None,
    witness: Callable[[Chain, Memory | None], None] | None = None,
    told: Callable[[str], None] | None = None,
    searching: Callable[[Progress], None] | None = None,
) -> Published:
    """Read the policy's source, run all stages in memory, publish.

    Args:
        observe: called when a stage begins, and now and then with how far a search is.
        archive: keeps the memory of what was published, such as `publish.accounting.archive.VaultArchive`;
            needed with ``record_key``.
        reported: called with the internal report (private) once the release is published.
        witness: called with the private tables and the memory that the gate is about to judge.
        told: deprecated, as ``searching`` is: called with the name of each stage. Use ``observe``.
        searching: called now and then with how far a search is.
    Returns:
        What was written; its ``report`` has all numbers, since who calls this has the originals. What may be
        published of it is its ``to_json()``. The vault keeps the numbers, too, see `publish.measurements`.
    Raises:
        InputError, InfeasibleError, PublishError: see the stages and `publish`.
        GateRefused: see `publish`; its ``advice`` says what to change in the policy.
        PolicyError: the policy contradicts itself, see `policy.contradictions`; or it is weaker than a
            `policy.defaults.yaml` of the project accepts, see `policy.defaults_files`.
    """
    if told is not None or searching is not None:
        observe = observer_of(told, searching)
    refuse_early(policy, locations, partition, archive)
    with private_stage("ledger"):
        booked = booking(policy, locations, partition=partition)
    draws = draws_of(policy, locations, partition)
    opened = Opening(booked, draws)
    with private_stage("destination"):
        refuse_what_cannot_be_published(policy, locations, partition=partition)
    with private_stage("key"):
        key = hashing_key(policy, folder=locations.sources)
    observe(Step("source"))
    with private_stage("source"):
        frame = read_source(policy, folder=locations.sources, partition=partition)
    memory = None if archive is None else read_memory(archive, booked, partition)
    where, entropy = Where(None, policy.name, partition), system_entropy()
    means = Means(
        locations.hierarchies, key, entropy, opens=opened, memory=memory, observe=observe, where=where
    )
    with opened.fail_on_error():
        chain: Chain = run(policy, frame, means, **before_noise(policy, locations.hierarchies))
        observe(Step("gate"))
        if witness is not None:
            witness(chain, memory)
        advising = with_advice(policy, locations, partition=partition, observe=observe)
        with private_stage("published"), advising:
            written = publish(
                chain.suppressed,
                chain.k_anonymized.frame,
                policy,
                locations=locations,
                partition=partition,
                archive=archive,
                draws=draws,
                measured=measured_of(policy, locations, partition),
            )
    if reported is not None:
        with private_stage("report"):
            reported(_internal_page(policy, written, chain, hierarchies=locations.hierarchies))
    return written


def _internal_page(policy: Policy, written: Published, chain: Chain, *, hierarchies: Path) -> bytes:
    """Return the internal report of a release that was just published."""
    released, originals = chain.suppressed.frame, chain.k_anonymized.frame
    exact = Exact(chain.suppressed.facts, written.report)
    return internal_report(
        policy, written.manifest, released, originals, hierarchies=hierarchies, exact=exact
    )
