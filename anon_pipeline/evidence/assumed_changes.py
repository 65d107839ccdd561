"""What attackers assume of columns that are changed as a whole, which have no law: simulated, with a seed.

Of numbers that small changes are likelier, on the scale of the column's median change; of categories what
becomes what more often than by chance in a class (`risk.category_lifts`).

Decision: docs/adr/0088-columns-changed-as-a-whole.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.encode.categories import category_domains, changed_places
from anon_pipeline.evidence.attacked_columns import median_shifts
from anon_pipeline.evidence.simulated_releases import DrawingTable
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.category_lifts import log_lifts, pair_counts

_SEED = 1  # of simulated changes, whatever input and policy
_RECORDS, _DRAWS = 2**17, 8  # whose pairs of categories are counted, in all draws; draws at most

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Assumptions:
    """What attackers assume of the columns of a policy that are changed as a whole.

    moved: (p,) median of |y − x| of each column with numbers, in grid units; empty without such columns that
        are changed as a whole.
    likely: of each column of categories that is changed as a whole, (D, D): ln of how much likelier an
        original is behind a released value than by chance.
    """

    moved: Reals = field(repr=False)
    likely: dict[str, Reals] = field(repr=False)


def assumptions(table: DrawingTable, policy: Policy) -> Assumptions:
    """Simulate what attackers assume; nothing is drawn without columns that are changed as a whole.

    Args:
        table: with the categories that are changed as a whole.
    """
    if not policy.changed_columns:
        return Assumptions(np.zeros(0), {})
    p, originals, entropy = len(policy.perturbed), table.noise.values, seeded_entropy(_SEED)
    drawn = table.noise.draw_values(entropy)
    moved = median_shifts(drawn[:, :p], originals[:, :p]) if policy.whole_columns else np.zeros(0)
    domains = list(category_domains(policy).items())
    changed = [domains[place] for place in changed_places(policy)]
    rows = _rows(table.labels.astype(np.int64))
    counts = [np.zeros((2, len(domain.values), len(domain.values))) for _, domain in changed]
    draws = min(max(_RECORDS // max(len(rows), 1), 1), _DRAWS) if changed else 1
    for draw in range(draws):
        drawn = drawn if draw == 0 else table.noise.draw_values(entropy)
        for at, (_, domain) in enumerate(changed):
            before, after = originals[rows, p + at].astype(np.int64), drawn[rows, p + at]
            labels = table.labels[rows].astype(np.int64)
            counts[at] += pair_counts(before, after, labels, len(domain.values))
    lifts = {name: log_lifts(*found) for (name, _), found in zip(changed, counts, strict=True)}
    return Assumptions(moved, lifts)


def _rows(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the records of every so many classes, about `_RECORDS` at most."""
    step = -(-len(labels) // _RECORDS)
    return np.flatnonzero(labels % step == 0) if step > 1 else np.arange(len(labels))
