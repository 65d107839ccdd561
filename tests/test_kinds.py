"""Names of kinds stand in their table and in their implementation, and nowhere else in the package.

Searched are the syntax trees of all modules: string constants that are a name; names that are no ordinary
words (they have an underscore) within longer constants, too; and limits spelled as attributes of a policy
(``policy.gate.linking_risk``). Docstrings and comments may name kinds.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.named import import_entry
from anon_pipeline.catalog.recoders import FAMILIES, RECODERS
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS, format_of
from anon_pipeline.catalog.sources import FORMATS, GENERATORS, SOURCES
from anon_pipeline.detectors.table import DETECTORS
from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.linkage import LINKAGES
from anon_pipeline.facts.records import DeidentifiedFacts
from anon_pipeline.limits.sizes import POPULATION_RISKS
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.policy.attacks import Linkage, PopulationLimits
from anon_pipeline.policy.hierarchies import HIERARCHIES
from anon_pipeline.policy.recoding import Anonymize
from anon_pipeline.policy.sections import Gate

PACKAGE = Path(__file__).resolve().parents[1] / "anon_pipeline"
TABLES: tuple[Mapping[str, Any], ...] = (
    *(RECODERS, FAMILIES, MECHANISMS, CATEGORY_MECHANISMS, FORMATS, GENERATORS, HIERARCHIES, CLASS_LIMITS),
    *(IDENTIFIER_ACTIONS, RELEASE_FORMATS, PARTITION_KINDS, LOSSES, SOURCES, DESTINATIONS),
)
ORDINARY = {"entropy", "precision", "path", "url", "asset", "generate"}
"""Losses with the names of other things (a kind of l-diversity, a measure of models); ordinary words."""
LIMIT_NAMES = frozenset(limit.name for limit in LIMITS)
NAMES = LIMIT_NAMES.union(*TABLES, (detector.name for detector in DETECTORS)) - ORDINARY
UNMISTAKABLE = frozenset(name for name in NAMES if "_" in name)
ATTACK_FIELDS = ("gate", "attacks")

EVERYTHING = NAMES
EXCEPTED: dict[str, tuple[frozenset[str] | set[str], str]] = {
    # the tables themselves
    "catalog/*.py": (EVERYTHING, "tables"),
    "detectors/*.py": (EVERYTHING, "table and implementation of detectors"),
    "limits/*.py": (LIMIT_NAMES, "entries of limits; what is demanded is a field of the policy"),
    "policy/hierarchies.py": ({*HIERARCHIES}, "table"),
    # manifests of version 1, and releases that are out
    "facts/check_1.py": (EVERYTHING, "version 1 is fixed"),
    "policy/version_1.py": (EVERYTHING, "version 1 is fixed"),
    "publish/guarantee_v1.py": (EVERYTHING, "version 1 is fixed"),
    "publish/version_1.py": (EVERYTHING, "version 1 is fixed"),
    "publish/outdated.py": (LIMIT_NAMES, "what manifests that are out may name"),
    # implementations
    "evidence/linkage.py": ({"linkage"}, "implementation of the limit: thresholds and rules of its section"),
    "evidence/identifying.py": ({"released_identifiers"}, "implementation of the limit: its share"),
    "publish/lapsed.py": ({"released_identifiers"}, "holds the file against the same share"),
    "sources/population.py": ({"population"}, "implementation of the limit: reads its table"),
    "profile/given.py": ({"k", "suppress"}, "the least policy that carries a source"),
    "sources/urls.py": ({"url_env"}, "implementation"),
    "sources/sql.py": ({"url_env"}, "key of the policy"),
    "publish/deliver_urls.py": ({"url_env"}, "implementation"),
    "publish/deliver_database.py": ({"database_env"}, "implementation"),
    "policy/deliver.py": ({"database_env"}, "declares the fields"),
    "sources/duckdb_files.py": ({"duckdb"}, "the library"),
    "sources/patients.py": ({"patients", "ssn", "email"}, "implementation; columns"),
    "recode/constraints.py": ({"k"}, "implementation of k in recoders"),
    "recode/microaggregation/algorithms.py": ({"tclose_first"}, "message of the implementation"),
    # declarations of the policy: descriptions, defaults, rules between sections
    "policy/attacks.py": ({"marketer_risk", "linking_risk"}, "declares the fields"),
    "policy/source.py": ({"url_env", "sql", "duckdb"}, "declares the fields"),
    "base/places.py": ({"url_env"}, "advice in a message"),
    "policy/recoding.py": (EVERYTHING, "describes the recoders in the JSON Schema"),
    "policy/sections.py": (
        {"sticky", "discrete_gaussian", "t_closeness", "l_diversity", "suppress", "k"},
        "declares republish, suppress, which limits fit without noise; describes delta",
    ),
    "policy/contradictions.py": (
        {"known_columns", "safe_harbor"},
        "rules between sections: ε and drawn categories; what no data can keep",
    ),
    "policy/safe_harbor_terms.py": ({"safe_harbor"}, "a rule between sections: terms of a limit that is set"),
    "policy/rules.py": ({"suppress"}, "section of the policy"),
    "policy/model.py": ({"k", "safe_harbor"}, "gate_k: k is always there; digests without later keys"),
    "policy/later_rules.py": ({"sticky", "discrete_laplace", "discrete_gaussian"}, "a rule that is fixed"),
    # the demonstration
    "__init__.py": ({"patients"}, "public function"),
    "release.py": ({"patients", "population"}, "default name of a release; argument"),
    "orchestration/demo.py": ({"patients"}, "demonstration"),
    "tuning/tune.py": ({"patients"}, "default name of a release"),
    # columns and sections of a policy that is proposed
    "draft/attributes.py": (
        {
            "confidence_k",
            "granularity",
            "k",
            "l_diversity",
            "linking_risk",
            "suppress",
            "suppression",
            "t_closeness",
        },
        "keys of the policy",
    ),
    "draft/policy_text.py": ({"suppress"}, "section of the policy"),
    "profile/roles.py": ({"suppress"}, "missing: suppress"),
    # messages
    "recode/__init__.py": ({"l_diversity"}, "advice in a message"),
    # other meanings of ordinary words
    "base/spelling.py": ({"k"}, "a letter"),
    "cli/examples.py": ({"run"}, "a command"),
    "cli/documents.py": ({"k", "run", "suppression"}, "key of the ledger; a command; columns of tuning"),
    "cli/hierarchies.py": ({"table"}, "option of the command"),
    "cli/ledgering.py": ({"k"}, "key of the ledger"),
    "cli/tuning.py": ({"k", "suppression", "numbers"}, "columns of tuning"),
    "stages/contracts/stages.py": ({"suppress"}, "missing: suppress"),
    "facts/check.py": ({"k"}, "field of the facts"),
    "ledger/*.py": ({"k", "hash"}, "columns of the ledger"),
    "ledger/migrations/versions/*.py": ({"k", "hash"}, "columns of the ledger"),
    "orchestration/stage.py": ({"parquet"}, "format of private tables"),
    "orchestration/checks.py": ({"contract"}, "names of checks of private tables"),
    "policy/categories.py": ({"suppress"}, "missing: suppress"),
    "policy/columns.py": ({"suppress"}, "missing: suppress"),
    "publish/balance.py": ({"k"}, "field of the facts"),
    "publish/manifest_facts.py": ({"k", "population"}, "field of the facts; what a limit needs"),
    "publish/extensions.py": ({"population"}, "sections that have a format of files"),
    "publish/in_part.py": ({"order"}, "field of a sensitive column"),
    "policy/public.py": ({"population"}, "section of the policy, which needs a path"),
    "publish/shape.py": ({"k"}, "example of a verdict, whose keys are read"),
    "profile/name_hints.py": ({"dates", "origin"}, "what names of columns mean"),
    "profile/shown.py": ({"dates", "numbers"}, "what columns hold, for people"),
    "report/columns.py": ({"numbers"}, "kind of distribution"),
    "report/page.py": ({"table"}, "labels"),
    "stages/noise_input.py": ({"table"}, "key of a digest"),
    "tuning/advise.py": ({"k"}, "a value of a point"),
    "tuning/apply.py": ({"k", "suppress"}, "keys of the policy"),
    "tuning/grid.py": ({"k", "suppress"}, "keys of the policy"),
    "tuning/output.py": ({"k", "suppression"}, "columns of tuning"),
    "utility/measures.py": (
        {"average_class_size", "classification", "discernibility", "granularity"},
        "fields of the result",
    ),
    # arguments of named expectations
    "gate/great_expectations/arguments.py": ({"k", "order", "suppress"}, "arguments; missing: suppress"),
}


def _excepted(path: Path) -> frozenset[str]:
    name = path.relative_to(PACKAGE)
    return frozenset().union(
        *(names for pattern, (names, _) in EXCEPTED.items() if _fits(name, Path(pattern)))
    )


def _fits(name: Path, pattern: Path) -> bool:
    return name.parent == pattern.parent and name.match(pattern.name)


def _docstrings(tree: ast.AST) -> set[int]:
    """Return the ids of constants that stand alone as statements."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _names(source: str) -> Iterator[tuple[int, str]]:
    """Yield where a module names a kind: line and name."""
    tree = ast.parse(source)
    docstrings = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            if node.value in NAMES:
                yield node.lineno, node.value
            else:
                for word in UNMISTAKABLE.intersection(re.findall(r"\w+", node.value)):
                    yield node.lineno, word
        elif isinstance(node, ast.Attribute) and node.attr in LIMIT_NAMES:
            base = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if base in ATTACK_FIELDS:
                yield node.lineno, node.attr


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_no_name_of_a_kind_outside_of_its_table_and_implementation(path: Path) -> None:
    excepted = _excepted(path)
    assert [found for found in _names(path.read_text("utf-8")) if found[1] not in excepted] == []


def test_every_exception_is_needed() -> None:
    for pattern, (names, _) in EXCEPTED.items():
        paths = [path for path in PACKAGE.rglob("*.py") if _fits(path.relative_to(PACKAGE), Path(pattern))]
        found = {name for path in paths for _, name in _names(path.read_text("utf-8"))}
        assert found & names, f"nothing is excepted by {pattern}"
        if names is not EVERYTHING and names is not LIMIT_NAMES:
            assert names <= found, f"{pattern} does not name {names - found}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 'ola'", {"ola"}),
        ("x = f'{y} needs linking_risk'", {"linking_risk"}),
        ("x = f't_closeness.{y}'", {"t_closeness"}),
        ("x = policy.gate.suppression", {"suppression"}),
        ("x = gate.attacks.averaging", {"averaging"}),
        ("if form == 'csv' or action == 'mask': pass", {"csv", "mask"}),
        ("x = 'a mask for ola'", set[str]()),
        ("def f():\n    'linking_risk'", set[str]()),
        ("x = found.suppression", set[str]()),
    ],
)
def test_the_search_finds_names(source: str, found: set[str]) -> None:
    assert {name for _, name in _names(source)} == found


@pytest.mark.parametrize(
    "place",
    [
        *(recoder.algorithm for recoder in RECODERS.values()),
        *(
            place
            for family in FAMILIES.values()
            for place in (family.runs, family.chooses, family.elsewhere)
            if place
        ),
        *(loss.measures for loss in LOSSES.values()),
        *(mechanism.law for mechanism in MECHANISMS.values()),
        *(place for one in FORMATS.values() for place in (one.reads, one.recognizes, one.folder) if place),
        *(kind.reads for kind in SOURCES.values()),
        *(kind.opens for kind in DESTINATIONS.values()),
        *(generator.makes for generator in GENERATORS.values()),
        *(kind.builds for kind in HIERARCHIES.values()),
        *(kind.recognizes for kind in HIERARCHIES.values()),
        *(place for kind in CLASS_LIMITS.values() for place in (kind.breaks, kind.spare)),
        *(place for one in IDENTIFIER_ACTIONS.values() for place in (one.replaces, one.rule) if place),
        *(place for one in RELEASE_FORMATS.values() for place in (one.writes, one.reads, one.loads)),
        *(one.schema for one in RELEASE_FORMATS.values() if one.schema),
        *(kind.definition for kind in PARTITION_KINDS.values()),
    ],
)
def test_every_record_names_code_that_is_there(place: str) -> None:
    assert import_entry(place) is not None


NAMED_PLACES = [
    *((one.name, one.algorithm) for one in RECODERS.values()),
    *((one.name, one.measures) for one in LOSSES.values()),
    *((one.name, one.law) for one in MECHANISMS.values()),
    *((one.name, one.reads) for one in FORMATS.values()),
    *((one.name, place) for one in FORMATS.values() for place in (one.recognizes, one.folder) if place),
    *((one.name, one.reads) for one in SOURCES.values()),
    *((one.name, one.opens) for one in DESTINATIONS.values()),
    *((one.name, one.makes) for one in GENERATORS.values()),
    *((one.name, place) for one in HIERARCHIES.values() for place in (one.builds, one.recognizes)),
    *((one.name, one.breaks) for one in CLASS_LIMITS.values()),
    *((one.name, one.replaces) for one in IDENTIFIER_ACTIONS.values() if one.replaces),
    *((one.name, place) for one in RELEASE_FORMATS.values() for place in (one.writes, one.reads, one.loads)),
]
"""Kinds, and the places of their code."""


@pytest.mark.parametrize(("name", "place"), NAMED_PLACES)
def test_the_code_of_a_kind_has_its_name(name: str, place: str) -> None:
    module, _, function = place.lower().rpartition(".")[2].partition(":")
    assert any(re.search(rf"(^|_){name}(_|$)", one) for one in (module, function))


def test_what_attackers_get_right_has_the_name_of_its_limit() -> None:
    measures = [
        name
        for name, one in vars(attackers).items()
        if getattr(one, "__module__", "") == attackers.__name__ and one.__annotations__["return"] == "float"
    ]
    assert measures
    assert set(measures) <= {limit.name for limit in LIMITS if limit.attack}


def test_names_are_said_once_and_found() -> None:
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    assert all(limit_of(limit.name) is limit for limit in LIMITS)
    for table in TABLES:
        assert all(name == entry.name for name, entry in table.items())


def test_limits_on_classes_are_fields_of_gate_and_recoding_and_entries_of_the_table() -> None:
    assert [limit.name for limit in LIMITS if limit.name in CLASS_LIMITS] == [*CLASS_LIMITS]
    assert {*CLASS_LIMITS} <= {*Gate.model_fields} & {*Anonymize.model_fields}


def test_attackers_are_fields_of_the_policy() -> None:
    assert {*LINKAGES} == {*Linkage.model_fields} - {"similarity", "match"}
    assert {*POPULATION_RISKS} == {*PopulationLimits.model_fields} - {"path", "format", "options", "limits"}


def test_each_action_on_identifiers_has_its_field_in_the_facts_and_a_rule_for_what_it_releases() -> None:
    fields = [one.fact for one in IDENTIFIER_ACTIONS.values()]
    of_people = ["people", "excess_records", "following", "holding", "listing"]
    assert [*fields, *of_people] == [field.name for field in dataclasses.fields(DeidentifiedFacts)]
    for one in IDENTIFIER_ACTIONS.values():
        assert (one.replaces is None) == (one.rule is None) == (not one.shown)


def test_partitions_begin_where_dagster_s_do() -> None:
    for kind in PARTITION_KINDS.values():
        defined = import_entry(kind.definition)(start_date="2026-01-01", **kind.options)
        assert isinstance(defined, dg.TimeWindowPartitionsDefinition)
        keys = set(defined.get_partition_keys())
        assert len(keys) > 1
        days = [date.fromordinal(date(2026, 1, 1).toordinal() + i) for i in range(200)]
        last = max(date.fromisoformat(key) for key in keys)
        assert {str(day) for day in days if kind.begins(day) and day <= last} == {
            key for key in keys if date.fromisoformat(key) <= days[-1]
        }


def test_the_format_of_a_file_is_told_by_its_ending() -> None:
    assert [format_of(f"x-0.{name}").name for name in RELEASE_FORMATS] == [*RELEASE_FORMATS]
    assert format_of("x").typed
