"""Which released columns break what software can check of HIPAA's Safe Harbor, by policy and released file.

Judged is what will be published, without the originals: whoever has file and policy finds the same.
Source: 45 CFR 164.514(b)(2)(i).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pandas as pd

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.patterns import matches
from anon_pipeline.catalog.detectors.safe_harbor_texts import (
    MORE_THAN_YEARS,
    OTHER_IDENTIFIERS,
    are_days,
    is_full_zip,
    is_state,
    is_year,
    read_span,
    read_zip,
)
from anon_pipeline.policy.columns import Identifier, Perturb, PerturbCategories
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.safe_harbor_rules import held_columns, oldest, unsafe_by_policy

_WORDS = {detector.name: detector.words for detector in DETECTORS}
_DROP = "Set role: identifier with action: drop"
_YEARS = "Release years: hierarchy: {dates: [year]} with level: 1, as the least level of its column"


class _Column(NamedTuple):
    """A released column.

    texts: its different values, as a file has them, missing and hidden ones left out.
    numeric: whether it holds numbers.
    """

    name: str
    texts: Sequence[str]
    numeric: bool


def unsafe_columns(frame: Table, policy: Policy) -> list[str]:
    """List which columns break Safe Harbor, each with what to write.

    Numbers with noise are judged by the policy alone: a verdict must not depend on the noise that was drawn.

    Args:
        frame: (r, columns) what is released.
    Returns:
        Names of columns, what they hold, and what to do; no value.
    """
    found = [*unsafe_by_policy(policy)]
    told = {line.partition(":")[0] for line in found}
    for name in policy.released:
        column = policy.columns[name]
        if name in told or isinstance(column, (Identifier, Perturb)):
            continue
        values = pd.Series(column.domain) if isinstance(column, PerturbCategories) else frame[name]
        found += list(_problems(policy, name, values))[:1]
    return found


def _problems(policy: Policy, name: str, values: pd.Series) -> Iterator[str]:
    """Yield what is wrong with a column, the surest first."""
    column = _read_column(name, values)
    if not column.texts:
        return
    yield from _identifiers(name, values, column.texts)
    holds, said = held_columns(policy).get(name, (None, ""))
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        yield _days(name)
        return
    if holds == "identifiers":
        yield f"{name}: by its name it holds {said}. {_DROP}, or rename it if it is about something else"
    elif holds is not None:
        yield from _RULES[holds](policy, column)
    yield from _dates_unasked(column)
    if any(map(is_full_zip, column.texts)):
        yield f"{name}: must not hold ZIP codes of nine digits. {_DROP}, or release three digits"


def _read_column(name: str, values: pd.Series) -> _Column:
    present = values.dropna().drop_duplicates()
    numeric = pd.api.types.is_numeric_dtype(present.dtype) and not pd.api.types.is_bool_dtype(present.dtype)
    written = (_number_text(value) if numeric else str(value).strip() for value in present.tolist())
    return _Column(name, [text for text in written if text.strip("*")], numeric)


def _number_text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)


def _identifiers(name: str, values: pd.Series, texts: Sequence[str]) -> Iterator[str]:
    """Yield that detectors find identifiers; what ``allow`` allows is one all the same."""
    kinds = [_WORDS[detector] for detector in matches(values)]
    kinds += [said for said, found in OTHER_IDENTIFIERS.items() if found(texts)]
    if kinds:
        yield (
            f"{name}: holds what looks like {' and '.join(kinds)}, which Safe Harbor lets nobody release, "
            f"whatever allow says. {_DROP}"
        )


def _days(name: str) -> str:
    return f"{name}: dates must not be more exact than the year. {_YEARS}, or drop it"


def _dates_unasked(column: _Column) -> Iterator[str]:
    """Yield that values of a column are dates more exact than years, whatever its name."""
    exact = not column.numeric and any(MORE_THAN_YEARS.search(text) for text in column.texts)
    if exact or are_days(column.texts):
        yield _days(column.name)


def _dates(policy: Policy, column: _Column) -> Iterator[str]:
    if not all(map(is_year, column.texts)):
        yield _days(column.name)


def _birth_years(policy: Policy, column: _Column) -> Iterator[str]:
    """Yield that dates of birth are not years, or reveal ages over 89."""
    name, as_of = column.name, policy.gate.safe_harbor_terms.as_of
    if not all(map(is_year, column.texts)):
        yield _days(name)
    elif as_of is None:
        yield (
            f"{name}: years of birth reveal ages over 89. Write the year in which ages count under "
            "gate.safe_harbor_terms.as_of, or drop it"
        )
    else:
        first, bottom = as_of - 89, getattr(policy.columns[name], "bottom", None)
        group = bottom if bottom is not None and bottom >= first - 1 else None
        spans = [read_span(text) for text in column.texts]
        if any(s is None or not (s.low >= first or s.opens_below(first) or s.is_just(group)) for s in spans):
            yield (
                f"{name}: years of birth before {first} reveal ages over 89 in {as_of}, and must be one "
                f"group. Set bottom: {first - 1} (of a hierarchy of intervals bottom: {first}), or drop it"
            )


def _ages(policy: Policy, column: _Column) -> Iterator[str]:
    """Yield that ages over 89 are not one group; texts without a digit are names of groups."""
    limit, top = oldest(policy, column.name), getattr(policy.columns[column.name], "top", None)
    group = top if top is not None and top <= limit else None
    for text in column.texts:
        span = read_span(text)
        if span is None:
            if any(char.isdigit() for char in text):
                break
        elif not (span.ends_below(limit) or span.opens_above(limit) or span.is_just(group)):
            break
    else:
        return
    yield (
        f"{column.name}: ages over 89 must be one group, {limit:g} and above, and no other group may end "
        f"beyond {limit:g}. Set top: {limit:g}, in a hierarchy of intervals too"
    )


def _zips(policy: Policy, column: _Column) -> Iterator[str]:
    """Yield that ZIP codes show more than three digits, or three of an area of few people."""
    name, small = column.name, {*policy.gate.safe_harbor_terms.small_zips}
    read = [read_zip(text) for text in column.texts if not is_state(text)]
    if None in read:
        yield (
            f"{name}: ZIP codes must show three digits or fewer, of intervals whole hundreds. Set hierarchy: "
            f"{{mask: [2]}} with level: 1, as the least level of its column, or drop it"
        )
    elif any(areas and areas <= small for areas in read):
        yield (
            f"{name}: three digits of ZIP codes in whose area 20,000 people or fewer live must be 000. Write "
            f"them so in clean.columns.{name}.values, or as leaves of a hierarchy table, or drop it"
        )


def _places(policy: Policy, column: _Column) -> Iterator[str]:
    if not all(map(is_state, column.texts)):
        yield (
            f"{column.name}: by its name it holds places smaller than a state. {_DROP}, or generalize it "
            f"to states of the United States"
        )


_RULES: dict[str, Callable[[Policy, _Column], Iterator[str]]] = {
    "ages": _ages,
    "zips": _zips,
    "days": _dates,
    "birth years": _birth_years,
    "places": _places,
}
