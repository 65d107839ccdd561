"""How many records each class may lose, whichever they are, and keep t-closeness and l-diversity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.encode.codes import code_sensitive
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import class_closeness, class_diversity, diverse
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity
from anon_pipeline.risk.histograms import class_histograms


def spare_records(policy: Policy, evidence: Evidence) -> NDArray[np.int64]:
    """Return how many records each class may lose, whichever they are, and keep t and l, (m,).

    Without w of its m records a class has another distribution by at most w/m, and no ground distance is
    above 1: it keeps t while w ≤ m·(t − its distance). It keeps l distinct values until the rarest ones are
    gone. Of other kinds of diversity nothing is promised but of the whole class (0).

    Args:
        policy: with the limits.
        evidence: every record in a class.
    Returns:
        The size of a class that has no limits; −1 where it breaks one as it is.
    """
    sizes = evidence.classes.sizes
    spare = sizes.copy()
    for name, t in policy.gate.t_closeness.items():
        slack = t - class_closeness(evidence, policy, name) + 1e-12
        spare = np.minimum(spare, np.where(slack < 0, -1, np.floor(sizes * np.maximum(slack, 0))))
    for name, limit in policy.gate.l_diversity.items():
        spare = np.minimum(spare, _until_less_diverse(policy, evidence, name, limit))
    return np.asarray(spare, np.int64)


def _until_less_diverse(
    policy: Policy, evidence: Evidence, name: str, limit: LDiversity
) -> NDArray[np.int64]:
    holds = diverse(class_diversity(evidence, policy, name, limit), limit)
    if limit.kind != "distinct":
        return np.where(holds, 0, -1)
    codes, _ = code_sensitive(evidence.released[name], policy.sensitive[name], folder=evidence.hierarchies)
    classes = evidence.classes
    found = class_histograms(codes - min(int(codes.min()), 0), classes.labels, m=len(classes.sizes))
    order = np.lexsort((found.counts, found.classes))
    rank = np.arange(len(order)) - np.repeat(found.starts[:-1], np.diff(found.starts))
    gone = rank <= np.repeat(np.diff(found.starts) - int(limit.l), np.diff(found.starts))
    rarest = np.bincount(found.classes, weights=found.counts[order] * gone, minlength=len(classes.sizes))
    return np.where(holds, rarest.astype(np.int64) - 1, -1)
