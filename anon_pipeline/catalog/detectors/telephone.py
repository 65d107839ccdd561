"""Telephone numbers: international, American, national ones that begin with 0, and those with a word before.

Source: ITU-T E.164 and E.123 (15 digits at most, `+` and country code), the North American Numbering Plan,
and the national plans of countries that dial 0 before an area or network (most of Europe, Asia, Oceania).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from anon_pipeline.catalog.detectors.detector import Detector, Form
from anon_pipeline.catalog.detectors.lookalikes import are_book_numbers, are_drug_codes, are_signed_numbers

_END = r"(?=x\d|(?![\w-]))"
_INTERNATIONAL = re.compile(
    r"""(?<![\w+-])\+
        (?!\d+\.(?:\d{1,8}|\d{13,})(?![\d(/-]|[ .]\d))  # but not +53.349800
        (?!\d{1,3}(?:[ ']\d{3})+[.,]\d{1,2}(?!\d))  # nor +1 234 567.89
        \d(?:[ .()/-]{0,2}\d){6,14}"""
    + _END,
    re.VERBOSE,
)
_BRACKETED = re.compile(r"(?<![\w+-])(?:1[ .-]?)?\(\d{3}\)[ -]?\d{3}[ .-]\d{4}" + _END)
_AMERICAN = r"(?:1[ .-])?\d{3}([ .-])\d{3}\1\d{4}"
_NATIONAL = re.compile(
    r"(?<![\w+-])(?<!\d[ .,:/])\(?0[1-9]\d{0,3}\)?(?:[ ./-]{1,3}\d{2,8}){1,4}(?![\w:]|[ .,/-]\d)"
)
_ABROAD = re.compile(
    r"""(?<![\w+-])(?<!\d[ .,:/])(?:00|011)[ .()/-]{0,2}
        (?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]
        |(?:2[1-689]|3[578]|42|50|59|6[789]|8[0578]|9[679])\d)  # country codes
        (?:[ ./()-]{1,3}\d{1,8}){2,6}(?![\w:]|[ .,/-]\d)""",
    re.VERBOSE,
)
_GROUPED = re.compile(r"(?=(?:\D*\d){10,18}\D*\Z)\d{2,7}(?:[ ./()-]{1,3}\d{1,8}){2,6}")
_SEPARATED = re.compile(r"(?=(?:\D*\d){9,12}\D*\Z)\(?\d{2,5}\)?(?:[ ./-]{1,3}\d{2,8}){1,4}")
_LABELLED = re.compile(
    r"""(?<![a-z])(?:tele(?:ph|f)on[a-z]*|tel|phone|mobile?|mob|handy|fax)
        (?:[ ]?(?:no|nr|number|nummer))?[.:]{0,2}[ ]?:?[ ]?
        \(?\d(?:[ ./()-]{0,2}\d){6,14}(?![\w-])""",
    re.VERBOSE | re.IGNORECASE,
)
_OTHER = re.compile(r"\d{3}([ -])\d{2}\1\d{4}|\d{5}-\d{4}|\d+\.\d+")  # SSN, ZIP+4, decimal numbers
_DAY = re.compile(
    r"(?:19|20)\d\d([./-])\d\d\1\d\d|\d\d([ ./-])\d\d\2(?:19|20)\d\d|\d\d([./-])[01]\d\3\d\d(?= )"
)


def is_american(text: str) -> bool:
    """Tell whether ten digits are a number of the North American Numbering Plan."""
    digits = _digits(text)
    area, exchange = digits[-10:-7], digits[-7:-4]
    return min(area[0], exchange[0]) > "1" and area[1:] != "11" and exchange[1:] != "11"


def is_national(text: str) -> bool:
    """Tell a number of nine to twelve digits from a date and from other numbers that begin with 0."""
    return 9 <= len(_digits(text)) <= 12 and not _OTHER.fullmatch(text) and not _DAY.match(text)


def is_abroad(text: str) -> bool:
    """Tell a number that is dialled to another country, by 00 or 011, by its digits (E.164: 15 at most)."""
    return 10 <= len(_digits(text)) <= 18 and not _DAY.match(text)


def _is_no_day(text: str) -> bool:
    return not _DAY.match(re.sub(r"^\D+", "", text))


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _others_by_layout(texts: Sequence[str], *, numbers: bool = False) -> bool:
    return are_book_numbers(texts, numbers=numbers) or are_drug_codes(texts, numbers=numbers)


_NANP = 8 / 9 * 0.99 * 0.8 * 0.99  # first digits of area (no 0 in a number) and exchange 2 to 9, neither N11
_PREFIX = 0.011  # of random digits the first are 00 or 011
_TRUNK = 0.1  # of random digits the first is 0

TELEPHONE = Detector(
    "telephone",
    "telephone numbers",
    (
        Form(_INTERNATIONAL, alone=True, needs=r"\+[0-9]", unlike=are_signed_numbers),
        Form(_BRACKETED, alone=True, needs=r"\([0-9]{3}\)"),
        Form(
            re.compile(rf"(?<![\w+-]){_AMERICAN}{_END}"),
            is_american,
            chance=0.64,
            alone=True,
            share=0.9,
            needs=r"[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4}",
            others=re.compile(_AMERICAN),
        ),
        Form(
            _NATIONAL,
            is_national,
            chance=_TRUNK,
            alone=True,
            needs=r"(?:^|[^0-9A-Za-z+-])0[1-9][0-9]{0,3}\)?[ ./-]{1,3}[0-9]{2}",
            others=_SEPARATED,
            unlike=_others_by_layout,
        ),
        Form(
            _ABROAD,
            is_abroad,
            chance=_PREFIX,
            alone=True,
            needs=r"(?:^|[^0-9A-Za-z+-])(?:00|011)[ .()/-]{0,2}[1-9]",
            others=_GROUPED,
            unlike=are_drug_codes,
        ),
        Form(_LABELLED, _is_no_day, alone=True, needs=r"(?i)(?:tel|phone|mob|handy|fax)[^0-9]{0,20}[0-9]"),
        Form(re.compile(r"1?\d{10}"), is_american, chance=_NANP, share=0.98, loose=True),
        Form(
            re.compile(r"\d{9,15}"),
            re.compile(r"0[1-9]\d{7,10}|00[1-9]\d{8,12}").fullmatch,
            chance=_TRUNK,
            share=0.98,
            loose=True,
            unlike=are_book_numbers,
        ),
    ),
    ("+353 1 555 0123", "044 668 18 00"),
)
"""The detector of telephone numbers."""
