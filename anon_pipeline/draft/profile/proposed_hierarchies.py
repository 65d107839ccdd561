"""A hierarchy for a column: intervals of public steps, calendar units, prefixes, a table of categories.

A table holds values of the data: it is private, and goes to a file that the policy names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.catalog.detectors.name_hints import Hint
from anon_pipeline.draft.profile.look import Kind, Look
from anon_pipeline.draft.profile.questions import TABLE
from anon_pipeline.draft.profile.steps import inner_bounds, nested_steps, step_from
from anon_pipeline.draft.profile.usual_k import usual_k
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.hierarchies import Dates, Intervals, Mask, Suppress, Table, Tree

MOST_CATEGORIES = 1_000
"""Values that a table of categories may have: a list of more is one that nobody checks."""
OTHER = "other"
_FEW = 6  # values that are released as they are, or not at all
_RARE = 0.02  # share of the records below which a category is rare
_BINS = 20  # intervals of the finest level, about
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class ProposedHierarchy:
    """A hierarchy with its reason.

    spec: the policy's description of it; of a table without its path, see ``rows``.
    reason: by what rule, for people; no value of the data.
    rows: lines of a table, ``(leaf, level 1, …, top)``, private; none for other kinds.
    question: what its author should look at; None: nothing.
    """

    spec: Strict
    reason: str
    rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    question: str | None = None

    def as_tree(self) -> Tree:
        """Return the table as a taxonomy, which needs no file: private."""
        tree: dict[str, Any] = {}
        for leaf, *names in (row[:-1] for row in self.rows):
            below = tree
            for name in names[:0:-1]:
                below = below.setdefault(name, {})
            below.setdefault(names[0], []).append(leaf)
        return Tree(tree=tree)


def propose_hierarchy(look: Look, hint: Hint | None) -> ProposedHierarchy | None:
    """Propose a hierarchy for a column.

    Args:
        look: the column, as it is read.
        hint: what its name says.
    Returns:
        None where no rule fits: too many categories, or free text.
    """
    if hint is not None and hint.is_postal and look.seen.date is None:
        found = _prefixes(look)
        if found is not None:
            return found
    if look.seen.kind is Kind.DATE:
        return _calendar(look)
    if look.seen.kind is Kind.NUMBER:
        return _intervals(look, hint)
    return propose_categories(look) if look.seen.kind is Kind.CATEGORY else None


def lack_zeros(codes: pd.Series) -> bool:
    """Tell whether some postal codes are one digit shorter than the others, and none begins with a zero.

    >>> lack_zeros(pd.Series(["10115", "1067"])), lack_zeros(pd.Series(["10115", "01067"]))
    (True, False)
    """
    texts = _texts_of(codes)
    digits = bool(texts.str.fullmatch("[1-9][0-9]*").all())
    return digits and {*texts.str.len()} == {int(texts.str.len().max()) - 1, int(texts.str.len().max())}


def _texts_of(codes: pd.Series) -> pd.Series:
    return codes.map(lambda value: f"{value:.0f}" if isinstance(value, float) else str(value)).astype("str")


def _prefixes(look: Look) -> ProposedHierarchy | None:
    """Mask postal codes from the right, down to the first character."""
    lengths = _texts_of(look.values).str.len()
    longest = int(lengths.max())
    if not 3 <= longest <= 10 or lengths.min() < longest - 2:
        return None
    hidden = tuple(range(max(longest - 3, 1), longest))
    return ProposedHierarchy(
        Mask(mask=hidden), f"postal codes by their first {longest - hidden[0]} characters or fewer"
    )


def _calendar(look: Look) -> ProposedHierarchy:
    years = float((look.values.max() - look.values.min()).days) / 365.25
    if years > 5:
        return ProposedHierarchy(
            Dates(dates=("year", "decade")), "dates over more than five years: years, decades"
        )
    return ProposedHierarchy(
        Dates(dates=("month", "quarter", "year")), "dates within five years: months, quarters, years"
    )


def _intervals(look: Look, hint: Hint | None) -> ProposedHierarchy:
    """Intervals of public steps, with open ends that hold at least 20 records each."""
    numbers = look.values.to_numpy(np.float64)
    if look.seen.whole and look.seen.different <= _FEW:
        return ProposedHierarchy(Suppress(suppress=True), "a few whole numbers: the number, or nothing")
    if hint is not None and hint.is_age and numbers.min() >= 0 and numbers.max() < 130:
        return ProposedHierarchy(
            Intervals(intervals=(5, 10, 20), bottom=0, top=90),
            "ages by 5, 10 and 20 years, one class from 90 on",
        )
    rows = np.repeat(numbers, look.counts)
    low, high = (float(q) for q in np.quantile(rows, (0.02, 0.98)))
    span = high - low or float(np.ptp(numbers)) or 1.0
    width = step_from(max(span / _BINS, 1.0 if look.seen.whole else 0.0))
    bottom, top = inner_bounds(rows, width)
    return ProposedHierarchy(
        Intervals(intervals=nested_steps(width, span), bottom=bottom, top=top),
        "intervals of public steps (1, 2, 5 and powers of ten)"
        + ("; each open end holds at least 20 records" if bottom is not None or top is not None else ""),
    )


def propose_categories(look: Look) -> ProposedHierarchy | None:
    """Categories by common words, by their first characters, or less frequent ones as *other*."""
    texts = [str(text) for text in look.values]
    if len(texts) <= _FEW:
        return ProposedHierarchy(Suppress(suppress=True), "few categories: the category, or nothing")
    if len(texts) > MOST_CATEGORIES or any(not text.strip() or len(text) > 200 for text in texts):
        return None
    ways: tuple[tuple[Callable[[Sequence[str]], list[str] | None], str], ...] = (
        (_by_code, "codes by their first characters"),
        (_by_word, "categories by a word that they have in common"),
    )
    for way, reason in ways:
        names = way(texts)
        if names is not None:
            return _table([texts, names], reason)
    levels, reason = _by_frequency(texts, look)
    return _table([texts, *levels], reason)


def _table(levels: Sequence[Sequence[str]], reason: str) -> ProposedHierarchy:
    rows = sorted(zip(*levels, [TOP] * len(levels[0]), strict=True), key=lambda row: row[::-1])
    return ProposedHierarchy(
        Table(table="-"),
        reason,
        tuple(rows),
        TABLE,
    )


def _worth_it(names: Sequence[str]) -> bool:
    """Tell whether names make fewer classes than there are values, and more than one of some size."""
    sizes = Counter(names)
    together = sum(size for size in sizes.values() if size > 1)
    return 2 <= len(sizes) <= len(names) / 2 and together >= 0.6 * len(names)


def _by_code(texts: Sequence[str]) -> list[str] | None:
    """Name codes such as ``J45.1`` by the part before the point, else by their first character."""
    if not all(re.fullmatch(r"[A-Za-z]{0,3}\d[\w.\-/]{1,12}", text) for text in texts):
        return None
    parts = [re.split(r"[.\-/]", text)[0] for text in texts]
    firsts = [text[:1] for text in texts]
    if _worth_it(parts):
        return parts
    return firsts if _worth_it(firsts) else None


def _by_word(texts: Sequence[str]) -> list[str] | None:
    """Name each category by its most shared word; those that share none are others."""
    words = [[word.casefold() for word in _WORD.findall(text)] for text in texts]
    shared = Counter(word for own in words for word in dict.fromkeys(own))
    names = []
    for own in words:
        best = max(own, key=lambda word: shared[word], default="")
        names.append(best if best and shared[best] > 1 else OTHER)
    return names if _worth_it(names) and names.count(OTHER) < len(names) / 2 else None


def _by_frequency(texts: Sequence[str], look: Look) -> tuple[list[list[str]], str]:
    """Name rare categories `OTHER`, on the next level the less frequent half of all.

    Rare are those of less than a share of the records; where that is less than k, or all are rare, those of
    fewer than k. Without rare ones there is one level.

    Returns:
        Names of the categories on each level, and what was done, for people.
    """
    k, fewest, said = (
        usual_k(look.seen.records),
        _RARE * int(look.counts.sum()),
        f"{_RARE:.0%} of the records",
    )
    if fewest < k or not (look.counts >= fewest).any():
        fewest, said = k, f"{k} records"
    order = sorted(range(len(texts)), key=lambda place: (look.counts[place], texts[place]))
    rare, half = _count_rare(look.counts[order], fewest), len(texts) - len(texts) // 2
    sizes = [half] if not rare else [rare] if rare >= half else [rare, half]
    levels = []
    for size in sizes:
        others = set(order[:size])
        levels.append([OTHER if place in others else text for place, text in enumerate(texts)])
    ways = [f"those of less than {said} as {OTHER}"] if rare else []
    ways += [f"the less frequent half as {OTHER}"] if half in sizes[-1:] else []
    return levels, ", or ".join(["the category", *ways, "nothing"])


def _count_rare(counts: NDArray[np.int64], fewest: float) -> int:
    """Count the categories that become others: together they are not rare, and at least two; 0: none, or all.

    Args:
        counts: (v,) records of each category, the rarest first.
        fewest: records from which on a category is not rare.
    """
    rare = int((counts < fewest).sum())
    while 0 < rare < len(counts) and (rare < 2 or counts[:rare].sum() < fewest):
        rare += 1
    return rare if rare < len(counts) else 0


def as_series(look: Look) -> pd.Series:
    """Return the values of all records, (n,), as they are read."""
    whole = look.values.reindex(range(-1, len(look.values)))
    return pd.Series(whole.to_numpy()[look.codes + 1], name=look.seen.name)
