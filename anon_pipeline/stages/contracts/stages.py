"""The shape of each stage's table, as contracts built from the policy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.codes import CLASS, GIVEN, PERSON, RECORD
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.policy.columns import Column, Identifier, Perturb, PerturbCategories, Sensitive
from anon_pipeline.policy.fields import LEFT_OUT
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.contracts.column_rules import (
    IS_PERSON,
    IS_RECORD_KEY,
    coarse_rules,
    domain_rule,
    generalized_rule,
    grid_rule,
    identifier_rules,
)
from anon_pipeline.stages.contracts.identifiers import (
    NoIdentifiers,
    describe_identifiers,
)
from anon_pipeline.stages.contracts.shape import TABLE, Contract, Rule, Shape, broken_rules
from anon_pipeline.stages.contracts.witness import broken_by_pandera, list_missed_breaks

_TABLE_RULES = {
    f"{TABLE}: column_in_schema": "table: has a column that must not be there (an identifier, perhaps)",
    f"{TABLE}: column_in_dataframe": "table: lacks a column that must be there",
    f"{TABLE}: dataframe_column_labels_unique": "table: has two columns of the same name",
}
"""What the lines that Pandera writes about a whole table mean."""


def broken_contract(frame: Table, contract: Contract) -> list[str]:
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


def _column(dtype: str | None, rules: Iterable[Rule], *, nullable: bool) -> Shape:
    return Shape(dtype, tuple(rules), nullable)


def _ids(*names: str) -> dict[str, Shape]:
    return {name: _column("int64", [], nullable=False) for name in names}


def raw_contract(policy: Policy) -> Contract:
    """Every declared column and the record id; numbers are numbers; values where they must be."""
    columns = {name: _original(column) for name, column in policy.columns.items()}
    return Contract({**_ids(RECORD), **_class_shape(policy), **columns})


def _class_shape(policy: Policy) -> dict[str, Shape]:
    """Return the column that says which class a record was given, if the source names classes."""
    return {} if policy.anonymize.classes is None else _ids(GIVEN)


def _original(column: Column, checks: Iterable[Rule] = ()) -> Shape:
    numeric = isinstance(column, Perturb)
    allowed = not isinstance(column, (Perturb, PerturbCategories, Sensitive)) or column.missing == LEFT_OUT
    return _column("float64" if numeric else None, checks, nullable=allowed)


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
            rules = [*identifier_rules(column), *coarse_rules(name, column, hierarchies)]
            columns[name] = _original(column, rules)
    return Contract({**_ids(RECORD), **_class_shape(policy), **_person(policy), **columns})


def _person(policy: Policy) -> dict[str, Shape]:
    """Return the column that says whose record it is: a keyed hash; of a record key different in each."""
    if policy.person is not None:
        return {PERSON: _column(None, [IS_PERSON], nullable=False)}
    if policy.record_key is None:
        return {}
    return {PERSON: _column(None, [IS_RECORD_KEY], nullable=False)}


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
        rule = generalized_rule(hierarchy, levels, means=means, cells=cells)
        columns[hierarchy.column] = _column(None, [rule], nullable=True)
    return Contract(
        {**_ids(RECORD, CLASS), **{name: c for name, c in columns.items() if name not in {RECORD, GIVEN}}}
    )


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
            columns[name] = _column("float64", [grid_rule(column.resolution)], nullable=False)
        elif isinstance(column, PerturbCategories):
            columns[name] = _column(None, [domain_rule(column.domain)], nullable=False)
        else:
            rules = [*identifier_rules(column), *coarse_rules(name, column, hierarchies)]
            columns[name] = _column(None, rules, nullable=not isinstance(column, Sensitive))
    return Contract(columns)
