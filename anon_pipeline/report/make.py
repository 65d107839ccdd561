"""The two reports of a release: the public one, of released file and manifest alone, and the internal one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import Table, without_index
from anon_pipeline.base.threads import side_by_side_unless_huge
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import linking_risk_share
from anon_pipeline.evidence.selection import selection
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.columns import class_sizes, correlations, distributions
from anon_pipeline.report.findings import findings
from anon_pipeline.report.manifest_data import Exact, table_description
from anon_pipeline.report.page import Internal, page
from anon_pipeline.report.rows import known_rows


def public_report(policy: Policy, document: Mapping[str, Any], frame: Table) -> bytes:
    """Make the report that goes with a release: all of it can be had from released file, manifest and policy.

    Args:
        frame: (r, columns) the released table.
    Returns:
        One HTML file; equal for equal arguments.
    Raises:
        InputError: they do not belong together, see `manifest_data.table_description`.
    """
    said = table_description(document, policy, frame)
    parts: list[Callable[[], Any]] = [
        lambda: findings(policy, said, frame, class_sizes(policy, frame), internal=False),
        lambda: distributions(policy, [frame], k=policy.gate_k),
        lambda: correlations(policy, [frame]),
    ]
    found, columns, pairs = side_by_side_unless_huge(parts, records=len(frame))
    return_freed_memory(len(frame))
    return page(policy, said, columns, pairs, found)


def internal_report(
    policy: Policy,
    document: Mapping[str, Any],
    released: Table,
    originals: Table,
    *,
    hierarchies: Path = Path(),
    exact: Exact | None = None,
) -> bytes:
    """Make the report for the curator, which compares the release with the table that it was made from.

    Args:
        released: (r, columns) the vault's table of `suppressed`, with record ids.
        originals: (n, columns) the vault's table of `k_anonymized`.
        exact: facts and verdicts with all numbers; None: those of the manifest.
    Returns:
        One HTML file; private: what it shows of the originals is not protected.
    Raises:
        InputError: the manifest is of another table than the vault's; or as `table_description` says.
    """
    lacking = sorted(set(policy.released) - set(released.columns))
    if lacking:
        raise InputError(f"the vault's table must have the policy's columns, not there: {', '.join(lacking)}")
    names = set(policy.released)  # a policy that orders its columns otherwise is the same policy
    frame = without_index(released[[name for name in released.columns if name in names]])
    said = replace(table_description(document, policy, frame), exact=exact)
    evidence = evidence_from(released, policy, originals=originals, hierarchies=hierarchies)
    tables = [originals, frame]
    sizes = class_sizes(policy, frame, lambda rows: _linking_risk(evidence, policy, rows), evidence.people)
    return page(
        policy,
        said,
        distributions(policy, tables, k=policy.gate_k),
        correlations(policy, tables),
        findings(policy, said, frame, sizes, internal=True),
        internal=Internal(known_rows(evidence, policy), selection(evidence, policy)),
    )


def _linking_risk(evidence: Evidence, policy: Policy, rows: NDArray[np.int64]) -> float:
    """Return the linking risk of some released records; of their people, where these are counted."""
    labels = np.unique(evidence.classes.labels[rows], return_inverse=True)[1].astype(np.int64)
    return linking_risk_share(evidence.select(rows, labels), policy)
