"""Texts that are numbers with signs of some convention: taken apart by Arrow's regular expressions (RE2).

Belongs here: what is a number, and what else a text may be that is none. Does not belong here: the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.catalog.column_types import COLUMN_TYPES
from anon_pipeline.policy.column_cleaning import ColumnCleaning

_SPACE = r"[ \x{00a0}\x{2009}\x{202f}]"
_EDGE = r"[\s\x{00a0}\x{2009}\x{202f}]*"
_SIGN = r"[+\-\x{2212}]"
_BESIDE = r"[^\d]*[\pL\p{Sc}][^\d]*"
_NO_CENTS = r"[\-\x{2013}\x{2014}]{1,2}"
"""What some write in amounts after the decimal sign for a fraction of zero: ``CHF 12.-``."""
_DIGITS = r"\d[\d.,'\x{2019}_ ]*"
_SAME = {"'": ("'", "\u2019"), " ": (" ", "\u00a0", "\u2009", "\u202f")}
_GUESSES = (
    (None, "."),
    (None, ","),
    ("'", "."),
    (",", "."),
    (" ", "."),
    (".", ","),
    (" ", ","),
    ("'", ","),
    ("_", "."),
    ("_", ","),
)
_FALLBACK = (
    "Write missing: [...] for all texts that stand for no value, values: {text: number} for texts that stand "
    "for one."
)
Unread = tuple[str, NDArray[np.bool_], str]


@dataclass(frozen=True, slots=True, eq=False)
class Numerals:
    """The parts of the numbers in a column; null where a text is missing, "0" or "" where it is no number.

    minus: (n,) "-" or "".
    whole: (n,) digits before the decimal sign, without thousands signs.
    fraction: (n,) digits after it, perhaps none.
    exponent: (n,) such as "e-5", mostly "".
    is_other: (n,) texts that are no numbers.
    """

    minus: pa.Array = field(repr=False)
    whole: pa.Array = field(repr=False)
    fraction: pa.Array = field(repr=False)
    exponent: pa.Array = field(repr=False)
    is_other: NDArray[np.bool_] = field(repr=False)

    def write(self, exponent: str) -> pa.Array:
        """Write the numbers as Arrow reads them, (n,), with an exponent where they have none."""
        power = pc.if_else(pc.equal(self.exponent, text("")), text(exponent), self.exponent)
        return join(self.minus, self.whole, text("."), self.fraction, text("0"), power)

    @property
    def pointed(self) -> NDArray[np.bool_]:
        """Mark the numbers with digits after the decimal sign, (n,)."""
        return is_true(pc.not_equal(self.fraction, text("")))

    @property
    def all_in_threes(self) -> bool:
        """Whether all numbers with a decimal sign could have a thousands sign there instead."""
        short = (
            like(self.whole, r"^[1-9]\d{0,2}$") & like(self.fraction, r"^\d{3}$") & like(self.exponent, "^$")
        )
        return bool(short[self.pointed].all())

    def unread(self, column: pa.Array, how: ColumnCleaning) -> Iterator[Unread]:
        """Yield the texts that are no numbers, by kind: what they are, which, what to write.

        Args:
            column: (n,) that the parts are of.
        """
        left = self.is_other
        for kind, rows, advice in _kinds(column, how):
            if (found := left & rows).any():
                yield kind, found, advice
                left = left & ~found
        good = is_true(column.is_valid()) & ~self.is_other
        signs, advice = _other_signs(column, how, left, good)
        if signs.any():
            yield "with another decimal or thousands sign", signs, advice
        left = left & ~signs
        beside = left & like(column, rf"^{_BESIDE}{_DIGITS}$|^{_DIGITS}{_BESIDE}$")
        if beside.any():
            yield "with a text next to the number", beside, "Write currency: with that text, if it is one."
        if (left := left & ~beside).any():
            yield "with something else", left, _FALLBACK


def is_numeral(
    column: pa.Array,
    how: ColumnCleaning,
    *,
    exponents: bool = False,
    whole: bool = False,
    fraction: bool = True,
) -> NDArray[np.bool_]:
    """Mark the texts that are numbers, (n,); see `numerals`."""
    return like(column, _whole_pattern(how, exponents=exponents, whole=whole, fraction=fraction))


def numerals(
    column: pa.Array, how: ColumnCleaning, *, exponents: bool = False, whole: bool = False
) -> Numerals:
    """Take the numbers of a column apart.

    Args:
        column: (n,) texts.
        how: decimal and thousands signs, currency, percent.
        exponents: whether ``1e5`` is a number.
        whole: whether digits after the decimal sign must be zeros, which are dropped.
    """
    there = is_true(column.is_valid())
    fits = is_numeral(column, how, exponents=exponents, whole=whole)
    parts = pc.extract_regex(pc.if_else(pa.array(fits), column, text(None)), _parts_pattern(how))
    digits, behind, power = (pc.struct_field(parts, name) for name in ("whole", "fraction", "exponent"))
    if how.thousands is not None:
        for sign in _SAME.get(how.thousands, (how.thousands,)):
            digits = pc.replace_substring(digits, sign, "")
    minus = pa.array(fits & like(column, r"^[^\d]*[\-\x{2212}]"))
    blank = pc.if_else(pa.array(there), text(""), text(None))

    def fill(part: pa.Array) -> pa.Array:
        """Return a part of each numeral, empty where a numeral lacks it."""
        return pc.coalesce(part, blank)

    return Numerals(
        minus=pc.if_else(minus, text("-"), blank),
        whole=pc.coalesce(pc.if_else(pc.equal(digits, text("")), text("0"), digits), join(blank, text("0"))),
        fraction=blank if whole else fill(behind),
        exponent=fill(power),
        is_other=there & ~fits,
    )


def _digits_pattern(how: ColumnCleaning) -> str:
    if how.thousands is None:
        return r"\d+"
    sign = _same(how.thousands)
    return rf"(?:\d+|[1-9]\d{{0,2}}(?:{sign}\d{{3}})+)"


def _whole_pattern(how: ColumnCleaning, *, exponents: bool, whole: bool, fraction: bool) -> str:
    """Return the pattern of a number with all that may stand around it: one sign and one currency."""
    point = re.escape(how.decimal or ".")
    behind = rf"{point}{'0' if whole else '[0-9]'}+"
    digits = number = _digits_pattern(how)
    if fraction:
        number = rf"(?:{number}(?:{behind})?|{behind})"
    number += r"(?:[eE][+\-]?\d{1,3})?" if exponents else ""
    percent = f"{_SPACE}*%" if how.percent else ""
    plain = f"{_SIGN}?{_SPACE}*{number}"
    if how.currency:
        number = rf"(?:{number}|{digits}{point}{_NO_CENTS})"
        plain = f"{_SIGN}?{_SPACE}*{number}"
        named = "(?:" + "|".join(map(re.escape, how.currency)) + ")"
        before = f"(?:{_SIGN}?{_SPACE}*{named}|{named}{_SPACE}*{_SIGN}){_SPACE}*{number}"
        plain = f"(?:{before}|{plain}(?:{_SPACE}*{named})?)"
    return rf"^{_EDGE}{plain}{percent}{_EDGE}$"


def _parts_pattern(how: ColumnCleaning) -> str:
    """Return the pattern that takes apart what is known to be a number: the first digits on."""
    point, groups = re.escape(how.decimal or "."), ""
    if how.thousands is not None:
        groups = rf"(?:{_same(how.thousands)}\d{{3}})*"
    currency = "|".join(map(re.escape, sorted(how.currency, key=len, reverse=True)))
    skipped = rf"^(?:{currency}|[^\d{point}])*" if currency else rf"^[^\d{point}]*"
    return (
        rf"{skipped}(?P<whole>(?:\d+{groups})?)(?:{point}(?P<fraction>\d+))?(?P<exponent>(?:[eE][+\-]?\d+)?)"
    )


def _same(thousands: str) -> str:
    """Return the pattern of a thousands sign: some are written in several ways."""
    return "(?:" + "|".join(map(re.escape, _SAME.get(thousands, (thousands,)))) + ")"


def _kinds(column: pa.Array, how: ColumnCleaning) -> Iterator[Unread]:
    """Yield what texts may be that are no numbers by a policy, and would be by another one."""
    yield "without a digit", ~like(column, r"\d"), _FALLBACK
    bare = replace(how, percent=not how.percent)
    advice = "Leave percent out, or write the sign in the source." if how.percent else "Write percent: true."
    said = "without %" if how.percent else "with %"
    yield said, _reads(column, bare), advice
    named = next(one.name for one in COLUMN_TYPES.values() if one.numeric)
    yield "with a fraction", _reads(column, how), f"Write type: {named}."


def _reads(column: pa.Array, how: ColumnCleaning) -> NDArray[np.bool_]:
    return is_numeral(column, how)


def _other_signs(
    column: pa.Array, how: ColumnCleaning, left: NDArray[np.bool_], good: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], str]:
    """Find the signs by which the most of some texts are numbers, and what to write.

    Args:
        left: (n,) the texts.
        good: (n,) texts that are numbers by the policy: advice must not lose them.
    """
    if not left.any():
        return left, ""
    reads = {signs: _reads(column, replace(how, thousands=signs[0], decimal=signs[1])) for signs in _GUESSES}
    most = max(int((rows & left).sum()) for rows in reads.values())
    best = [signs for signs, rows in reads.items() if (rows & left).sum() == most]
    best = [signs for signs in best if signs[0] is None or (None, signs[1]) not in best]
    known = column.filter(pa.array(good))
    fit = [signs for signs in best if reads[signs][good].all() and _keeps(known, how, signs)][:2]
    said = " or ".join(f'decimal: "{d}"' + ("" if t is None else f', thousands: "{t}"') for t, d in fit)
    meant = ", whichever is meant" if len(fit) > 1 else ""
    advice = (
        f"Write {said}{meant}."
        if fit
        else "Correct the source: other values of the column have the signs that are set."
    )
    return left & reads[best[0]], advice


def _keeps(column: pa.Array, how: ColumnCleaning, signs: tuple[str | None, str]) -> bool:
    """Tell whether texts that are numbers are the same ones with other signs: 1,500 is not 1.5.

    Args:
        signs: of thousands, and decimal.
    """
    mine, theirs = numerals(column, how), numerals(column, replace(how, thousands=signs[0], decimal=signs[1]))
    trimmed = [
        (pc.ascii_ltrim(one.whole, characters="0"), pc.ascii_rtrim(one.fraction, characters="0"))
        for one in (mine, theirs)
    ]
    return all(own.equals(other) for own, other in zip(*trimmed, strict=True))


def text(value: str | None) -> pa.Scalar:
    """Return a text as Arrow compares it with columns."""
    return pa.scalar(value, pa.large_string())


def join(*parts: pa.Array | pa.Scalar) -> pa.Array:
    """Write texts one after another, (n,)."""
    return pc.binary_join_element_wise(*parts, text(""))


def like(column: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Mark the texts in which a pattern (RE2) is found, (n,)."""
    return is_true(pc.match_substring_regex(column, pattern))


def is_true(flags: pa.Array) -> NDArray[np.bool_]:
    """Return (n,) flags, null as false."""
    found: NDArray[np.bool_] = pc.fill_null(flags, False).to_numpy(zero_copy_only=False)
    return found
