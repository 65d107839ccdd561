"""A release held against its input, record by record: what every measure of utility is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD, code_quasi_identifiers, label_codes
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy
from anon_pipeline.utility.covers import Recoded, find_covers
from anon_pipeline.utility.models import MOST_LABELS
from anon_pipeline.utility.records import Generalized, Numeric, Table


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A release of r records, and the n records of its input.

    evidence: of the release, with originals; ``policy``: that it was made by.
    table: every column before and after, in an order that does not depend on the rows'.
    labels: (n,) class of each record of the input, in its order; −1 for one that is not released.
    target: column that is predicted; None: none.
    answers: (n,) its value of each record of the input, numbered, in its order; 0 without a target.
    seed: of what is drawn at random.
    """

    evidence: Evidence = field(repr=False)
    policy: Policy = field(repr=False)
    table: Table = field(repr=False)
    labels: NDArray[np.int64] = field(repr=False)
    target: str | None
    answers: NDArray[np.int64] = field(repr=False)
    seed: int = 0

    @property
    def records(self) -> int:
        """Records of the input, n."""
        return len(self.labels)

    @property
    def sizes(self) -> NDArray[np.integer]:
        """Records of each class of the release, (m,)."""
        return self.evidence.classes.sizes


def compare(
    evidence: Evidence, policy: Policy, before: pd.DataFrame, *, target: str | None = None, seed: int = 0
) -> Comparison:
    """Hold a release against its input.

    Args:
        evidence: of the release, with originals.
        before: (n, columns) the table before recoding (stage ``deidentified``), with record ids.
        target: a sensitive or insensitive column to classify by; by default the policy's, else the first
            sensitive one with at most 64 values and no order of numbers.
        seed: of what is drawn at random.
    Raises:
        InputError: a file alone; records that ``before`` does not have; an unknown target; released values
            that the hierarchies do not make. With counts, without values.
    """
    originals = require_originals(evidence)
    before = same_records(before, originals)
    target = _target(policy, before, target)
    table = _table(evidence, policy, before, target)
    labels = np.full(len(before), -1, np.int64)
    labels[originals.own] = evidence.classes.labels
    answers = np.zeros(len(before), np.int64) if target is None else label_codes(before[target])
    return Comparison(evidence, policy, table, labels, target, answers, seed)


def same_records(before: pd.DataFrame, originals: Originals) -> pd.DataFrame:
    """Bring the table before recoding into the order of the originals."""
    rows = np.array([-1])
    if RECORD in before and len(before) == len(originals.frame) and before[RECORD].is_unique:
        rows = pd.Index(before[RECORD]).get_indexer(pd.Index(originals.frame[RECORD]))
    if (rows < 0).any():
        raise InputError("the table before recoding must have the records of the vault")
    return before.iloc[rows].reset_index(drop=True)


def _is_number(policy: Policy, name: str, before: pd.DataFrame) -> bool:
    dtype = before[name].dtype
    if name in policy.sensitive:
        return name in policy.numeric
    return bool(pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype))


def _target(policy: Policy, before: pd.DataFrame, wanted: str | None) -> str | None:
    """Choose the column that is classified by."""
    if wanted is not None and wanted not in policy.unchanged:
        raise InputError("target must be a sensitive or insensitive column of the policy")
    fit = (n for n in policy.sensitive if n not in policy.numeric and before[n].nunique() <= MOST_LABELS)
    return wanted or policy.anonymize.target or next(fit, None)


def _table(evidence: Evidence, policy: Policy, before: pd.DataFrame, target: str | None) -> Table:
    """Put every column before and after side by side; the target is read as categories, whatever it holds."""
    originals = require_originals(evidence)
    kept = np.zeros(len(before), np.bool_)
    kept[originals.own] = True
    numbers, categories = {}, {}
    for name in policy.unchanged:
        if name != target and _is_number(policy, name, before):
            own = before[name].to_numpy(np.float64, na_value=np.nan)
            own = np.where(np.isfinite(own), own, np.nan)
            numbers[name] = Numeric(own, np.where(kept, own, np.nan))
        else:
            categories[name] = label_codes(before[name])
    generalized = generalized_columns(policy, originals, before, kept, evidence.hierarchies)
    return Table(
        kept, generalized, _perturbed_columns(evidence, policy, before), numbers, categories
    ).in_order()


def generalized_columns(
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


def _perturbed_columns(evidence: Evidence, policy: Policy, before: pd.DataFrame) -> dict[str, Numeric]:
    own = require_originals(evidence).own
    found = {}
    for name in policy.perturbed:
        released = np.full(len(before), np.nan)
        released[own] = evidence.released[name].to_numpy(np.float64)
        found[name] = Numeric(before[name].to_numpy(np.float64), released)
    return found
