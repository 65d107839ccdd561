"""How many records each class may lose, whichever they are, and keep t-closeness and l-diversity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.encode.codes import code_sensitive_of
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import class_l_diversity, class_t_closeness, is_l_diverse
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity
from anon_pipeline.risk.histograms import class_histograms


def spare_records(policy: Policy, evidence: Evidence) -> NDArray[np.int64]:
    """Return how many records each class may lose, whichever they are, and keep its limits, (m,).

    Args:
        evidence: every record in a class.
    Returns:
        The size of a class that has no limits; −1 where it breaks one as it is.
    """
    spare = evidence.classes.sizes.copy()
    for kind, limits in policy.class_limits.items():
        for name, wanted in limits.items():
            spare = np.minimum(spare, import_entry(CLASS_LIMITS[kind].spare)(evidence, policy, name, wanted))
    return np.asarray(spare, np.int64)


def until_less_t_close(evidence: Evidence, policy: Policy, name: str, t: float) -> NDArray[np.float64]:
    """Return how many records each class may lose and be t-close; −1 where it is not, (m,).

    Without w of its m records a class has another distribution by at most w/m, and no ground distance is
    above 1: it keeps t while w ≤ m·(t − its distance).
    """
    slack = t - class_t_closeness(evidence, policy, name) + 1e-12
    return np.where(slack < 0, -1, np.floor(evidence.classes.sizes * np.maximum(slack, 0)))


def until_less_l_diverse(
    evidence: Evidence, policy: Policy, name: str, limit: LDiversity
) -> NDArray[np.int64]:
    """Return how many records each class may lose and be l-diverse; −1 where it is not, (m,).

    It keeps l distinct values until the rarest ones are gone. Of other kinds of diversity, and where people
    are counted, nothing is promised but of the whole class (0).
    """
    holds = is_l_diverse(class_l_diversity(evidence, policy, name, limit), limit)
    if limit.kind != "distinct" or evidence.people is not None:
        return np.where(holds, 0, -1)
    codes, _ = code_sensitive_of(evidence.released, name, policy.sensitive[name], folder=evidence.hierarchies)
    classes = evidence.classes
    found = class_histograms(codes - min(int(codes.min()), 0), classes.labels, m=len(classes.sizes))
    order = np.lexsort((found.counts, found.classes))
    rank = np.arange(len(order)) - np.repeat(found.starts[:-1], np.diff(found.starts))
    gone = rank <= np.repeat(np.diff(found.starts) - int(limit.l), np.diff(found.starts))
    rarest = np.bincount(found.classes, weights=found.counts[order] * gone, minlength=len(classes.sizes))
    return np.where(holds, rarest.astype(np.int64) - 1, -1)
