"""One recoding of the input, prepared for all ε and confidences that go with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.packed_tables import Table, without_index
from anon_pipeline.base.rows import take_rows
from anon_pipeline.encode.codes import CLASS, code_sensitive_of
from anon_pipeline.encode.grids import grid_units
from anon_pipeline.evidence.evidence import Evidence, Originals, people_in
from anon_pipeline.evidence.measures import class_limits
from anon_pipeline.evidence.spare import spare_records
from anon_pipeline.evidence.usefulness import says_nothing
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.linking import LinkingTable, linking_table
from anon_pipeline.risk.suppression import ClassLimit
from anon_pipeline.risk.survival import Line, sort_line
from anon_pipeline.stages.coarsen import coarsen
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, raw
from anon_pipeline.stages.private import Staged

_SEED = 0  # of random ids, which no release ever has: the same input gives the same numbers
_KEY = b"anon-pipeline/tuning"  # of people in memory; a release may keep others of their excess records


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """A recoding, its r records in an order that does not reveal that of the input.

    evidence: the records in classes as if all were released; of the columns, the limited sensitive ones and
        the drawn categories.
    classes: of the r records.
    originals: (r, p) perturb columns in grid units.
    diameters: (m, p) of the classes.
    spans: (p,) largest minus smallest value of each column in the input, in grid units.
    line: the column, where there is exactly one.
    linking: the originals, sorted, to measure whom noisy values are linked to.
    limits: what every class must keep by itself, see `measures.class_limits`.
    spare: (m,) records that each class may lose, whichever they are, and keep the limits t and l; −1: it
        breaks one as it is.
    records: n, of the input.
    people: (r,) whose record it is, 0 … P−1; None where records are counted.
    population: P, people of the input; n where records are counted.
    gaps: (g,) people of whom the recoding suppressed a record.
    information_loss: of the recoding.
    hidden: generalized columns with one value in all classes.
    """

    evidence: Evidence = field(repr=False)
    classes: EquivalenceClasses = field(repr=False)
    originals: NDArray[np.int64] = field(repr=False)
    diameters: NDArray[np.int64] = field(repr=False)
    spans: NDArray[np.float64] = field(repr=False)
    line: Line | None = field(repr=False)
    linking: LinkingTable = field(repr=False)
    limits: Mapping[str, ClassLimit] = field(repr=False)
    spare: NDArray[np.int64] = field(repr=False)
    records: int
    information_loss: float
    hidden: tuple[str, ...]
    people: NDArray[np.int64] | None = field(default=None, repr=False)
    population: int = 0
    gaps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)


def input_to_recode(policy: Policy, frame: Table, *, hierarchies: Path = Path()) -> Staged:
    """Return the table that is recoded: accepted, as coarse as the policy says, people by their records.

    Args:
        frame: (n, columns) personal data.
    Raises:
        InputError: the data does not fit the policy.
    """
    before = raw(policy, frame, entropy=seeded_entropy(_SEED), key=_KEY, hierarchies=hierarchies)
    if policy.person is not None:
        return deidentified(policy, before, key=_KEY, hierarchies=hierarchies)
    return replace(before, frame=coarsen(before.frame, policy, hierarchies=hierarchies))


def recode_input(
    policy: Policy, before: Staged, *, hierarchies: Path = Path(), observe: Observer = ignore
) -> Recoded:
    """Recode the input.

    Raises:
        InputError, InfeasibleError: see `pipeline.k_anonymized`.
    """
    after = k_anonymized(policy, before, hierarchies=hierarchies, observe=observe, telling=False)
    frame = without_index(after.frame)
    labels, grid = frame[CLASS].to_numpy(np.int64), grid_units(frame, policy)
    own = _order_rows(policy, frame, grid, hierarchies=hierarchies)
    classes = EquivalenceClasses(labels[own], np.bincount(labels[own]).astype(np.int64))
    limited = frame[[*policy.class_limited, *policy.drawn_categories]]
    people = people_in(frame, policy)
    behind = Originals(limited, labels, own, grid, people)
    evidence = Evidence(take_rows(limited, own), classes, behind, hierarchies)
    originals = quantize(grid.take(own, axis=0))
    return Recoded(
        evidence=evidence,
        classes=classes,
        originals=originals,
        diameters=class_diameters(originals, classes),
        spans=np.nanmax(grid, axis=0) - np.nanmin(grid, axis=0),
        line=sort_line(originals[:, 0], classes.labels) if originals.shape[1] == 1 else None,
        linking=linking_table(np.arange(len(own)), originals.astype(np.float64), labels=classes.labels),
        limits=class_limits(evidence, policy),
        spare=spare_records(policy, evidence),
        records=len(frame),
        information_loss=float(after.facts["k_anonymized"]["information_loss"]),
        hidden=tuple(
            one for one in policy.generalized if says_nothing(frame[one].take(own), np.ones_like(own))
        ),
        people=None if people is None else people[own],
        population=len(frame) if people is None else int(people.max()) + 1,
        gaps=np.empty(0, np.int64) if people is None else np.unique(people[labels < 0]),
    )


def _order_rows(
    policy: Policy, frame: Table, grid: NDArray[np.float64], *, hierarchies: Path
) -> NDArray[np.int64]:
    """Return the rows in classes by class, perturb columns and limited sensitive ones.

    What is equal in all of these is alike for whatever is computed here, so that simulated noise meets the
    same records whatever their order was.
    """
    labels = frame[CLASS].to_numpy(np.int64)
    codes = [
        code_sensitive_of(frame, name, policy.sensitive[name], folder=hierarchies)[0]
        for name in policy.class_limited
    ]
    people = people_in(frame, policy)
    codes = codes if people is None else [people, *codes]
    order = np.lexsort((*codes, *grid.T[::-1], labels))
    return order[labels[order] >= 0].astype(np.int64)
