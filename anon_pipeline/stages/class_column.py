"""The column of the source that says which records are a class, for the recoder that is told the classes."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.packed_tables import Table, factorize_column, missing_cells, with_text_names
from anon_pipeline.encode.codes import GIVEN
from anon_pipeline.policy.model import Policy


def without_classes(policy: Policy, frame: Table) -> Table:
    """Return a table without the column of ``anonymize.classes``; as it is where the policy names none.

    Args:
        frame: (n, columns) of the source, its names texts.
    """
    name = policy.anonymize.classes
    return frame if name is None or name not in list(frame.columns) else frame.drop(columns=[name])


def number_classes(policy: Policy, frame: Table) -> NDArray[np.int64] | None:
    """Number the classes that the source names, (n,): by what they are called, whatever else is in the table.

    So samples, and what else is chosen by the content of records, are the same in any order of the source.

    Args:
        frame: (n, columns) of the source.
    Returns:
        None: the policy names no such column.
    Raises:
        InputError: there is not one such column, it holds something else than single values, or records have
            no value in it (their number).
    """
    name = policy.anonymize.classes
    if name is None:
        return None
    named = with_text_names(frame)
    if list(named.columns).count(name) != 1:
        raise InputError(
            f"anonymize.classes: must name one column of the source, there are "
            f"{list(named.columns).count(name)} of this name"
        )
    missing = int(missing_cells(named, name).sum())
    if missing:
        raise InputError(f"anonymize.classes: every record must have a class, {missing:,} have none")
    said = "anonymize.classes: must hold numbers, booleans, texts or dates of the years 1 to 9999"
    with withhold_text(said, TypeError, ValueError, OverflowError, NotImplementedError):
        codes, values = factorize_column(named, name)
        texts = [str(value).encode("utf-8", "surrogatepass") for value in values]
    digests = [hashlib.sha256(one).digest() for one in texts]
    numbers = np.array([int.from_bytes(one[:8], "big", signed=True) for one in digests], np.int64)
    return numbers[codes]


def classes_of(frame: Table, rows: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Return the given class of some records, 0 … m−1 without gaps, (r,); None: the table has none.

    Args:
        frame: (n, columns) of `deidentified`.
        rows: (n,) which records.
    """
    if GIVEN not in list(frame.columns):
        return None
    own = frame[GIVEN].to_numpy()[rows]
    return np.unique(own, return_inverse=True)[1].astype(np.int64, copy=False)
