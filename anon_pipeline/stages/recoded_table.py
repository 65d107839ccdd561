"""The table of `k_anonymized`: the order in which its records are recoded, and the values that they get."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.classes import EquivalenceClasses, equivalence_classes
from anon_pipeline.base.packed_tables import Table, insert_column, with_columns
from anon_pipeline.base.rows import take_rows
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import CLASS, GIVEN, RECORD, decode
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import Recoding


def order_by_content(policy: Policy, frame: Table) -> tuple[Table, NDArray[np.int64]]:
    """Put records in an order that follows from their content, where the recoder's result depends on it.

    Args:
        frame: (n, columns) of `deidentified`; its random ids do not count.
    Returns:
        It in that order, and the place in it of each record, (n,), which leads back to the old one.
    """
    if not recoder_of(policy.anonymize.recoder).by_order:
        return frame, np.arange(len(frame))
    places = canonical_form(frame.drop(columns=[RECORD])).places
    return take_rows(frame, np.argsort(places)), places


def recoded_table(
    policy: Policy, frame: Table, recoding: Recoding, *, gone: NDArray[np.bool_]
) -> tuple[Table, EquivalenceClasses]:
    """Write the generalized values of a recoding in place of the original ones, and the class of each record.

    Args:
        frame: (n, columns) of `deidentified`, in the order in which it was recoded.
        recoding: of the records that are not gone.
        gone: (n,) records that were suppressed before; they have class −1 and no values, as those that the
            recoding suppressed.
    """
    names = list(policy.generalized)
    codes = recoding.codes
    if gone.any():
        codes = np.full((len(frame), len(names)), -1, codes.dtype)
        codes[~gone] = recoding.codes
    classes = equivalence_classes(codes)
    own = frame.drop(columns=[GIVEN]) if GIVEN in list(frame.columns) else frame
    after = with_columns(own, decode(codes, recoding.values, names))
    return insert_column(after, 1, CLASS, classes.labels), classes
