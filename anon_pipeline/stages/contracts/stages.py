"""The shape of each stage's table, as contracts built from the policy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import CLASS, PERSON, RECORD
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.grid import to_grid
from anon_pipeline.policy.coarsening import Coarsened
from anon_pipeline.policy.columns import Column, Identifier, Perturb, PerturbCategories, Sensitive
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.coarsen import coarse_numbers
from anon_pipeline.stages.contracts.identifiers import (
    RULE,
    NoIdentifiers,
    describe_identifiers,
    no_identifiers,
)
from anon_pipeline.stages.contracts.shape import TABLE, Contract, Rule, Shape, broken_rules
from anon_pipeline.stages.contracts.witness import broken_by_pandera, list_missed_breaks
from anon_pipeline.stages.deidentify import MASKED
from anon_pipeline.stages.persons import ID

_HASH = 64
_DAY = r"-?\d{4,}-\d\d-\d\d"

_TABLE_RULES = {
    f"{TABLE}: column_in_schema": "table: has a column that must not be there (an identifier, perhaps)",
    f"{TABLE}: column_in_dataframe": "table: lacks a column that must be there",
    f"{TABLE}: dataframe_column_labels_unique": "table: has two columns of the same name",
}
"""What the lines that Pandera writes about a whole table mean."""


def broken_contract(frame: pd.DataFrame, contract: Contract) -> list[str]:
    """Check a table and list what is broken: column and rule, with counts where the rule counts.

    Our own comparisons and Pandera judge it, each proven beforehand on tables that must be refused. What one
    of them finds is broken; that the other does not find it is a problem of its own.

    Args:
        frame: (n, columns).
    Returns:
        One line per broken rule, sorted; empty if the contract holds.
    """
    problems = set(list_missed_breaks(contract))
    own, other = broken_rules(frame, contract), broken_by_pandera(frame, contract)
    if bool(own) != bool(other):
        problems.add("our own checks and Pandera's must agree on the contract; they do not")
    found = describe_identifiers(problems | own | other, frame, _identifier_rules(contract))
    return [_TABLE_RULES.get(line, line) for line in found]


def _identifier_rules(contract: Contract) -> dict[str, NoIdentifiers]:
    """Return the rule about identifiers of each column that has it."""
    asked = ((name, rule.holds) for name, shape in contract.columns.items() for rule in shape.rules)
    return {name: rule for name, rule in asked if isinstance(rule, NoIdentifiers)}


def _one(name: str, holds: Callable[[pd.Series], bool], bad: Iterable[object]) -> Rule:
    """Return a rule, with values that break it, each in a column of its own."""
    return Rule(name, holds, tuple(pd.Series([value]) for value in bad))


def _column(dtype: str | None, rules: Iterable[Rule], *, nullable: bool) -> Shape:
    return Shape(dtype, tuple(rules), nullable)


def _ids(*names: str) -> dict[str, Shape]:
    return {name: _column("int64", [], nullable=False) for name in names}


def raw_contract(policy: Policy) -> Contract:
    """Every declared column and the record id; numbers are numbers; values where they must be."""
    columns = {name: _original(column) for name, column in policy.columns.items()}
    return Contract({**_ids(RECORD), **columns})


def _original(column: Column, checks: Iterable[Rule] = ()) -> Shape:
    numeric = isinstance(column, Perturb)
    allowed = not isinstance(column, (Perturb, PerturbCategories, Sensitive)) or column.missing == LEFT_OUT
    return _column("float64" if numeric else None, checks, nullable=allowed)


def _clean(column: Column) -> list[Rule]:
    """Return the rule that no identifier is in a column; none where the policy allows all that there are."""
    rule = no_identifiers(column)
    return [_one(RULE, rule, rule.bad)] if rule.bad else []


def _coarse(name: str, column: Column, hierarchies: Path) -> list[Rule]:
    """Return the rule that values are as coarse as the policy says; none for a column that stays as it is."""
    if not isinstance(column, Coarsened) or not column.coarse:
        return []
    if column.bounded:
        low, high = column.bottom, column.top
        bad = [] if column.round is None else [column.round / 2]
        bad += [] if low is None else [float(np.nextafter(low, -np.inf))]
        bad += [] if high is None else [float(np.nextafter(high, np.inf))]
        return [_one(f"must be {column.words}", partial(_is_coarse, column), bad)]
    spec, level = column.hierarchy, int(column.level or 0)
    height, fits, _ = import_entry(hierarchy_kind(spec).recognizes)(name, spec, hierarchies)

    def holds(series: pd.Series) -> bool:
        texts = series.dropna().astype(str).unique()
        return level < height and all(fits(text, level) for text in texts)

    return [_one(f"must be {column.words}", holds, ["\0"])]


def _is_coarse(column: Coarsened, series: pd.Series) -> bool:
    """Tell whether numbers are just those that coarsening makes: it changes none of them."""
    numbers = series.dropna().astype(np.float64)
    return bool(np.array_equal(coarse_numbers(numbers, column).to_numpy(np.float64), numbers.to_numpy()))


def deidentified_contract(policy: Policy, hierarchies: Path = Path()) -> Contract:
    """No dropped identifier is left, masked and hashed ones look so, no other text holds one.

    What is released without noise is as coarse as the policy says.

    Args:
        hierarchies: folder of the hierarchy tables.
    """
    columns: dict[str, Shape] = {}
    for name in policy.released:
        column = policy.columns[name]
        if isinstance(column, Identifier):
            columns[name] = _replacement_shape(column)
        else:
            rules = [*_clean(column), *_coarse(name, column, hierarchies)]
            columns[name] = _original(column, rules)
    return Contract({**_ids(RECORD), **_person(policy), **columns})


def _person(policy: Policy) -> dict[str, Shape]:
    """Return the column that says whose record it is: a keyed hash; of a record key different in each."""
    if policy.person is not None:
        return {PERSON: _column(None, [IS_PERSON], nullable=False)}
    if policy.record_key is None:
        return {}
    rule = Rule(
        "must be a keyed hash, different in every record",
        lambda s: bool(s.str.fullmatch(rf"[0-9a-f]{{{2 * ID}}}").all()) and not s.str[:ID].duplicated().any(),
        (pd.Series(["Ann"]), pd.Series(["0" * 2 * ID] * 2)),
    )
    return {PERSON: _column(None, [rule], nullable=False)}


IS_PERSON = _one(
    "must be a keyed hash of a person",
    lambda s: bool(s.str.fullmatch(rf"[0-9a-f]{{{ID}}}").all()),
    ["Ann", "0" * 2 * ID],
)
IS_MASKED = _one("must be masked", lambda s: set(s.dropna().unique()) <= {MASKED}, ["Ann"])
IS_HASHED = _one(
    "must be a keyed hash",
    lambda s: bool(s.dropna().str.fullmatch(rf"[0-9a-f]{{{_HASH}}}").all()),
    ["Ann", "A" * _HASH],
)


def _replacement_shape(column: Identifier) -> Shape:
    place = IDENTIFIER_ACTIONS[column.action].rule
    return _column(None, [] if place is None else [import_entry(place)], nullable=True)


def k_anonymized_contract(
    policy: Policy,
    hierarchies: Iterable[Hierarchy],
    levels: dict[str, int] | None,
    folder: Path = Path(),
) -> Contract:
    """Generalized values are values of their hierarchy: of the chosen level, of any level or range, or means.

    Args:
        policy: names the columns; with ``suppress: cells`` the top's value may be anywhere.
        hierarchies: of the generalize columns, in the policy's order.
        levels: level of each column after full-domain recoding; None after local recoding.
        folder: of the hierarchy tables.
    """
    columns = dict(deidentified_contract(policy, folder).columns)
    for hierarchy in hierarchies:
        means = recoder_of(policy.anonymize.recoder).family.releases == "means"
        cells = policy.anonymize.suppress == "cells"
        rule = _generalized_rule(hierarchy, levels, means=means, cells=cells)
        columns[hierarchy.column] = _column(None, [rule], nullable=True)
    return Contract({**_ids(RECORD, CLASS), **{name: c for name, c in columns.items() if name != RECORD}})


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


def _generalized_rule(
    hierarchy: Hierarchy, levels: dict[str, int] | None, *, means: bool, cells: bool
) -> Rule:
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
    return _one("must be values of the hierarchy at their level", holds, bad)


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


def release_contract(policy: Policy, hierarchies: Path = Path()) -> Contract:
    """What is published: the policy's columns and no private one, no identifier, numbers on their grid.

    Numbers with noise are not searched for identifiers here, but before they get it
    (`deidentified_contract`): the verdict must not depend on the noise that was drawn.
    """
    columns: dict[str, Shape] = {}
    for name in policy.released:
        column = policy.columns[name]
        if isinstance(column, Identifier):
            columns[name] = _replacement_shape(column)
        elif isinstance(column, Perturb):
            columns[name] = _column("float64", [_on_grid(column.resolution)], nullable=False)
        elif isinstance(column, PerturbCategories):
            columns[name] = _column(None, [_of_domain(column.domain)], nullable=False)
        else:
            rules = [*_clean(column), *_coarse(name, column, hierarchies)]
            columns[name] = _column(None, rules, nullable=not isinstance(column, Sensitive))
    return Contract(columns)


def _of_domain(domain: Iterable[str]) -> Rule:
    known = set(domain)
    return _one("must be of the policy's domain", lambda s: bool(s.isin(known).all()), [_beyond(known)])


def _on_grid(resolution: float) -> Rule:
    def all_on_grid(column: pd.Series) -> bool:
        grid = to_grid(column.to_numpy(), resolution)
        return bool((grid == grid.round()).all())

    return _one("must lie on the declared grid", all_on_grid, [resolution / 2, float("nan")])
