"""Readers of column types: from the texts of a column to values, and which texts cannot be read, by kind.

Texts are read by Arrow and pandas. What they would accept and others read differently is refused before:
groups of digits that are not thousands, dates like "now".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.policy.column_cleaning import ColumnCleaning
from anon_pipeline.sources.days import formats_advice, impossible_days, read_days
from anon_pipeline.sources.numerals import Numerals, is_numeral, is_true, join, like, numerals, text

_MOST = 2**53  # as in `base.values`: whole floats from here on may stand for another whole number
_DIGITS = 18  # of an integer in 64 bits
_WORDS = r"^(?i:true|false)$"
_LARGE = "with larger ones than can be distinguished"
_MISSING = "missing: [...] for all texts that stand for no value"


@dataclass(frozen=True, slots=True, eq=False)
class Wrong:
    """One kind of texts that cannot be read.

    kind: "with something else".
    rows: (n,) which.
    advice: what to write in the policy, for this column: ``type: number``.
    """

    kind: str
    rows: NDArray[np.bool_] = field(repr=False)
    advice: str


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A column that was read.

    values: (n,) null where a text is missing or wrong.
    wrong: by kind; a text is of at most one.
    """

    values: pa.Array = field(repr=False)
    wrong: tuple[Wrong, ...] = ()


def texts(column: pa.Array, how: ColumnCleaning) -> Read:
    """Cut texts off at ``truncate`` characters, (n,)."""
    return Read(column if how.truncate is None else pc.utf8_slice_codeunits(column, 0, how.truncate))


def numbers(column: pa.Array, how: ColumnCleaning) -> Read:
    """Read texts as floats.

    Args:
        column: (n,) texts; null is missing.
        how: signs, currency, percent.
    Returns:
        (n,) the nearest float to the decimal number that is written.
    """
    found = numerals(column, how, exponents=not how.percent)
    values = pc.add(pc.cast(found.write("e-2" if how.percent else ""), pa.float64()), 0.0)  # no -0.0
    large = is_true(pc.greater_equal(pc.abs(values), float(_MOST)))
    return _reading_of(column, values, found, large, how)


def integers(column: pa.Array, how: ColumnCleaning) -> Read:
    """Read texts as integers of 64 bits; a fraction of zeros is none. See `numbers`."""
    found = numerals(column, how, whole=True)
    large = is_true(pc.greater(pc.utf8_length(pc.utf8_ltrim(found.whole, "0")), _DIGITS))
    digits = pc.if_else(pa.array(large), text("0"), found.whole)
    return _reading_of(column, pc.cast(join(found.minus, digits), pa.int64()), found, large, how)


def _reading_of(
    column: pa.Array, values: pa.Array, found: Numerals, large: NDArray[np.bool_], how: ColumnCleaning
) -> Read:
    wrong = [Wrong(kind, rows, advice) for kind, rows, advice in found.unread(column, how)]
    if large.any():
        wrong.append(Wrong(_LARGE, large, "Write type: text."))
    if _is_undecided(found, how):
        rows = found.pointed
        advice = 'Write decimal: "." if 1.234 is less than 2, thousands: "." if it is more than 1000.'
        wrong.append(Wrong("in which a point may be a decimal or a thousands sign", rows, advice))
    return Read(_without(values, wrong), tuple(wrong))


def _is_undecided(found: Numerals, how: ColumnCleaning) -> bool:
    """Return whether points are ambiguous: all have three digits after them and one to three before."""
    unsaid = how.decimal is None and how.thousands is None
    return unsaid and bool(found.pointed.any()) and found.all_in_threes


def dates(column: pa.Array, how: ColumnCleaning) -> Read:
    """Read texts as days, (n,) of Arrow's type date32; see `days.read_days`."""
    found = read_days(column, how.format)
    wrong = _not_days(column, how.format, found.unread) if found.unread.any() else []
    wrong.append(
        Wrong("with two different days by two formats", found.doubtful, "Write the one format that is meant.")
    )
    return Read(found.values, tuple(one for one in wrong if one.rows.any()))


def _not_days(column: pa.Array, formats: Sequence[str], unread: NDArray[np.bool_]) -> list[Wrong]:
    """Say what texts are that no format fits, (n,) which ones: 31.02. is no other format's day either."""
    empty, no_day = unread & ~like(column, r"\d"), impossible_days(column, formats, unread)
    other = unread & ~empty & ~no_day
    advice = formats_advice(column, other)
    return [
        Wrong(f"in another form than {' or '.join(formats)}", other, advice),
        Wrong("of a day or time that does not exist", no_day, f"Write {_MISSING}, or correct the source."),
        Wrong("without a digit", empty, f"Write {_MISSING}."),
    ]


def booleans(column: pa.Array, how: ColumnCleaning) -> Read:
    """Read true, false, 1 and 0 in any case, (n,)."""
    other = column.is_valid().to_numpy(zero_copy_only=False) & ~like(column, r"^(?i:true|false|1|0)$")
    known = pc.if_else(pa.array(other), text(None), column)
    advice = f"Write values: {{yes: true, no: false}} with the texts that stand for them, or {_MISSING}."
    wrong = (Wrong("with something else", other, advice),) if other.any() else ()
    return Read(pc.cast(known, pa.bool_()), wrong)


def infer(column: pa.Array, how: ColumnCleaning) -> Read:
    """Read a column as the first type that all of its texts are; else they stay texts.

    Numbers with leading zeros, with a plus, with an exponent or beyond 2^53 are texts, and 1 and 0 are
    numbers. It depends on the texts alone, not on their order.
    """
    there = is_true(column.is_valid())
    strange = like(column, r"^[^\d]*0\d|\+")
    if not there.any():
        return Read(column)
    if (is_numeral(column, how) & ~strange)[there].all():
        whole = is_numeral(column, how, whole=True, fraction=False)[there].all()
        read = numbers(column, how)
        if not any(one.kind == _LARGE for one in read.wrong):
            return integers(column, how) if whole else read
    if like(column, r"\d")[there].all() and not read_days(column, how.format).unread.any():
        return dates(column, how)
    return booleans(column, how) if like(column, _WORDS)[there].all() else Read(column)


def _without(values: pa.Array, wrong: Sequence[Wrong]) -> pa.Array:
    """Return values, null where one is wrong."""
    if not wrong:
        return values
    gone = np.logical_or.reduce([one.rows for one in wrong])
    return pc.if_else(pa.array(gone), pa.scalar(None, values.type), values)
