"""The table of `k_anonymized`: the order in which its records are recoded, and the values that they get."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.classes import EquivalenceClasses, equivalence_classes
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import CLASS, RECORD, decode
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import Recoding


def order_by_content(policy: Policy, frame: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Put records in an order that follows from their content, where the recoder's result depends on it.

    Args:
        frame: (n, columns) of `deidentified`; its random ids do not count.
    Returns:
        It in that order, and the place in it of each record, (n,), which leads back to the old one.
    """
    if not recoder_of(policy.anonymize.recoder).by_order:
        return frame, np.arange(len(frame))
    places = canonical_form(frame.drop(columns=[RECORD])).places
    return frame.take(np.argsort(places)).reset_index(drop=True), places


def recoded_table(
    policy: Policy, frame: pd.DataFrame, recoding: Recoding, *, gone: NDArray[np.bool_]
) -> tuple[pd.DataFrame, EquivalenceClasses]:
    """Write the generalized values of a recoding in place of the original ones, and the class of each record.

    Args:
        frame: (n, columns) of `deidentified`, in the order in which it was recoded.
        recoding: of the records that are not gone.
        gone: (n,) records that were suppressed before; they have class −1 and no values, as those that the
            recoding suppressed.
    """
    names = list(policy.generalized)
    codes = np.full((len(frame), len(names)), -1, np.int64)
    codes[~gone] = recoding.codes
    classes = equivalence_classes(codes)
    after = frame.copy(deep=False)
    after[names] = decode(codes, recoding.values, names)
    after.insert(1, CLASS, classes.labels)
    return after, classes
