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
_SIGN = r"[+\-\x{2212}]?"
_BESIDE = r"[^\d]*[\pL\p{Sc}][^\d]*"
_DIGITS = r"\d[\d.,'\x{2019}_ ]*"
_SAME = {"'": r"['\x{2019}]", " ": _SPACE}
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
_FALLBACK = "Write missing: [...] for texts that stand for no value."
Unread = tuple[str, NDArray[np.bool_], str]


@dataclass(frozen=True, slots=True, eq=False)
class Numerals:
    """The parts of the numbers in a column; null where a text is missing, "0" or "" where it is no number.

    minus: (n,) "-" or "".
    whole: (n,) digits before the decimal sign, without thousands signs.
    fraction: (n,) digits behind it, perhaps none.
    exponent: (n,) such as "e-5", mostly "".
    is_other: (n,) texts that are no numbers.
    """

    minus: pa.Array = field(repr=False)
    whole: pa.Array = field(repr=False)
    fraction: pa.Array = field(repr=False)
    exponent: pa.Array = field(repr=False)
    is_other: NDArray[np.bool_] = field(repr=False)

    def written(self, exponent: str) -> pa.Array:
        """Write the numbers as Arrow reads them, (n,), with an exponent where they have none."""
        power = pc.if_else(pc.equal(self.exponent, text("")), text(exponent), self.exponent)
        return joined(self.minus, self.whole, text("."), self.fraction, text("0"), power)

    @property
    def pointed(self) -> NDArray[np.bool_]:
        """Mark the numbers with digits behind the decimal sign, (n,)."""
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
            yield "with other signs", signs, advice
        left = left & ~signs
        beside = left & like(column, rf"^{_BESIDE}{_DIGITS}$|^{_DIGITS}{_BESIDE}$")
        if beside.any():
            yield "with a text beside the number", beside, "Write currency: with that text, if it is one."
        if (left := left & ~beside).any():
            yield "with something else", left, _FALLBACK


def numerals(
    column: pa.Array,
    how: ColumnCleaning,
    *,
    exponents: bool = False,
    whole: bool = False,
    fraction: bool = True,
) -> Numerals:
    """Take the numbers of a column apart.

    Args:
        column: (n,) texts.
        how: decimal and thousands signs, currency, percent.
        exponents: whether ``1e5`` is a number.
        whole: whether digits behind the decimal sign must be zeros, which are dropped.
        fraction: whether there may be any.
    """
    parts = pc.extract_regex(column, _pattern(how, exponents=exponents, whole=whole, fraction=fraction))
    part = {
        name: pc.struct_field(parts, name)
        for name in ("s1", "c1", "s2", "c2", "whole", "fraction", "exponent")
    }
    twice = pc.or_(_both(part["s1"], part["s2"]), _both(part["c1"], part["c2"]))
    bare = pc.and_(pc.equal(part["whole"], text("")), pc.equal(part["fraction"], text("")))
    is_number = pc.and_(pc.is_valid(parts), pc.invert(pc.fill_null(pc.or_(twice, bare), False)))
    other = is_true(pc.and_(column.is_valid(), pc.invert(is_number)))
    sign = joined(part["s1"], part["s2"])
    digits = part["whole"]
    if how.thousands is not None:
        digits = pc.replace_substring_regex(digits, _same(how.thousands), "")
    made = {
        "minus": pc.if_else(pc.is_in(sign, pa.array(["-", "\u2212"], sign.type)), text("-"), text("")),
        "whole": pc.if_else(pc.equal(digits, text("")), text("0"), digits),
        "fraction": text("") if whole else part["fraction"],
        "exponent": part["exponent"],
    }
    blank = {"minus": "", "whole": "0", "fraction": "", "exponent": ""}
    gone, missing = pa.array(other), pa.array(~is_true(column.is_valid()))
    none = text(None)
    parts = {
        name: pc.if_else(missing, none, pc.if_else(gone, text(blank[name]), made[name])) for name in made
    }
    return Numerals(**parts, is_other=other)


def _pattern(how: ColumnCleaning, *, exponents: bool, whole: bool, fraction: bool) -> str:
    spellings = "|".join(map(re.escape, sorted(how.currency, key=len, reverse=True)))
    currency = f"(?:{spellings})?" if spellings else ""
    groups = "" if how.thousands is None else rf"|[1-9]\d{{0,2}}(?:{_same(how.thousands)}\d{{3}})+"
    point = re.escape(how.decimal or ".")
    behind = (
        rf"(?:{point}(?P<fraction>{'0' if whole else chr(92) + 'd'}+))?" if fraction else "(?P<fraction>)"
    )
    before = rf"(?P<whole>(?:\d+{groups})?)"
    power = r"(?P<exponent>(?:[eE][+\-]?\d{1,3})?)" if exponents else "(?P<exponent>)"
    percent = f"{_SPACE}*%" if how.percent else ""
    return (
        rf"^\s*(?P<s1>{_SIGN}){_SPACE}*(?P<c1>{currency}){_SPACE}*(?P<s2>{_SIGN})"
        rf"{before}{behind}{power}{_SPACE}*(?P<c2>{currency}){percent}\s*$"
    )


def _same(thousands: str) -> str:
    """Return the pattern of a thousands sign: some are written in several ways."""
    return _SAME.get(thousands, re.escape(thousands))


def _both(one: pa.Array, other: pa.Array) -> pa.Array:
    return pc.and_(pc.not_equal(one, text("")), pc.not_equal(other, text("")))


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
    return is_true(column.is_valid()) & ~numerals(column, how).is_other


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
    fit = [signs for signs in best if reads[signs][good].all()][:2]
    said = " or ".join(f'decimal: "{d}"' + ("" if t is None else f', thousands: "{t}"') for t, d in fit)
    meant = ", whichever is meant" if len(fit) > 1 else ""
    advice = (
        f"Write {said}{meant}."
        if fit
        else "Correct the source: other values of the column have the signs that are set."
    )
    return left & reads[best[0]], advice


def text(value: str | None) -> pa.Scalar:
    """Return a text as Arrow compares it with columns."""
    return pa.scalar(value, pa.large_string())


def joined(*parts: pa.Array | pa.Scalar) -> pa.Array:
    """Write texts one behind the other, (n,)."""
    return pc.binary_join_element_wise(*parts, text(""))


def like(column: pa.Array, pattern: str) -> NDArray[np.bool_]:
    """Mark the texts in which a pattern (RE2) is found, (n,)."""
    return is_true(pc.match_substring_regex(column, pattern))


def is_true(flags: pa.Array) -> NDArray[np.bool_]:
    """Return (n,) flags, null as false."""
    found: NDArray[np.bool_] = pc.fill_null(flags, False).to_numpy(zero_copy_only=False)
    return found
