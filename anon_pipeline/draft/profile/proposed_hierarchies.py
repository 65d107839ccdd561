"""A hierarchy for a column: intervals of public steps, calendar units, prefixes, a table of categories.

A table holds values of the data: it is private, and goes to a file that the policy names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from anon_pipeline.catalog.detectors.name_hints import Hint
from anon_pipeline.draft.profile.look import Kind, Look
from anon_pipeline.draft.profile.questions import TABLE
from anon_pipeline.draft.profile.steps import inner_bounds, nested_steps, step_from
from anon_pipeline.hierarchy.levels import TOP
from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.hierarchies import Dates, Intervals, Mask, Suppress, Table, Tree

MOST_CATEGORIES = 1_000
"""Values that a table of categories may have: a list of more is one that nobody checks."""
OTHER = "other"
_FEW = 6  # values that are released as they are, or not at all
_RARE = 0.02  # share of the records below which a category is one of the others
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
        names: dict[str, list[str]] = {}
        for leaf, name, _ in self.rows:
            names.setdefault(name, []).append(leaf)
        return Tree(tree=names)


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


def _prefixes(look: Look) -> ProposedHierarchy | None:
    """Mask postal codes from the right, down to the first character."""
    texts = look.values.map(lambda value: f"{value:.0f}" if isinstance(value, float) else str(value))
    lengths = texts.str.len()
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
    """Categories by common words, by their first characters, or rare ones as *other*; few as they are."""
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
    names = _by_frequency(texts, look)
    return _table([texts, names], f"categories of less than {_RARE:.0%} of the records as {OTHER}")


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


def _by_frequency(texts: Sequence[str], look: Look) -> list[str]:
    """Keep frequent categories, but for the least frequent of them where only one would be rare."""
    share = look.counts / look.counts.sum()
    most = np.sort(share)[::-1][: max(len(texts) // 2, 1)][-1]
    frequent = share >= max(_RARE, float(most))
    return [text if keep else OTHER for text, keep in zip(texts, frequent, strict=True)]


def as_series(look: Look) -> pd.Series:
    """Return the values of all records, (n,), as they are read."""
    whole = look.values.reindex(range(-1, len(look.values)))
    return pd.Series(whole.to_numpy()[look.codes + 1], name=look.seen.name)
