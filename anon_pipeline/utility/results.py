"""All that an analyst loses by a release, in one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.values import to_texts
from anon_pipeline.encode.codes import RECORD, code_quasi_identifiers
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.selection import Selection, selection
from anon_pipeline.perturb.error import RealizedError, expected_relative_shift, realized_error
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import sensitivities, shifts
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.columns import Insensitive, Sensitive
from anon_pipeline.policy.model import Policy
from anon_pipeline.utility import cells, class_losses
from anon_pipeline.utility.covers import Recoded, find_covers
from anon_pipeline.utility.features import line_numbers
from anon_pipeline.utility.models import MOST_LABELS, Accuracy, classifier_accuracy, propensity_score
from anon_pipeline.utility.moments import Discrepancy, discrepancy
from anon_pipeline.utility.queries import QueryErrors, draw_queries, query_errors
from anon_pipeline.utility.records import Generalized, Numeric, Table, Unchanged


@dataclass(frozen=True, slots=True)
class NoiseError:
    """The error of one perturb column.

    realized: of the released records.
    expected: mean of E|y − x|/|x| before noise was drawn, over the records that have a class; None if all
        x are 0.
    sse: Σ (y − x)² over the released records, in the column's unit squared.
    """

    realized: RealizedError
    expected: float | None
    sse: float


@dataclass(frozen=True, slots=True)
class Utility:
    """What a release loses. None where a measure has nothing to measure; see docs/utility.md.

    records: of the input, n; ``released``: r; ``classes``: of the release.
    precision, numerical_precision, granularity, entropy: losses by cell, in [0, 1].
    absolute_distance, relative_distance: levels, of full-domain recodings.
    discernibility: Σ m² + n·s; ``average_class_size``: in records; ``classification``: in [0, 1].
    mean_squared_error: of generalized numbers, in [0, 1].
    noise: by perturb column.
    moments: discrepancy of means, variances, correlations.
    propensity: pMSE, 0 where release and input cannot be told apart.
    target: column that ``classification`` and ``classifier`` are about.
    classifier: accuracy, trained on release and on input.
    queries: relative errors of range counts.
    selection: whom the confidence leaves out, and what that does to perturb columns.
    """

    records: int
    released: int
    classes: int
    precision: float | None
    numerical_precision: float | None
    granularity: float | None
    entropy: float | None
    absolute_distance: int | None
    relative_distance: float | None
    discernibility: int
    average_class_size: float
    classification: float | None
    mean_squared_error: float | None
    noise: Mapping[str, NoiseError]
    moments: Discrepancy
    propensity: float | None
    target: str | None
    classifier: Accuracy | None
    queries: QueryErrors | None
    selection: Selection | None = None


def utility(
    evidence: Evidence, policy: Policy, before: pd.DataFrame, *, target: str | None = None, seed: int = 0
) -> Utility:
    """Measure everything that an analyst loses.

    Args:
        evidence: of the release, with originals.
        before: (n, columns) the table before recoding (stage ``deidentified``), with record ids.
        target: a sensitive or insensitive column to classify by; by default the policy's, else the first
            sensitive one with at most 64 values and no order of numbers.
        seed: of the random queries.
    Returns:
        The measures, whatever the order of the rows.
    Raises:
        InputError: a file alone; records that ``before`` does not have; an unknown target; released values
            that the hierarchies do not make. With counts, without values.
    """
    originals = require_originals(evidence)
    before = _same_records(before, originals)
    target = _target(policy, before, target)
    table = before_and_after(evidence, policy, before, target=target)
    columns, n = list(table.generalized.values()), len(before)
    labels = np.full(n, -1, np.int64)
    labels[originals.own] = evidence.classes.labels
    kept = None if target is None else class_losses.classification(_codes(before[target]), labels)
    return Utility(
        records=n,
        released=len(evidence.released),
        classes=len(evidence.classes.sizes),
        precision=cells.precision(columns),
        numerical_precision=cells.numerical_precision(columns),
        granularity=cells.granularity(columns),
        entropy=cells.entropy(columns),
        absolute_distance=cells.absolute_distance(columns),
        relative_distance=cells.relative_distance(columns),
        discernibility=class_losses.discernibility(evidence.classes.sizes, n=n),
        average_class_size=class_losses.average_class_size(evidence.classes.sizes, n=n),
        classification=kept,
        mean_squared_error=cells.mean_squared_error(columns),
        noise=_noise(table, originals, policy),
        moments=_moments(table),
        propensity=propensity_score(table),
        target=target,
        classifier=_classifier(table, target),
        queries=query_errors(table, draw_queries(table, seed=seed)),
        selection=selection(evidence, policy),
    )


def _same_records(before: pd.DataFrame, originals: Originals) -> pd.DataFrame:
    """Bring the table before recoding into the order of the originals."""
    rows = np.array([-1])
    if RECORD in before and len(before) == len(originals.frame) and before[RECORD].is_unique:
        rows = pd.Index(before[RECORD]).get_indexer(pd.Index(originals.frame[RECORD]))
    if (rows < 0).any():
        raise InputError("the table before recoding must have the records of the vault, got others")
    return before.iloc[rows].reset_index(drop=True)


def _codes(series: pd.Series) -> NDArray[np.int64]:
    """Number the values of a column in text order, a missing one as any other, (n,)."""
    return pd.factorize(to_texts(series), sort=True, use_na_sentinel=False)[0].astype(np.int64)


def _is_number(policy: Policy, name: str, before: pd.DataFrame) -> bool:
    column, dtype = policy.columns[name], before[name].dtype
    if isinstance(column, Sensitive):
        return name in policy.numeric
    return bool(pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype))


def _target(policy: Policy, before: pd.DataFrame, wanted: str | None) -> str | None:
    """Choose the column that is classified by."""
    if wanted is not None:
        if not isinstance(policy.columns.get(wanted), (Sensitive, Insensitive)):
            raise InputError("target must be a sensitive or insensitive column of the policy, got another")
        return wanted
    if policy.anonymize.target is not None:
        return policy.anonymize.target
    fit = (n for n in policy.sensitive if n not in policy.numeric and before[n].nunique() <= MOST_LABELS)
    return next(fit, None)


def before_and_after(
    evidence: Evidence, policy: Policy, before: pd.DataFrame, *, target: str | None = None
) -> Table:
    """Put every column before and after side by side, in an order that does not depend on the rows'.

    Args:
        evidence: of the release, with originals.
        before: (n, columns) the table before recoding, in the order of the originals.
        target: a column that is read as categories, whatever it holds.
    """
    originals, n = require_originals(evidence), len(before)
    kept = np.zeros(n, np.bool_)
    kept[originals.own] = True
    numbers, categories = {}, {}
    for name, column in policy.columns.items():
        if isinstance(column, (Sensitive, Insensitive)):
            if name != target and _is_number(policy, name, before):
                own = before[name].to_numpy(np.float64, na_value=np.nan)
                own = np.where(np.isfinite(own), own, np.nan)
                numbers[name] = Numeric(own, np.where(kept, own, np.nan))
            else:
                categories[name] = Unchanged(_codes(before[name]))
    table = Table(
        kept,
        _generalized(policy, originals, before, kept, evidence.hierarchies),
        _perturbed(evidence, policy, before),
        numbers,
        categories,
    )
    return table.in_order()


def _generalized(
    policy: Policy, originals: Originals, before: pd.DataFrame, kept: NDArray[np.bool_], folder: Path
) -> dict[str, Generalized]:
    """Find what the released values of every generalize column cover."""
    coded = code_quasi_identifiers(before, policy, folder=folder)
    found: dict[str, Generalized] = {}
    problems: list[str] = []
    for j, (name, column) in enumerate(policy.generalized.items()):
        recoded = Recoded(
            coded.hierarchies[j], column.hierarchy, coded.codes[:, j], originals.frame[name], originals.labels
        )
        try:
            found[name] = find_covers(recoded, policy.anonymize.recoder).only(kept)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return found


def _perturbed(evidence: Evidence, policy: Policy, before: pd.DataFrame) -> dict[str, Numeric]:
    own = require_originals(evidence).own
    found = {}
    for name in policy.perturbed:
        released = np.full(len(before), np.nan)
        released[own] = evidence.released[name].to_numpy(np.float64)
        found[name] = Numeric(before[name].to_numpy(np.float64), released)
    return found


def _noise(table: Table, originals: Originals, policy: Policy) -> dict[str, NoiseError]:
    """Measure the error of every perturb column."""
    if not policy.perturbed:
        return {}
    inside = originals.labels >= 0
    exact = quantize(np.where(inside[:, None], originals.grid, 0.0))  # −1 may lack a value
    sizes = np.bincount(originals.labels[inside]).astype(np.int64)
    diameters = class_diameters(exact, EquivalenceClasses(originals.labels, sizes))
    found, bounds = {}, output_bounds(policy)
    for j, (name, noise) in enumerate(zip(policy.perturbed, noises(policy), strict=True)):
        column = table.perturbed[name]
        own, released = column.own[table.kept], column.released[table.kept]
        found[name] = NoiseError(
            realized_error(released, own, span=float(np.nanmax(column.own) - np.nanmin(column.own))),
            expected_relative_shift(
                exact[:, j].astype(np.float64),
                originals.labels,
                shifts=shifts(
                    noise,
                    exact[:, j],
                    sensitivities(noise, diameters[:, j])[originals.labels],  # of −1 any: not measured
                    bounds=bounds[j],
                ),
            ),
            float(np.square(released - own).sum()),
        )
    return found


def _classifier(table: Table, target: str | None) -> Accuracy | None:
    if target is None or target not in table.categories:
        return None
    return classifier_accuracy(table, target)


def _moments(table: Table) -> Discrepancy:
    """Compare the moments of all columns of numbers and ranks."""
    lines = [c for c in table.generalized.values() if c.hierarchy.places is not None]
    pairs = [line_numbers(column) for column in lines]
    pairs += [(c.own, c.released[table.kept]) for c in (*table.perturbed.values(), *table.numbers.values())]
    before = np.stack([np.empty(len(table.kept)), *(pair[0] for pair in pairs)], axis=1)[:, 1:]
    after = np.stack([np.empty(int(table.kept.sum())), *(pair[1] for pair in pairs)], axis=1)[:, 1:]
    return discrepancy(before, after)
