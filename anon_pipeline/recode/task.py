"""What every recoder is asked, and what it returns, whatever algorithm answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.notebook import object_html, tabular
from anon_pipeline.base.observer import Observer, ignore
from anon_pipeline.base.observer import Progress as Progress  # noqa: PLC0414 - for the recoders
from anon_pipeline.catalog.losses import DEFAULT_LOSS
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.by_record import ByRecord

if TYPE_CHECKING:  # the module holds kernels, and numba takes most of a second
    from anon_pipeline.risk.t_closeness import Distance


MOST_NODES = 10_000_000
"""Nodes of the largest lattice that is searched, if the policy sets no other limit."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """l-diversity of one of three kinds; c with ``recursive`` alone."""

    kind: Literal["distinct", "entropy", "recursive"]
    l: float  # noqa: E741 - the field's own letter
    c: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveLimit:
    """What classes must keep of one sensitive column; its values are 0 … v−1, in order where that is needed.

    column: its name.
    whole: (v,) records of the whole input with each value, records suppressed before recoding included.
    distance: ground distance of the earth mover's distance.
    lookups: for ``hierarchical``, as `risk.t_closeness` takes them.
    t: largest distance of a class to the whole; None: not limited.
    diversity: None: not limited.
    people: whether its values are the people themselves, of whom each class must have k.
    """

    column: str
    whole: NDArray[np.int64] = field(repr=False)
    distance: Distance = "equal"
    lookups: tuple[NDArray[np.int64], ...] | None = field(default=None, repr=False)
    t: float | None = None
    diversity: Diversity | None = None
    people: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Constraints:
    """What a recoding must keep.

    k: records in the smallest class, ≥ 1.
    max_suppressed: records that may be suppressed.
    sensitive: columns with limits; none: k alone.
    """

    k: int
    max_suppressed: int
    sensitive: tuple[SensitiveLimit, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One question to a recoder; the table is passed separately, as tuples and counts.

    hierarchies: q hierarchies, one for each generalized column.
    constraints: what every class must keep.
    recoder: who is asked.
    loss: what to minimize, by its name; recoders that minimize something of their own measure it.
    weights: (q,) of the columns in the loss, > 0; none: all alike.
    prefer: criterion among k-minimal nodes, for the recoders that know several.
    gone: records that were suppressed before recoding; they count in the loss, not in the table.
    most_nodes: a larger lattice is refused.
    cells: whether single cells may be suppressed before whole records are (full-domain recoders).
    told: called now and then with the progress of a search, and with what a search has proven.
    gamma: how willingly ``vmdav`` lets clusters grow, ≥ 0.
    levels: (q,) of each column's hierarchy, for ``fixed`` alone.
    by_record: the records, where they are in memory; None: they were counted elsewhere.
    """

    hierarchies: tuple[Hierarchy, ...]
    constraints: Constraints
    recoder: str
    loss: str = DEFAULT_LOSS
    weights: tuple[float, ...] = ()
    prefer: str = "loss"
    gone: int = 0
    most_nodes: int = MOST_NODES
    cells: bool = False
    told: Observer = field(default=ignore, repr=False)
    gamma: float = 0.2
    levels: tuple[int, ...] = ()
    by_record: ByRecord | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """A generalized value for each cell of n records and q quasi-identifiers.

    codes: (n, q), in any type that holds them; column j indexes ``values[j]``; a suppressed record is −1 in
        every column.
    values: q object arrays; the released value of each code; None is a missing value.
    levels: level of each quasi-identifier, for full-domain recodings; None for local ones.
    loss: information loss in [0, 1] by the loss that was asked for, records gone before included.
    suppressed: records suppressed, s, those gone before not included.
    checked: lattice nodes whose class sizes were counted; 0 where there is no lattice.
    cells: cells suppressed one by one, in records that are released.
    sse: mean squared distance of a released cell from its original, in [0, 1]; microaggregation alone.
    """

    codes: NDArray[np.signedinteger] = field(repr=False)
    values: tuple[NDArray[np.object_], ...] = field(repr=False)
    levels: tuple[int, ...] | None
    loss: float
    suppressed: int
    checked: int
    cells: int = 0
    sse: float | None = None

    def _repr_html_(self) -> str:
        """Show loss, suppression, classes and levels in a notebook, without values."""
        kept = self.codes[(self.codes >= 0).all(axis=1)]
        sizes = np.unique(kept, axis=0, return_counts=True)[1] if len(kept) else np.zeros(1, np.int64)
        numbers = [
            ("information loss", f"{self.loss:.4g}"),
            ("records suppressed", f"{self.suppressed:,}"),
            ("cells suppressed", f"{self.cells:,}"),
            ("classes", f"{len(sizes) if len(kept) else 0:,}"),
            ("smallest, median, largest class", f"{sizes.min():,}, {np.median(sizes):,g}, {sizes.max():,}"),
            *([("lattice nodes counted", f"{self.checked:,}")] if self.checked else []),
            *([] if self.sse is None else [("mean squared distance", f"{self.sse:.4g}")]),
        ]
        columns = [
            (j, "by class" if self.levels is None else self.levels[j], f"{len(np.unique(kept[:, j])):,}")
            for j in range(self.codes.shape[1])
        ]
        levels = tabular(["quasi-identifier", "level", "released values"], columns)
        return object_html("Recoding", [tabular(["of the recoding", ""], numbers), levels])
