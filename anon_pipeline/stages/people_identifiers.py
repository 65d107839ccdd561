"""Identifiers that say by themselves that a person has several records: an e-mail address that repeats.

Names may be those of several people. They count where other columns say so, too: who has the same name and
the same date of birth, street or telephone is one person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.base.values import WrittenColumns, arrow_codes
from anon_pipeline.catalog.detectors.identifying_names import is_number_name, telling_name
from anon_pipeline.evidence.identifier_values import words_of
from anon_pipeline.evidence.released_columns import MANY
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.agreement import ALIKE, beyond_chance, repeated_groups
from anon_pipeline.risk.singling_out import FEWEST

_OWN = frozenset(
    {
        "e-mail addresses",
        "numbers of persons",
        "numbers of persons or documents",
        "numbers of accounts or cards",
    }
)
"""What a person has for themself (`telling_names`); telephones and addresses are those of a home."""

_SHARE = 0.05
"""Share of the records beyond the first of their value, up to which values are repeated by mistake."""

_MOST = (
    0.1  # share of repeated names from which one of their words in another column makes it follow from them
)
_LOOKED = 200  # of these
_NAME = re.compile(r"[^\W\d_]{2,}[ ,.]+[^\W\d_]{2,}")  # two words

_WHITE = "".join(filter(str.isspace, map(chr, range(128))))

Integers = NDArray[np.integer]


def people_identifiers(
    written: WrittenColumns, policy: Policy, people: Mapping[str, Integers], *, said: str | None
) -> tuple[str, ...]:
    """Name the identifiers whose repeated values are those of people with several records.

    One counts whose name says that it is one person's (e-mail address, number of a person, of a document, of
    an account; `id` and other words for a number alone where nobody says who the people are), where more
    than `_SHARE` of the records repeat a value. Names of people count, first and last names together, where
    records of one name agree by more than `ALIKE` beyond chance in another column of `MANY` values or more
    that does not follow from the name.

    Args:
        written: accepted data; one record of each person where the policy says who they are.
        people: of each identifier but that one, the numbers of `same_person`.
        said: the identifier that says so; None: none does.
    """
    own = [
        name
        for name, values in people.items()
        if (telling_name(name) in _OWN or (said is None and is_number_name(name))) and _repeats(values)
    ]
    names = [name for name in people if telling_name(name) == "names of persons"]
    values = _together([people[name] for name in names])
    return (*own, *(names if _named_alike(written, policy, names, values, said) else ()))


def same_person(column: pd.Series) -> Integers:
    """Number the values that say who it is, whatever their case and the white space around them, (n,).

    Missing and empty ones are −1.
    """
    return same_text(*arrow_codes(column))


def same_text(codes: Integers, texts: pa.LargeStringArray) -> Integers:
    """Number values as `same_person` does, by their `arrow_codes`."""
    bare = _bare(texts)
    if bare.equals(texts):
        there = texts.is_valid().to_numpy(zero_copy_only=False)
        numbers = np.where(there, np.cumsum(there) - 1, -1)
    else:
        numbers = pc.dictionary_encode(bare).indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return numbers.astype(np.int64)[codes]


def _bare(written: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return texts without case and the white space around them; empty ones are missing.

    Arrow does what Python does to texts of ASCII alone; the others are left to Python.
    """
    bare = pc.ascii_lower(pc.ascii_trim(written, characters=_WHITE))
    other = pc.invert(pc.string_is_ascii(written)).fill_null(False)
    if pc.any(other).as_py():
        plain = [text.strip().casefold() for text in written.filter(other).to_pylist()]
        bare = pc.replace_with_mask(bare, other, pa.array(plain, type=pa.large_string()))
    return pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.large_string()), bare)


def _together(columns: Sequence[Integers]) -> Integers:
    """Number the values of some columns together, (n,), −1 where one is missing."""
    whole = columns[0].astype(np.int64) if columns else np.empty(0, np.int64)
    for numbers in columns[1:]:
        packed = pd.factorize(whole * (int(numbers.max(initial=0)) + 1) + numbers)[0].astype(np.int64)
        whole = np.where((whole >= 0) & (numbers >= 0), packed, -1)
    return whole


def _repeats(values: Integers) -> bool:
    """Tell whether enough records have a value that others have before them."""
    there = values[values >= 0]
    again = len(there) - int(np.count_nonzero(np.bincount(there)))
    return again >= FEWEST and again > _SHARE * len(there)


def _named_alike(
    written: WrittenColumns, policy: Policy, names: Sequence[str], values: Integers, said: str | None
) -> bool:
    """Return whether records of one full name (by number) agree in another value that identifies people."""
    frame = written.frame
    if not names or not _repeats(values) or (len(names) == 1 and not _is_full(frame[names[0]])):
        return False
    among = repeated_groups(values)
    texts = _texts(frame, names, among.inside)
    for name in policy.columns:
        if name in names or name == said:
            continue
        codes = written.codes(name)
        if int(codes.max(initial=-1)) + 1 < MANY:
            continue
        found = beyond_chance(np.bincount(codes), among.select(codes), among)
        if found is not None and found > ALIKE and not _follows(texts, _texts(frame, [name], among.inside)):
            return True
    return False


def _is_full(series: pd.Series) -> bool:
    """Tell whether most values are of two words: a family name alone is that of several people."""
    seen: dict[str, None] = {}
    for part in slices_of(len(series)):
        seen |= dict.fromkeys(series.iloc[part].dropna().astype(str).unique()[: 10 * _LOOKED])
        if len(seen) >= 10 * _LOOKED:
            break
    known = list(seen)[: 10 * _LOOKED]
    return 2 * sum(_NAME.search(text) is not None for text in known) > len(known)


def _texts(frame: Table, names: Sequence[str], rows: Integers) -> list[str]:
    """Return what some columns say together, of a few records."""
    few = some_rows(frame, rows[:: -(-len(rows) // _LOOKED)].astype(np.int64), names)
    return [
        " ".join("" if pd.isna(cell) else str(cell) for cell in row) for row in few.itertuples(index=False)
    ]


def _follows(names: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether words of names are in the other columns: ``ann.lee`` is made of Ann Lee."""
    made = sum(
        any(len(word) > 1 and word in other.casefold() for word in words_of(name))
        for name, other in zip(names, others, strict=True)
    )
    return made > _MOST * len(names)
