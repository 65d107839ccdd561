"""The names of a table's columns against the policy's: what is undeclared, not there, twice, or alike.

A name that the policy does not have may be a cell: that of the first record of a file without a header. Such
names are reported by position; the error carries them separately, for a terminal that asks (`--show-values`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.spelling import escape, look_alikes

HEADERLESS = "The first line may be a record: the file may have no header."
_WITHHELD = (
    "Undeclared names are hidden because they may be data. To see them, run with --show-values on a terminal."
)
_MOST_PLACES = 20
_LONGEST = 60
_SAME = 2  # columns that have their name among their values, which is no chance


def refuse_names(got: Sequence[str], declared: Sequence[str]) -> None:
    """Refuse columns that are not those of the policy.

    Raises:
        InputError: undeclared, repeated, lacking or look-alike names; all listed. Only names that the policy
            declares are quoted, all others are reported by number and positions (from 1).
    """
    problems = list(_problems(got, declared))
    if not problems:
        return
    strange = [name for name in got if name not in set(declared)]
    if strange:
        problems += [HEADERLESS] if looks_headerless(strange) else []
        problems.append(_WITHHELD)
    raise InputError(problems, names=withheld_names(got, declared))


def withheld_names(got: Sequence[str], declared: Sequence[str]) -> list[str]:
    """Return the names that no message quotes, each with its place, for a terminal that asks for them."""
    known = set(declared)
    return [
        f"column {place}: {escape(name[:_LONGEST])}{'…' if len(name) > _LONGEST else ''}"
        for place, name in enumerate(got, 1)
        if name not in known
    ]


def looks_headerless(strange: Sequence[str]) -> bool:
    """Tell whether one of some undeclared names looks like a value: nothing, no letter, or an address."""
    return any("@" in name or not any(char.isalpha() for char in name) for name in strange)


def looks_like_record(frame: pd.DataFrame) -> bool:
    """Tell whether the names of a table's columns are probably a record, or repeated among the records.

    So it is if half of the columns with texts, and at least two, have their name among their values. A column
    whose only value is its name is an answer that somebody ticked, and does not count.

    Args:
        frame: (n, columns).

    >>> looks_like_record(pd.DataFrame({"Cork": ["Sligo", " Cork"], "flu": ["none", "flu"], "7": [1, 2]}))
    True
    >>> looks_like_record(pd.DataFrame({"Tea": ["Tea", None], "Milk": [None, "Milk"], "age": ["7", "8"]}))
    False
    """
    texts = frame.select_dtypes(["str", "object"])
    same = 0
    for place, name in enumerate(texts.columns):
        column = texts.iloc[:, place].dropna().astype("str").str.strip()
        named = column == str(name).strip()
        same += bool(named.any() and not (named | (column == "")).all())
    return same >= _SAME and 2 * same >= len(texts.columns)


def places(numbers: Sequence[int]) -> str:
    """Write places of columns, the first of them where there are many.

    >>> places([2, 5])
    '2, 5'
    """
    shown = ", ".join(map(str, numbers[:_MOST_PLACES]))
    left = len(numbers) - _MOST_PLACES
    return f"{shown} and {left} more" if left > 0 else shown


def _problems(got: Sequence[str], declared: Sequence[str]) -> Iterator[str]:
    undeclared, lacking = sorted(set(got) - set(declared)), sorted(set(declared) - set(got))
    alike = look_alikes(undeclared, lacking)
    if got and not alike and not set(got) & set(declared):
        yield (
            f"columns of the policy must be in the data, got none of {len(declared)}, but {len(got)} others. "
            "Is there a header line?"
        )
        return
    yield from _repeated_names(got, set(declared))
    for one, other in alike:
        undeclared, lacking = [n for n in undeclared if n != other], [n for n in lacking if n != one]
        yield (
            f"columns must be named as in the policy, got a name in place {got.index(other) + 1} that only "
            f"looks like {escape(one)}. Write it in the same way in both."
        )
    for pair in look_alikes(dict.fromkeys(got)):
        one, other = (
            _name_or_place(name, got, declared) for name in sorted(pair, key=lambda n: n not in declared)
        )
        yield f"columns must not look alike, got {one} and {other}"
    if len(undeclared) == len(lacking) == 1 and len(got) == len(set(got)):
        yield (
            f"columns must be named as in the policy, got no {lacking[0]}; the policy does not declare "
            f"column {got.index(undeclared[0]) + 1} of the data. If this is the same column, correct its "
            "name in the policy."
        )
        return
    if undeclared:
        where = [place for place, name in enumerate(got, 1) if name in set(undeclared)]
        columns = "column" if len(where) == 1 else "columns"
        yield (
            f"the policy does not declare {len(where)} {columns} of the data: {columns} {places(where)}. "
            f"Give each a role (identifier with action: drop removes it)."
        )
    if lacking:
        yield f"columns of the policy must be in the data, not there: {', '.join(lacking)}"


def _repeated_names(got: Sequence[str], declared: set[str]) -> Iterator[str]:
    twice = {name for name in got if got.count(name) > 1}
    if known := sorted(twice & declared):
        yield f"columns must be named once, got twice: {', '.join(map(escape, known))}"
    if twice - declared:
        where = [place for place, name in enumerate(got, 1) if name in twice - declared]
        yield f"columns must be named once, got equal names in the places {places(where)}"


def _name_or_place(name: str, got: Sequence[str], declared: Sequence[str]) -> str:
    return escape(name) if name in declared else f"a name in place {got.index(name) + 1}"
