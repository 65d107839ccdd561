"""Releases that the noise could have made of a recoded table, drawn with noise of a fixed seed.

No release uses this seed. Originals are put into an order of their values first, so that neither their order
nor the numbers of the classes change what is drawn: it is a function of the recoded table and the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.packed_tables import with_columns
from anon_pipeline.base.rows import some_rows, take_rows
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import class_limits, compact_labels, confidence_counter
from anon_pipeline.evidence.value_order import repeat_originals, sort_originals
from anon_pipeline.perturb.entropy import Entropy, seeded_entropy
from anon_pipeline.perturb.grid import from_grid, quantize
from anon_pipeline.perturb.noise import Drawing, prepare_noise
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.confidence import ConfidenceTable
from anon_pipeline.risk.people import PeopleTable
from anon_pipeline.risk.suppression import ClassLimit, suppress_unconfident

SEED = 0
"""Seed of simulated noise, whatever input and policy: another seed cannot be tried."""

_ONE_DRAWS = Lock()  # others wait for its releases


@dataclass(frozen=True, slots=True, eq=False)
class DrawingTable:
    """The r records in classes, in order of their values, some times over; classes of a copy are its own.

    labels: (r·copies,) class, 0 … m·copies−1.
    noise: of their perturb columns.
    near: of each class, what counts the originals within the confidence interval; None without a confidence.
    limits: that every class must keep.
    originals: with ``own`` the rows in the same order.
    """

    labels: NDArray[np.int64] = field(repr=False)
    noise: Drawing = field(repr=False)
    near: ConfidenceTable | PeopleTable | None = field(repr=False)
    limits: Mapping[str, ClassLimit] = field(repr=False)
    originals: Originals
    policy: Policy
    evidence: Evidence
    _drawn: list[Drawn | None] = field(default_factory=list, repr=False)

    def releases(self, many: int) -> Sequence[Drawn | None]:
        """Return some releases, drawn of a fixed seed and remembered; None where nobody is left."""
        with _ONE_DRAWS:
            if len(self._drawn) < many:
                entropy = seeded_entropy(SEED)
                self._drawn[:] = [self.draw_release(entropy) for _ in range(many)]
            return self._drawn[:many]

    def draw_release(self, entropy: Entropy) -> Drawn | None:
        """Draw the noise and leave out whom the policy leaves out; None where nobody is left."""
        values = self.noise.draw_values(entropy)
        keep = self._keep(self._counts(values))
        rows = np.flatnonzero(keep)
        return Drawn(self, values.take(rows, axis=0), rows) if len(rows) else None

    def stays(self, values: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell whom the own interval keeps by these noisy values, (r·copies, p), and who is released."""
        counts = self._counts(values)
        confident = np.ones(len(values), np.bool_) if counts is None else (counts == 0) | (counts >= self._k)
        return confident, self._keep(counts)

    @property
    def _k(self) -> int:
        return self.policy.anonymize.k

    def _keep(self, counts: NDArray[np.int64] | None) -> NDArray[np.bool_]:
        behind = self.originals
        people = None if behind.people is None else behind.people[behind.own]
        return suppress_unconfident(counts, self.labels, k=self._k, limits=self.limits, people=people).keep

    def _counts(self, values: NDArray[np.int64]) -> NDArray[np.int64] | None:
        if self.near is None:
            return None
        return self.near.counts(values.astype(np.float64), self.labels, cap=self._k)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A release that the noise could have made.

    table: what it was drawn of.
    values: (r', p) noisy values of the records that are released, in grid units.
    rows: (r',) of them in the table.
    """

    table: DrawingTable
    values: NDArray[np.int64] = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)

    def as_evidence(self) -> Evidence:
        """Return it as what the gate measures."""
        table, columns = self.table, {}
        own = table.originals.own[self.rows]
        frame = some_rows(table.originals.frame, own)
        others = dict.fromkeys(table.policy.categorical, 0)  # no attack that is measured here looks at them
        for j, (name, column) in enumerate(table.policy.perturbed.items()):
            columns[name] = from_grid(self.values[:, j], column.resolution)
        labels = rank_values(table.labels[self.rows], len(table.labels))[0]
        return Evidence(
            with_columns(frame, {**others, **columns}.items()),
            EquivalenceClasses(labels, np.bincount(labels).astype(np.int64)),
            replace(table.originals, own=own),
            table.evidence.hierarchies,
        )


Whole = Callable[[], DrawingTable]
"""Makes what releases are drawn of, of each record once."""


def drawing_table(
    evidence: Evidence, policy: Policy, copies: int, known: Mapping[str, NDArray[np.integer]] | None = None
) -> DrawingTable:
    """Return what releases of a policy can be drawn of; ``known``: see `value_order.sort_originals`."""
    behind = repeat_originals(sort_originals(evidence, policy, known), policy, copies)
    labels, exact = behind.labels[behind.own], quantize(behind.grid.take(behind.own, axis=0))
    classes = compact_labels(labels)
    return DrawingTable(
        labels,
        prepare_noise(exact, classes, noises=noises(policy), bounds=output_bounds(policy)),
        None if policy.suppress.confidence is None else confidence_counter(behind, policy),
        class_limits(all_released(behind, classes, evidence, policy), policy),
        behind,
        policy,
        evidence,
    )


def all_released(
    behind: Originals, classes: EquivalenceClasses, evidence: Evidence, policy: Policy
) -> Evidence:
    """Return the records in classes as if all were released, with the columns that classes are judged by."""
    frame = take_rows(behind.frame[policy.class_limited], behind.own)
    return Evidence(frame, classes, behind, evidence.hierarchies)
