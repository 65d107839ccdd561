"""A release and all that it is judged by; what several limits need of it is computed once, in one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.base.threads import shared_property
from anon_pipeline.encode.categories import noisy_units
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.encode.grids import noises
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.identifying_columns import utc_today
from anon_pipeline.evidence.known_attack import KnownAttack, known_attack
from anon_pipeline.evidence.known_table import KnownTable, known_table
from anon_pipeline.evidence.population_risk import sampled_risk
from anon_pipeline.evidence.simulated_releases import DrawingTable
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.history.cross_release import history
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.history.memory import Memory, class_texts
from anon_pipeline.stages.history.sticky import recall
from anon_pipeline.stages.lineage import Descent

Need = Literal["originals", "memory", "population"]

MISSING: dict[Need, str] = {
    "originals": "needs the originals",
    "memory": "needs the memory of what was published; Memory.empty() says that nothing was",
    "population": "needs the population table",
}
"""Why a limit stays unmeasured, by what it lacks."""


@dataclass(frozen=True, slots=True, eq=False)
class StickyNoise:
    """Released noisy values, and what was published of them before, in the order of `Policy.noisy`.

    released: (r, p) grid units, or codes of a domain.
    noisy: (r, p) as published; without meaning where ``known`` is False.
    known: (r, p) whether it was published, and must stay.
    """

    released: NDArray[np.int64] = field(repr=False)
    noisy: NDArray[np.int64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Case:
    """A release, and all that it is judged by.

    policy: its limits.
    release: (r, columns) the table to be published, with the record ids where there are originals.
    evidence: of it.
    facts: of the stages; None for a file alone.
    descent: what the tables were made from; None: of whoever made them just now.
    memory: what was published before; None: not known.
    population: whom the records are a sample of; None: not known.
    in_ledger: what the ledger has of other releases.
    today: day on which what the policy acknowledges must hold.
    """

    policy: Policy
    release: Table = field(repr=False)
    evidence: Evidence = field(repr=False)
    facts: Facts | None = field(default=None, repr=False)
    descent: Descent | None = field(default=None, repr=False)
    memory: Memory | None = field(default=None, repr=False)
    population: Population | None = field(default=None, repr=False)
    in_ledger: InLedger = NOTHING_IN_LEDGER
    today: date = field(default_factory=utc_today)

    @property
    def has(self) -> dict[Need, bool]:
        """Whether there is what a limit may need."""
        return {
            "originals": self.evidence.originals is not None,
            "memory": self.memory is not None,
            "population": self.population is not None,
        }

    @shared_property
    def population_risk(self) -> PopulationRisk:
        """What an attacker who knows the population learns; computed once for all limits on it.

        Raises:
            InputError: there is no population.
        """
        if self.population is None:
            raise InputError(MISSING["population"])
        return sampled_risk(self.evidence, self.policy, self.population)

    @shared_property
    def known_attack(self) -> KnownAttack:
        """What an attacker who knows some columns is measured by; drawn once for all sets of columns.

        Raises:
            InputError: a file alone.
        """
        return known_attack(self.evidence, self.policy, self._known_table)

    @shared_property
    def _known_table(self) -> KnownTable:
        return known_table(self.evidence, self.policy)

    def whole_table(self) -> DrawingTable:
        """Return what releases are drawn of, of a large table; made once for all limits.

        Raises:
            InputError: a file alone.
        """
        return self._known_table.table

    @property
    def noises(self) -> tuple[Noise, ...]:
        """What the noise of each perturb column with numbers is drawn under, (p,)."""
        return noises(self.policy)

    @shared_property
    def histories(self) -> NDArray[np.int64]:
        """The class of each person in each release, (people, releases), this one last; −1 for none.

        Raises:
            InputError: there is no memory, or see `persons`.
        """
        classes = class_texts(self.evidence.released, self.policy)
        return history(self._known, self.persons[PERSON], classes)

    @shared_property
    def sticky_noise(self) -> StickyNoise:
        """The released noisy values, and those of them that were published before and must stay.

        Raises:
            InputError: there is no memory, or see `persons`.
        """
        found = recall(self._known, self.policy, self.persons, noisy_units(self.persons, self.policy))
        return StickyNoise(noisy_units(self.evidence.released, self.policy), found.noisy, found.known)

    @property
    def _known(self) -> Memory:
        if self.memory is None:
            raise InputError(MISSING["memory"])
        return self.memory

    @shared_property
    def persons(self) -> Table:
        """The originals of the released records, record by record, with their people.

        Raises:
            InputError: the vault's tables do not say who they are.
        """
        behind = self.evidence.originals
        if behind is None or PERSON not in behind.frame:
            raise InputError("the vault must have the people of its records: materialize deidentified again")
        return some_rows(behind.frame, behind.own)
