"""Rules of values in a column (generalized, coarse, hashed, on a grid), each with values that break it.

Belongs here: when a column is as it should be. Does not belong here: which column has which rule (`stages`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.grid import to_grid
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.columns import Column
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.stages.coarsen import coarse_numbers
from anon_pipeline.stages.contracts.identifiers import RULE, no_identifiers
from anon_pipeline.stages.contracts.shape import Rule
from anon_pipeline.stages.deidentify import MASKED
from anon_pipeline.stages.persons import ID

_HASH = 64
_DAY = r"-?\d{4,}-\d\d-\d\d"


def rule_with(name: str, holds: Callable[[pd.Series], bool], bad: Iterable[object]) -> Rule:
    """Return a rule, with values that break it, each in a column of its own."""
    return Rule(name, holds, tuple(pd.Series([value]) for value in bad))


IS_PERSON = rule_with(
    "must be a keyed hash of a person",
    lambda s: bool(s.str.fullmatch(rf"[0-9a-f]{{{ID}}}").all()),
    ["Ann", "0" * 2 * ID],
)
IS_RECORD_KEY = Rule(
    "must be a keyed hash, different in every record",
    lambda s: bool(s.str.fullmatch(rf"[0-9a-f]{{{2 * ID}}}").all()) and not s.str[:ID].duplicated().any(),
    (pd.Series(["Ann"]), pd.Series(["0" * 2 * ID] * 2)),
    counts=True,
)
IS_MASKED = rule_with("must be masked", lambda s: set(s.dropna().unique()) <= {MASKED}, ["Ann"])
IS_HASHED = rule_with(
    "must be a keyed hash",
    lambda s: bool(s.dropna().str.fullmatch(rf"[0-9a-f]{{{_HASH}}}").all()),
    ["Ann", "A" * _HASH],
)


def identifier_rules(column: Column) -> list[Rule]:
    """Return the rule that no identifier is in a column; none where the policy allows all that there are."""
    rule = no_identifiers(column)
    return [rule_with(RULE, rule, rule.bad)] if rule.bad else []


def coarse_rules(name: str, column: Column, hierarchies: Path) -> list[Rule]:
    """Return the rule that values are as coarse as the policy says; none for a column that stays as it is."""
    if not isinstance(column, Coarsened) or not column.coarse:
        return []
    if column.bounded:
        low, high = column.bottom, column.top
        bad = [] if column.round is None else [column.round / 2]
        bad += [] if low is None else [float(np.nextafter(low, -np.inf))]
        bad += [] if high is None else [float(np.nextafter(high, np.inf))]
        return [rule_with(f"must be {column.words}", partial(_is_coarse, column), bad)]
    spec, level = column.hierarchy, int(column.level or 0)
    height, fits, _ = import_entry(hierarchy_kind(spec).recognizes)(name, spec, hierarchies)
    holds = partial(_is_at_level, fits, level if level < height else None)
    return [rule_with(f"must be {column.words}", holds, ["\0"])]


def _is_at_level(fits: Callable[[str, int], bool], level: int | None, series: pd.Series) -> bool:
    """Tell whether all texts of a column are on a level; none is on one that there is not."""
    return level is not None and all(fits(text, level) for text in series.dropna().astype(str).unique())


def _is_coarse(column: Coarsened, series: pd.Series) -> bool:
    """Tell whether numbers are just those that coarsening makes: it changes none of them."""
    numbers = series.dropna().astype(np.float64)
    return bool(np.array_equal(coarse_numbers(numbers, column).to_numpy(np.float64), numbers.to_numpy()))


def _between(hierarchy: Hierarchy, texts: pd.Series) -> bool:
    """Whether texts are numbers, or days, between the least and the greatest leaf."""
    coordinates = hierarchy.coordinates
    if coordinates is None:
        return False
    if re.fullmatch(_DAY, str(hierarchy.values[0][0])):
        if not texts.str.fullmatch(_DAY).all():
            return False
        found = texts.to_numpy("datetime64[D]").astype("int64")
    else:
        found = pd.to_numeric(texts, errors="coerce").to_numpy("float64")
    known = coordinates[~np.isnan(coordinates)]
    return bool(((found >= known.min()) & (found <= known.max())).all())


def generalized_rule(
    hierarchy: Hierarchy, levels: dict[str, int] | None, *, means: bool, cells: bool
) -> Rule:
    """Return the rule that values are those which a recoder releases.

    Args:
        levels: level of each column after full-domain recoding; None: of any level, or ranges.
        means: whether numbers or days between the column's own may stand there, too.
        cells: whether the top's value may.
    """
    chosen = hierarchy.values if levels is None else (hierarchy.values[levels[hierarchy.column]],)
    chosen = (*chosen, hierarchy.values[-1]) if cells else chosen
    allowed = {str(value) for values in chosen for value in values if value is not None}
    is_range = _range_of(hierarchy) if levels is None else None

    def holds(column: pd.Series) -> bool:
        """Whether all values are allowed texts, or means or ranges that the recoder releases."""
        found = pd.Series(column.dropna().astype("str").unique(), dtype="str")
        others = found[~found.isin(allowed)]
        if means:
            return others.empty or _between(hierarchy, others)
        return others.empty or (is_range is not None and all(map(is_range, others)))

    bad = [_beyond(allowed), *_elsewhere(hierarchy, holds)]
    return rule_with("must be values of the hierarchy at their level", holds, bad)


def _beyond(known: Iterable[str]) -> str:
    """Return a text that is none of some texts: it is longer."""
    return "\0" * (1 + max(map(len, known), default=0))


def _elsewhere(hierarchy: Hierarchy, holds: Callable[[pd.Series], bool]) -> Iterator[str]:
    """Yield one value of a hierarchy that is not allowed, if the ends of its levels have one."""
    ends = (values[place] for values in hierarchy.values for place in (0, -1) if len(values))
    texts = (str(value) for value in ends if value is not None)
    return islice((text for text in texts if not holds(pd.Series([text]))), 1)


def _range_of(hierarchy: Hierarchy) -> Callable[[str], bool] | None:
    """Return a function that recognizes ranges of this hierarchy's values; None if it has no ranges."""
    if hierarchy.coordinates is not None:
        return lambda text: re.fullmatch(r"\[[^\[\]]+, [^\[\]]+\]", text) is not None
    if not hierarchy.ordered:
        return None
    ranks = {str(value): rank for rank, value in enumerate(hierarchy.values[0]) if value is not None}

    def is_range(text: str) -> bool:
        """Whether a text is [low, high], of values in this order; they may have commas themselves."""
        commas = [match.start() for match in re.finditer(", ", text)]
        ends = [(text[1:comma], text[comma + 2 : -1]) for comma in commas]
        return text[:1] + text[-1:] == "[]" and any(
            low in ranks and high in ranks and ranks[low] < ranks[high] for low, high in ends
        )

    return is_range


def domain_rule(domain: Iterable[str]) -> Rule:
    """Return the rule that every value is one of a public domain; none is missing."""
    known = set(domain)
    return rule_with("must be of the policy's domain", lambda s: bool(s.isin(known).all()), [_beyond(known)])


def grid_rule(resolution: float) -> Rule:
    """Return the rule that every number is a multiple of a resolution, in the column's unit."""
    holds = partial(_is_on_grid, resolution)
    return rule_with("must lie on the declared grid", holds, [resolution / 2, float("nan")])


def _is_on_grid(resolution: float, column: pd.Series) -> bool:
    """Tell whether all numbers are multiples of a resolution; a missing one is not."""
    grid = to_grid(column.to_numpy(), resolution)
    return bool((grid == grid.round()).all())
