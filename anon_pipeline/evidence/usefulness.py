"""What a release keeps of the data: how far the noise moves a column, which columns say nothing any more."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import counted_cells
from anon_pipeline.encode.categories import category_noises, changed_places
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.known_categories import codes_of
from anon_pipeline.evidence.measures import compact_labels, require_originals
from anon_pipeline.evidence.simulated_releases import SEED, drawing_table
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.perturb.category_law import keep_probabilities
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.error import expected_relative_shift, shift_over_spread
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import sensitivities, shifts
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.model import Policy

NEARLY_ALL = 0.95
"""Share of the records in which a column is hidden, from which on it counts as hidden in all of them."""

_SIMULATED, _DRAWS = 2**17, 8  # records that are drawn for the shift of whole columns, and releases at most


def relative_error(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the mean of E|y − x|/|x| over the records in classes with x ≠ 0, before any noise is drawn.

    Args:
        name: perturb column with numbers.
    Returns:
        0 where no record has x ≠ 0: then nothing is lost that could be measured so.
    Source:
        [methods 9.2].
    """
    exact, moved = _expected_shifts(evidence, policy, name)
    error = expected_relative_shift(exact, np.zeros(len(exact), np.int64), shifts=moved)
    return 0.0 if error is None else error


def error_of_spread(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the mean of E|y − x| over the spread of the column, before any noise is drawn.

    Args:
        name: perturb column with numbers.
    Returns:
        Of the records in classes, see `perturb.error.shift_over_spread`; 0 where there is none.
    Source:
        [methods 9.2].
    """
    exact, moved = _expected_shifts(evidence, policy, name)
    return shift_over_spread(exact, moved) if len(exact) else 0.0


def kept_share(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of a column's values that is expected to be released as it is, before any is drawn.

    Args:
        name: perturb column of categories.
    Returns:
        Of the records in classes; 1 where there is none. Simulated for a column that is changed as a whole.
    Source:
        [methods 9.2].
    """
    originals = require_originals(evidence)
    if name in policy.changed_categories:
        return _simulated_kept_share(evidence, policy, name)
    noise = category_noises(policy)[name]
    values = originals.frame[name][originals.labels >= 0].astype(object)
    codes = pd.Index(noise.domain.values).get_indexer(pd.Index(values))
    if not len(codes):
        return 1.0
    keep = keep_probabilities(noise)
    return float(np.bincount(codes, minlength=len(keep)) @ keep) / len(codes)  # in no order of the records


def _simulated_kept_share(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of a changed column's values that stay, over releases as `simulated_shifts` has."""
    codes = codes_of(require_originals(evidence).frame, policy)
    known = {one: codes[:, at] for at, one in enumerate(policy.categorical)}
    table = drawing_table(evidence, policy, 1, known, codes[:, changed_places(policy)])
    column = len(policy.perturbed) + list(policy.changed_categories).index(name)
    entropy, own = seeded_entropy(SEED), table.noise.values[:, column]
    if not len(own):
        return 1.0
    draws = min(max(_SIMULATED // len(own), 1), _DRAWS)
    shares = [float((table.noise.draw_values(entropy)[:, column] == own).mean()) for _ in range(draws)]
    return float(np.mean(shares))


def _expected_shifts(
    evidence: Evidence, policy: Policy, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the (n,) original values of the records in classes and E|y − x| of each, in grid units."""
    originals, j = require_originals(evidence), list(policy.perturbed).index(name)
    within = originals.labels >= 0
    own, labels = quantize(originals.grid[within, j]), originals.labels[within]
    noise, bounds = noises(policy)[j], output_bounds(policy)[j]
    if noise.whole_column:
        return own.astype(np.float64), simulated_shifts(evidence, policy)[:, j]
    sensitivity = sensitivities(noise, class_diameters(own[:, None], compact_labels(labels))[:, 0])
    moved = shifts(noise, own, sensitivity[labels], bounds=bounds)
    return own.astype(np.float64), moved


def simulated_shifts(evidence: Evidence, policy: Policy) -> NDArray[np.float64]:
    """Return the mean of |y − x| of each record in classes and perturb column, over simulated releases.

    For columns that are changed as a whole, whose shift has no closed form. The noise is of a fixed seed,
    which no release uses, and the records are in an order of their values: their own order plays no part.

    Returns:
        (n', p) grid units, in the order of the records in classes; zeros without perturb columns.
    """
    table = drawing_table(evidence, policy, 1)
    behind, entropy = table.originals, seeded_entropy(SEED)
    total = np.zeros(table.noise.values.shape)
    draws = min(max(_SIMULATED // max(len(total), 1), 1), _DRAWS)
    for _ in range(draws):
        total += np.abs(table.noise.draw_values(entropy) - table.noise.values)
    found = np.zeros((len(behind.labels), len(policy.perturbed)))
    found[behind.own] = total / draws
    return found[require_originals(evidence).labels >= 0]


def fully_generalized_columns(evidence: Evidence, policy: Policy) -> list[str]:
    """Name the generalized columns of which nothing is left in the release, see `says_nothing`."""
    return [name for name in policy.generalized if says_nothing(*counted_cells(evidence.released, name))]


def says_nothing(cells: pd.Series, records: NDArray[np.int64]) -> bool:
    """Tell whether a released column has one value in all records, or is hidden in nearly all of them.

    Args:
        cells, records: see `hidden_share`.
    """
    return bool(cells.nunique(dropna=False) == 1) or hidden_share(cells, records) >= NEARLY_ALL


def hidden_share(cells: pd.Series, records: NDArray[np.int64]) -> float:
    """Return the share of the records in which a released column is hidden.

    Args:
        cells: (m,) of the column.
        records: (m,) that have each.

    >>> hidden_share(pd.Series(["*", "10"]), np.array([3, 1]))
    0.75
    """
    if isinstance(cells.dtype, pd.StringDtype):
        same = (cells == TOP).fillna(False)
    else:
        same = cells.astype(object) == TOP
    return float(records[same.to_numpy(bool)].sum() / records.sum()) if len(cells) else 0.0
