"""Which records of a partition wait: those whose class would be too small, and who may wait longer.

The recoder decides, as it does for the release, but may leave out as many as may wait. Where it finds one
class alone, all wait. Records that lack a value of a perturb or sensitive column do not wait: they are
suppressed whatever comes later.

Source: a delay after which a record is released in a class with others, or not at all, is the idea of Cao,
Carminati, Ferrari and Tan: CASTLE (2011), [DB 11.2].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.base.rows import keep_rows
from anon_pipeline.encode.codes import CLASS, mark_incomplete
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.stream import Stream
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, raw
from anon_pipeline.stages.private import Means, Staged


def records_that_wait(
    policy: Policy, stream: Stream, table: Table, ages: NDArray[np.int64], means: Means
) -> NDArray[np.bool_]:
    """Return which records wait, (n,); equal for equal arguments.

    Args:
        table: (n, columns) personal data as the source has it.
        ages: (n,) partitions that each record has waited for.
        means: hierarchies, key, who observes.
    Raises:
        InputError: the data does not fit the policy.
    """
    if not len(table):
        return np.zeros(0, np.bool_)
    lenient = policy.anonymize.model_copy(update={"suppression_limit": stream.waiting})
    trial = policy.model_copy(update={"anonymize": lenient})
    accepted = _accept(trial, table, means)
    complete = ~mark_incomplete(accepted.frame, trial)
    waits = np.zeros(len(ages), np.bool_)
    if complete.any():
        if not complete.all():
            accepted = _accept(trial, keep_rows(table, complete), means)
        waits[complete] = _left_out(trial, accepted, means)
    return waits & (ages < stream.delay)


def _accept(policy: Policy, table: Table, means: Means) -> Staged:
    return raw(policy, table, entropy=means.entropy, hierarchies=means.hierarchies)


def _left_out(policy: Policy, accepted: Staged, means: Means) -> NDArray[np.bool_]:
    """Return which of complete records the recoder leaves out, (n,).

    All, if there is no recoding, or if the others would be one class, in which all are released alike.
    """
    staged = deidentified(policy, accepted, key=means.key, hierarchies=means.hierarchies)
    try:
        staged = k_anonymized(
            policy, staged, hierarchies=means.hierarchies, observe=means.observe, telling=False
        )
    except InfeasibleError:
        return np.ones(len(accepted.frame), np.bool_)
    labels = staged.frame[CLASS].to_numpy()
    if _says_nothing(policy, accepted, labels):
        return np.ones(len(labels), np.bool_)
    found: NDArray[np.bool_] = labels < 0
    return found


def _says_nothing(policy: Policy, accepted: Staged, labels: NDArray[np.int64]) -> bool:
    """Tell whether all records would be released alike, in one class, though they differ."""
    inside = labels >= 0
    if len(np.unique(labels[inside])) != 1:
        return False
    originals = unpack_table(keep_rows(accepted.frame, inside)[[*policy.generalized]])
    return len(originals.drop_duplicates()) > 1
