"""Values of declared identifiers that stand in other columns, which are released: a name in a remark.

Texts are compared by their words: case, punctuation and the order of a value's words do not count, so that
"Lee, Ann" and ``scan_ann_lee.pdf`` hold "Ann Lee".
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.base.packed_tables import PackedTable, Table, numbered_cells
from anon_pipeline.base.values import arrow_codes, arrow_texts, column_codes
from anon_pipeline.evidence.released_columns import MANY, shown_columns
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import FEWEST

_LETTERS = 3  # a value of letters has at least so many; of digits alone one more
_DIGITS = 4
_TELLING = 7  # letters of several words, from which a value is nobody else's by chance
_WORDS = 5  # of a value, at most
_JOINED = 2  # words that are looked for written together
_LONGEST = 20_000  # characters of a cell that are read
_TIMES = 2.0  # as many as chance explains are none
_ERRORS = 4.0  # standard errors beyond that
_COMMON = 0.01  # share of the records, beyond which a value says nothing of one person

_WORD = re.compile(r"[^\W_]+")
_SPACED = np.array([ord(char.lower() if char.isalnum() else " ") for char in map(chr, range(128))], np.uint8)
"""A byte of ASCII as it is compared: a small letter, a digit or a space."""

Integers = NDArray[np.int64]
Words = tuple[str, ...]


def held_identifiers(before: Table, after: Table, policy: Policy) -> dict[str, str]:
    """Name the released columns in which values of an identifier stand, and the identifier.

    A column counts if at least `FEWEST` records have the value of their own identifier in it, and more than
    chance gives (the mean over all ways to shuffle the column, twice, and four standard errors). It also
    counts if it has this many different values of several words, or of letters and digits, in any record.
    Values that more than `MANY` records and one in a hundred have say nothing of a person, nor do those of
    fewer than three letters or four digits.

    Args:
        before: (n, columns) accepted data, with the identifiers.
        after: (n, columns) the same records, as coarse as they are released.
    Returns:
        Column → identifier, in the policy's order.
    """
    cells = {name: _cells(after, name) for name in shown_columns(policy)}
    words = {word for _, texts in cells.values() for text in texts for word in words_of(text)}
    known = {name: _Values.of(before, name, words) for name in policy.identifiers}
    known = {name: values for name, values in known.items() if values.keys}
    found: dict[str, str] = {}
    if not known:
        return found
    keys = {key for values in known.values() for key in values.keys}
    sizes, words = sorted({*map(len, keys)}), {word for key in keys for word in key}
    for name, (codes, texts) in cells.items():
        read = [(cell, key) for cell, text in enumerate(texts) for key in _keys_in(text, sizes, keys, words)]
        for identifier, values in known.items():
            hits = [(cell, values.keys[key]) for cell, key in read if key in values.keys]
            if hits and _holds(codes, np.array(hits, np.int64), values):
                found[name] = identifier
                break
    return found


class _Values:
    """The values of an identifier that say something of a person.

    codes: (n,) a number for each value, −1 where it is missing, short or common.
    keys: the words of each value, sorted, and its number; those that are written together, too.
    """

    def __init__(self, codes: NDArray[np.int32], keys: Mapping[Words, int]) -> None:
        self.codes, self.keys = codes, dict(keys)
        for key, number in keys.items():
            for joined in ("".join(key), "".join(reversed(key))):
                if 1 < len(key) <= _JOINED and len(joined) >= _TELLING:
                    self.keys.setdefault((joined,), number)
        self._first = dict(zip(keys.values(), keys, strict=True))

    def unusual(self, numbers: Iterable[int]) -> set[int]:
        """Return which of some values are nobody else's by chance."""
        return {number for number in numbers if _is_telling(self._first[number])}

    @classmethod
    def of(cls, table: Table, name: str, words: Collection[str]) -> _Values:
        """Read an identifier of a table: equal words are one value.

        Args:
            words: that stand in some released column; values without any of them are passed over.
        """
        keys: dict[Words, int] = {}
        packed = numbered_cells(table, name)
        if packed is None:
            differ = isinstance(table, PackedTable)  # or the column would be packed
            parts = _text_blocks(table[name])
            own = np.concatenate([_numbers(part, words, keys, differ=differ) for part in parts])
        else:
            own = _numbers(packed[1], words, keys)[packed[0]]
        many = np.bincount(own[own >= 0], minlength=len(keys))
        kept = many <= max(MANY, _COMMON * len(own))
        own[~np.append(kept, False)[own]] = -1
        return cls(own, {key: number for key, number in keys.items() if kept[number]})


def _text_blocks(series: pd.Series) -> Iterator[pd.Series]:
    """Yield the column block by block; as a whole what is written as one column: dates, numbers."""
    parts = slices_of(len(series)) if isinstance(series.dtype, pd.StringDtype) else ()
    yield from [series.iloc[part] for part in parts] or [series]


def _numbers(
    series: pd.Series, words: Collection[str], keys: dict[Words, int], *, differ: bool = False
) -> NDArray[np.int32]:
    """Return the number of each value, (n,), −1 where it says nothing; new ones are added to ``keys``.

    Args:
        differ: whether most values do: to find the different ones first would take as long as is saved.
    """
    texts = arrow_texts(series) if differ else None
    codes: slice | NDArray[np.int64] = slice(len(series))
    if texts is None:
        codes, texts = arrow_codes(series)
    numbers = np.full(len(texts) + 1, -1, np.int32)
    places = _with_words(texts, words)
    for place, text in zip(places.tolist(), texts.take(pa.array(places)).to_pylist(), strict=True):
        key = _key(words_of(text))
        if key and len(key) <= _WORDS and _is_long(key):
            numbers[place] = keys.setdefault(key, len(keys))
    return numbers[codes]


def _with_words(texts: pa.LargeStringArray, words: Collection[str]) -> Integers:
    """Return the places of texts that may stand, whole, in what is made of some words.

    Their own words are all among these, or two of them are, written together. Of texts beyond ASCII one word
    is enough, since Arrow may read another one than `words_of`: in doubt a text is looked at.
    """
    plain = pc.string_is_ascii(texts).fill_null(False).to_numpy(zero_copy_only=False)
    other = texts.is_valid().to_numpy(zero_copy_only=False) & ~plain
    looked = pa.array(sorted(words), type=pa.large_string())
    found = []
    for chosen, spaced, enough in ((plain, _spaced_ascii, None), (other, _space_words, 1)):
        places = np.flatnonzero(chosen)
        if len(places):
            lists = pc.ascii_split_whitespace(pc.ascii_trim(spaced(texts.take(pa.array(places))), " "))
            found.append(places[_are_among(lists, looked, enough=enough)])
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def _are_among(lists: pa.Array, looked: pa.Array, *, enough: int | None) -> NDArray[np.bool_]:
    """Tell which lists of words are among some, ``enough`` of them or all; or the two of a list, joined."""
    own, parents = pc.list_flatten(lists), pc.list_parent_indices(lists).to_numpy()
    many = pc.list_value_length(lists).to_numpy()
    hits = pc.is_in(own, value_set=looked).to_numpy(zero_copy_only=False)
    needed = np.maximum(many, 1) if enough is None else enough
    found = np.bincount(parents[hits], minlength=len(lists)) >= needed
    two = np.flatnonzero(many == _JOINED)
    first = pc.list_element(lists.take(pa.array(two)), 0)
    second = pc.list_element(lists.take(pa.array(two)), 1)
    for joined in ((first, second), (second, first)):
        together = pc.binary_join_element_wise(*joined, pa.scalar("", pa.large_string()))
        found[two] |= pc.is_in(together, value_set=looked).to_numpy(zero_copy_only=False)
    return found


def _spaced_ascii(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Write texts of ASCII, none missing, in small letters, with a space for each sign: byte by byte."""
    _, offsets, data = texts.buffers()
    bytes_ = np.frombuffer(data or b"", np.uint8)
    return pa.LargeStringArray.from_buffers(
        len(texts), offsets, pa.py_buffer(_SPACED[bytes_]), offset=texts.offset
    )


def _space_words(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Write texts in small letters, with spaces for signs."""
    plain = pc.replace_substring(pc.utf8_lower(pc.utf8_normalize(texts, form="NFKC")), "ß", "ss")
    return pc.replace_substring_regex(plain, r"[^\pL\pN]+", " ")


def words_of(text: str) -> Words:
    """Return the words of a text, whatever their case, accents' form and the signs between them.

    >>> words_of("Lee, Ann (scan_17.pdf)")
    ('lee', 'ann', 'scan', '17', 'pdf')
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return tuple(_WORD.findall(plain[:_LONGEST].casefold()))


def _key(words: Words) -> Words:
    return tuple(sorted(words))


def _is_long(key: Words) -> bool:
    joined = "".join(key)
    return len(joined) >= (_DIGITS if joined.isdigit() else _LETTERS)


def _is_telling(key: Words) -> bool:
    """Tell whether a value is of several words, or of letters and digits, and not a date or a number."""
    joined = "".join(key)
    letters = sum(char.isalpha() for char in joined)
    mixed = (
        0 < letters < len(joined) and len(joined) > _DIGITS + 1 and {*filter(str.isalpha, joined)} != {"t"}
    )
    return mixed or (len(key) > 1 and letters >= _TELLING)


def _cells(table: Table, name: str) -> tuple[NDArray[np.signedinteger], list[str]]:
    """Return the values of a column as texts, a missing one as "", and which of them each record has."""
    codes, texts = column_codes(table, name)
    return narrow_integers(codes), ["" if text is None else text for text in texts.to_pylist()]


def _keys_in(text: str, sizes: Sequence[int], keys: set[Words], known: set[str]) -> Iterator[Words]:
    """Yield the values that stand in a text: neighboring words, in any order, or written together.

    Args:
        known: the words of all values; a text that has none of them is passed over.
    """
    words = words_of(text)
    if known.isdisjoint(words):
        return
    for size in sizes:
        for first in range(len(words) - size + 1):
            key = _key(words[first : first + size])
            if key in keys:
                yield key


def _holds(codes: NDArray[np.signedinteger], hits: Integers, values: _Values) -> bool:
    """Tell whether the cells that hold a value are more than chance explains.

    Args:
        codes: (n,) the cell of each record.
        hits: (h, 2) a cell, and the value that stands in it.
    """
    width = 1 + max(values.keys.values())
    pairs = np.unique(hits[:, 0] * width + hits[:, 1])
    there = values.codes >= 0
    own = int(np.isin(codes[there].astype(np.int64) * width + values.codes[there], pairs).sum())
    cells, numbers = pairs // width, pairs % width
    having = np.bincount(values.codes[there], minlength=width).astype(np.float64)
    showing = np.bincount(codes[codes >= 0], minlength=int(cells.max()) + 1).astype(np.float64)
    chance = float((having[numbers] * showing[cells]).sum()) / max(len(codes), 1)
    if own >= FEWEST and own > _TIMES * chance + _ERRORS * math.sqrt(chance):
        return True
    return len(values.unusual({*numbers.tolist()})) >= FEWEST
