"""Releases that the noise could have made of a recoded table, drawn with noise of a fixed seed.

No release uses this seed. Originals are put into an order of their values first, so that neither their order
nor the numbers of the classes change what is drawn: it is a function of the recoded table and the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import class_blocks, narrow_integers
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.packed_tables import with_columns
from anon_pipeline.base.rows import some_rows, take_rows
from anon_pipeline.encode.categories import category_changes
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
from anon_pipeline.risk.histograms import starts_of
from anon_pipeline.risk.people import PeopleTable
from anon_pipeline.risk.suppression import ClassLimit, suppress_unconfident

SEED = 0
"""Seed of simulated noise, whatever input and policy: another seed cannot be tried."""

_ONE_DRAWS = Lock()  # others wait for its releases


@dataclass(frozen=True, slots=True, eq=False)
class DrawingTable:
    """The r records in classes, in order of their values, some times over; classes of a copy are its own.

    labels: (r·copies,) class, 0 … m·copies−1, ascending.
    noise: of their p perturb columns with numbers, and of w categories that are changed as a whole, if any.
    near: of each class, what counts the originals within the confidence interval; None without a confidence.
    limits: that every class must keep.
    originals: with ``own`` the rows in the same order.
    """

    labels: NDArray[np.signedinteger] = field(repr=False)
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
        parts = []
        for part, values in self.noise.draw_blocks(entropy, self._blocks()):
            rows = np.flatnonzero(self._stays(part, values)[1])
            parts.append((narrow_integers(values.take(rows, axis=0)), narrow_integers(rows + part.start)))
        if not any(len(rows) for _, rows in parts):
            return None
        of = replace(self, _drawn=[])  # no cycle of references: what nobody needs is freed at once
        return Drawn(of, *(np.concatenate(own) for own in zip(*parts, strict=True)))

    def stays(self, values: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell whom the own interval keeps by these noisy values, (r·copies, p), and who is released."""
        confident, keep = np.empty((2, len(values)), np.bool_)
        for part in self._blocks():
            confident[part], keep[part] = self._stays(part, values[part])
        return confident, keep

    def _blocks(self) -> Iterator[slice]:
        """Yield the records of some classes after those of others."""
        starts = starts_of(np.bincount(self.labels))
        for run in class_blocks(starts):
            yield slice(int(starts[run.start]), int(starts[run.stop]))

    def _stays(self, part: slice, values: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Do as `stays` does for the records of some whole classes; ``values`` are theirs."""
        k, labels, behind = self.policy.anonymize.k, self.labels[part], self.originals
        counts = None
        if self.near is not None:
            counts = self.near.counts(values[:, : behind.grid.shape[1]].astype(np.float64), labels, cap=k)
        confident = np.ones(len(values), np.bool_) if counts is None else (counts == 0) | (counts >= k)
        people = None if behind.people is None else behind.people[behind.own[part]]
        limits = {name: partial(_of_block, limit, part.start) for name, limit in self.limits.items()}
        found = suppress_unconfident(counts, labels - labels[0], k=k, limits=limits, people=people)
        return confident, found.keep


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A release that the noise could have made.

    table: what it was drawn of.
    values: (r', p + w) noisy values of the records that are released, in grid units, then codes; in few
        bytes.
    rows: (r',) of them in the table; in few bytes.
    """

    table: DrawingTable
    values: NDArray[np.signedinteger] = field(repr=False)
    rows: NDArray[np.signedinteger] = field(repr=False)

    @property
    def numbers(self) -> NDArray[np.signedinteger]:
        """Noisy values of the columns with numbers, (r', p)."""
        return self.values[:, : self.table.originals.grid.shape[1]]

    def as_evidence(self) -> Evidence:
        """Return it as what the gate measures."""
        table, columns = self.table, {}
        own = table.originals.own[self.rows]
        frame = some_rows(table.originals.frame, own)
        others = dict.fromkeys(table.policy.categorical, 0)  # no attack that is measured here looks at them
        for j, (name, column) in enumerate(table.policy.perturbed.items()):
            columns[name] = from_grid(self.values[:, j].astype(np.int64), column.resolution)
        labels = rank_values(table.labels[self.rows].astype(np.int64), len(table.labels))[0]
        return Evidence(
            with_columns(frame, {**others, **columns}.items()),
            EquivalenceClasses(labels, np.bincount(labels).astype(np.int64)),
            replace(table.originals, own=own),
            table.evidence.hierarchies,
        )


Whole = Callable[[], DrawingTable]
"""Makes what releases are drawn of, of each record once."""


def drawing_table(
    evidence: Evidence,
    policy: Policy,
    copies: int,
    known: Mapping[str, NDArray[np.integer]] | None = None,
    changed: NDArray[np.int64] | None = None,
) -> DrawingTable:
    """Return what releases of a policy can be drawn of.

    Args:
        known: see `value_order.sort_originals`.
        changed: (n, w) codes of the categories that are changed as a whole, which ``known`` has, too; None:
            nothing looks at them.
    """
    behind = repeat_originals(sort_originals(evidence, policy, known), policy, copies)
    classes = compact_labels(behind.labels[behind.own])
    noise, labels = _noise_of(behind, classes, policy, copies, changed), narrow_integers(classes.labels)
    near = None if policy.suppress.confidence is None else confidence_counter(behind, policy)
    limits = class_limits(all_released(behind, classes, evidence, policy), policy)
    del classes
    return_freed_memory(len(labels))
    return DrawingTable(labels, replace(noise, labels=labels), near, limits, behind, policy, evidence)


def _noise_of(
    behind: Originals,
    classes: EquivalenceClasses,
    policy: Policy,
    copies: int,
    changed: NDArray[np.int64] | None,
) -> Drawing:
    """Prepare the noise of the records ``own``, of these classes; their values in few bytes."""
    exact = quantize(behind.grid.take(behind.own, axis=0))
    under, bounds = noises(policy), output_bounds(policy)
    if changed is not None and changed.shape[1]:
        exact = np.hstack((exact, changed[behind.own % len(changed)]))
        under, bounds = (*under, *category_changes(policy).values()), [*bounds, *[None] * changed.shape[1]]
    found = prepare_noise(exact, classes, noises=under, bounds=bounds, copies=copies)
    return replace(found, values=narrow_integers(exact))


def _of_block(
    limit: ClassLimit, first: int, positions: NDArray[np.int64], labels: NDArray[np.int64], m: int
) -> NDArray[np.bool_]:
    """Ask a limit about classes of a block; ``first`` is the first record of the block."""
    return limit(positions + first, labels, m)


def all_released(
    behind: Originals, classes: EquivalenceClasses, evidence: Evidence, policy: Policy
) -> Evidence:
    """Return the records in classes as if all were released, with the columns that classes are judged by."""
    frame = take_rows(behind.frame[policy.class_limited], behind.own)
    return Evidence(frame, classes, behind, evidence.hierarchies)
