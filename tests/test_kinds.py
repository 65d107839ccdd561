"""Names of kinds stand in their table and in their implementation, and nowhere else in the package.

`kind_search` finds what says a kind: names in string constants, comparisons with an ordinary word that is a
name, comparisons with the model of an entry, imported entries, keys of the policy that are kinds.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from datetime import date
from pathlib import Path
from types import FunctionType

import dagster as dg
import pytest

from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.destinations import DESTINATIONS
from anon_pipeline.catalog.detectors.table import DETECTORS
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.catalog.recoders import FAMILIES, RECODERS
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS, format_of
from anon_pipeline.catalog.sources import FORMATS, GENERATORS
from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.linkage import LINKAGES
from anon_pipeline.limits import table
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.sizes import POPULATION_RISKS
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.policy.attacks import Linkage, PopulationLimits
from anon_pipeline.policy.gate_limits import Gate
from anon_pipeline.policy.hierarchies import HIERARCHIES
from anon_pipeline.policy.recoding import Anonymize
from anon_pipeline.policy.source import SOURCES
from anon_pipeline.stages.facts.records import DeidentifiedFacts
from tests.kind_search import LIMIT_NAMES, OF_UTILITY, TABLES, kinds_in

PACKAGE = Path(__file__).resolve().parents[1] / "anon_pipeline"

OF_LIMITS = LIMIT_NAMES | {f"{section}.{name}" for section in ("gate", "attacks") for name in LIMIT_NAMES}
BUILT_ON = {"import KNOWN_COLUMNS", "import L_DIVERSITY", "import T_CLOSENESS"}
"""Entries that another limit builds on."""
FAMILY = {f"import {name.upper()}" for name in FAMILIES}
TABLE: dict[str, Collection[str]] = {
    "catalog/*.py": FAMILY.union(*TABLES),
    "catalog/detectors/*.py": {"import TELEPHONE", *(one.name for one in DETECTORS)},
    "limits/*.py": OF_LIMITS | BUILT_ON | {*POPULATION_RISKS},
    "limits/table.py": {f"import {name}" for name, one in vars(table).items() if isinstance(one, Limit)},
    "policy/hierarchies.py": HIERARCHIES,
    "utility/measures.py": OF_UTILITY,
}
"""What tables of kinds may say: the kinds of the table."""

EXCEPTED: dict[str, dict[str, str]] = {
    "the kind's own implementation": {
        "evidence/identifying_columns.py": "gate.released_identifiers",
        "evidence/linkage.py": "attacks.linkage, probabilistic",
        "publish/deliver/database_connection.py": "database_env",
        "publish/deliver/deliver_database.py": "deliver.database_env",
        "publish/deliver/deliver_iceberg.py": "deliver.iceberg",
        "publish/deliver/deliver_delta.py": "deliver.delta",
        "publish/deliver/deliver_urls.py": "deliver.url, deliver.url_env, url_env",
        "recode/constraints.py": "k, import L_DIVERSITY, import T_CLOSENESS, == entropy",
        "recode/microaggregation/algorithms.py": "tclose_first",
        "sources/delta_places.py": "url_env",
        "sources/duckdb_files.py": "duckdb",
        "sources/patients.py": "patients, ssn, email",
        "sources/population.py": "attacks.population",
        "sources/spark_sessions.py": "url_env",
        "sources/sql.py": "url_env",
        "sources/urls.py": "url_env",
        "stages/recoder_task.py": "import L_DIVERSITY, import T_CLOSENESS",
    },
    "declares fields of the policy, with rules between them": {
        "policy/attacks.py": "journalist_risk, linking_risk, marketer_risk",
        "policy/deliver.py": "database_env",
        "policy/delta.py": "url_env",
        "policy/fields.py": "suppress",
        "policy/model.py": "gate.k",
        "policy/recoding.py": "== entropy",
        "policy/safe_harbor_terms.py": "safe_harbor",
        "policy/gate_limits.py": "gate.k, safe_harbor, suppress",
        "policy/sections.py": "sticky",
        "policy/source.py": "duckdb, iceberg, spark, sql, table, url_env",
    },
    "reads or writes a key or a section of the policy": {
        "base/places.py": "url_env",
        "division/divide.py": "listed, parquet",
        "division/divided_policy.py": "fixed, given, import T_CLOSENESS, listed",
        "division/plan.py": "fixed",
        "division/source_reading.py": "parquet",
        "draft/attributes.py": "confidence_k, granularity, k, l_diversity, linking_risk, suppress, "
        "suppression, t_closeness",
        "draft/section_reasons.py": "suppress",
        "gate/great_expectations/arguments.py": "k, order",
        "gate/great_expectations/cases.py": "suppress",
        "orchestration/upstream.py": "url_env",
        "policy/public.py": "population",
        "policy/epsilon_dp.py": "suppress",
        "policy/synthetic.py": "suppress",
        "policy/bucketized_release.py": "suppress",
        "policy/rules.py": "suppress",
        "draft/profile/source_file.py": "k",
        "publish/deliver/delivery.py": "database_env",
        "publish/manifest/extensions.py": "attacks.population",
        "publish/verify/public_verdicts.py": "order",
        "recode/__init__.py": "l_diversity",
        "tuning/advise.py": "k, import SUPPRESSION",
        "tuning/apply.py": "k, suppress",
        "tuning/grid.py": "k, suppress",
        "tuning/hidden_columns.py": "confidence_k, gate.suppression, k, suppress",
        "cli/comparing_variants.py": "granularity, k",
        "cli/document_parts.py": "granularity",
        "tuning/comparison_rows.py": "granularity, k",
        "cli/comparison_page.py": "granularity, k",
        "tuning/equal_amount.py": "granularity, import LINKING_RISK",
        "tuning/limit_forecasts.py": "import KEPT_CATEGORIES, import KNOWN_COLUMNS",
        "tuning/measured_points.py": "granularity, import KNOWN_COLUMNS",
        "tuning/outcomes.py": "granularity",
        "tuning/variants.py": "k, suppress",
    },
    "versions that are out, whose rules do not change": {
        "stages/facts/check_1.py": "average_class_size, classification, datafly, discernibility, "
        "discrete_gaussian, discrete_laplace, drop, exponential, granularity, hash, "
        "incognito, k, kanon_first, l_diversity, mask, mdav, merge, mingen, mondrian, "
        "mondrian_relaxed, ola, optimal, randomized_response, samarati, staircase, "
        "sticky, t_closeness, tclose_first, uniform, univariate, vmdav",
        "policy/later_rules.py": "discrete_gaussian, discrete_laplace, sticky",
        "policy/version_1.py": "l_diversity, suppress, t_closeness",
        "publish/version_1/guarantee_v1.py": "csv, discrete_gaussian, discrete_laplace, drop, exponential, "
        "gate.cross_release_k, gate.l_diversity, gate.t_closeness, hash, mask, "
        "randomized_response, staircase, sticky, uniform",
        "publish/verify/old_warnings.py": "assignment_risk, attacker_success, averaging, classification, "
        "confidence_k, cross_release_k, expected_linking_risk, linkage, linking_risk, similarity, skewness, "
        "sticky, suppression, t_closeness, uniform",
        "publish/version_1/version_1.py": "assignment_risk, attacker_success, "
        "attacks.homogeneity, averaging, confidence_k, contract, cross_release_k, "
        "expected_linking_risk, gate.linking_risk, homogeneity, k, l_diversity, linkage, "
        "linking_risk, marketer_risk, minimal_uniques, origin, population, prosecutor_risk, "
        "sample_uniques, similarity, skewness, sticky, suppression, t_closeness",
    },
    "fields of facts, columns of the ledger and of tuning": {
        "cli/document_parts.py": "k, suppression",
        "cli/documents.py": "k",
        "cli/group_documents.py": "k",
        "cli/ledger_output.py": "k",
        "cli/tuning.py": "k, suppression",
        "stages/facts/agreement.py": "k",
        "stages/facts/fields.py": "k",
        "ledger/*.py": "k, hash",
        "ledger/migrations/versions/*.py": "k, hash",
        "publish/verify/balance.py": "k",
        "publish/verify/manifest_facts.py": "k",
        "tuning/output.py": "k, suppression",
    },
    "the demonstration": {
        "__init__.py": "patients",
        "orchestration/demo.py": "patients",
        "policy/templates/__init__.py": "patients",
    },
    "shows the kind by name, such as in a column of its own": {
        "report/answers.py": "repeated_people",
        "draft/section_reasons.py": "import REPEATED_PEOPLE",
        "draft/rehearsal.py": "import REPEATED_PEOPLE",
        "tuning/tune.py": "import REPEATED_PEOPLE",
        "report/attacks.py": "import REPEATED_PEOPLE",
        "report/collection_page.py": "import REPEATED_PEOPLE",
        "report/first_sentences.py": "repeated_people",
        "report/collection_figures.py": "import K, import LINKING_RISK",
        "cli/verifying.py": "import K, import LINKING_RISK",
        "orchestration/divided_release.py": "import REPEATED_NOISE",
    },
    "another meaning of an ordinary word": {
        "base/spelling.py": "k",
        "base/values.py": "== integer",
        "cli/divided_releases.py": "run",
        "cli/documents.py": "run",
        "cli/examples.py": "run",
        "cli/hierarchies.py": "table",
        "cli/judging.py": "== text",
        "cli/tuning.py": "numbers",
        "orchestration/checks.py": "contract",
        "orchestration/stage.py": "parquet",
        "catalog/detectors/name_hints.py": "dates, origin",
        "draft/profile/output.py": "dates, numbers",
        "publish/verify/manifest_facts.py": "population",
        "publish/whole_chain.py": "population",
        "report/columns.py": "numbers",
        "report/page.py": "table",
        "sources/portions.py": "is Table",
        "stages/noise_input.py": "table",
        "utility/sql_workload.py": "duckdb",
    },
}
"""What modules say of kinds, by reason; each is needed."""


def _excepted(path: Path) -> set[str]:
    """Return what a module may say."""
    lists = (words for files in EXCEPTED.values() for pattern, words in files.items() if _fits(path, pattern))
    said = (said for pattern, said in TABLE.items() if _fits(path, pattern))
    return {word for words in lists for word in words.split(", ")}.union(*said)


def _fits(path: Path, pattern: str) -> bool:
    name = path.relative_to(PACKAGE)
    return name.parent == Path(pattern).parent and name.match(Path(pattern).name)


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_kind_is_said_outside_of_its_table_and_implementation(path: Path) -> None:
    excepted = _excepted(path)
    assert [found for found in kinds_in(path.read_text("utf-8")) if found[1] not in excepted] == []


def test_every_exception_is_needed() -> None:
    for reason, files in EXCEPTED.items():
        for pattern, words in files.items():
            texts = [path.read_text("utf-8") for path in MODULES if _fits(path, pattern)]
            found = {what for text in texts for _, what in kinds_in(text)}
            assert set(words.split(", ")) <= found, f"{reason}: {pattern}"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x = 'ola'", {"ola"}),
        ("x = f'{y} needs linking_risk'", {"linking_risk"}),
        ("x = f't_closeness.{y}'", {"t_closeness"}),
        ("x = policy.gate.suppression", {"gate.suppression"}),
        ("x = gate.attacks.averaging", {"attacks.averaging"}),
        ("if form == 'csv' or action == 'mask': pass", {"csv", "mask"}),
        ("x = 'a mask for ola'", set[str]()),
        ("def f():\n    'linking_risk'", set[str]()),
        ("x = found.suppression", set[str]()),
        ("x = {'text': 'date'}", set[str]()),
        ("if kind == 'text' or kind in ('date', None): pass", {"== text", "== date"}),
        ("match kind:\n    case 'integer': pass", {"== integer"}),
        ("if isinstance(spec, (Table, hierarchies.Tree)): pass", {"is Table", "is Tree"}),
        ("if type(spec) is Dates: pass", {"is Dates"}),
        ("if type(spec) in (Mask, Order): pass", {"is Mask", "is Order"}),
        ("match spec:\n    case Intervals(): pass", {"is Intervals"}),
        ("x = Table(table='x')", set[str]()),
        ("from anon_pipeline.limits.accepted_risks import ACCEPTED as one", {"import ACCEPTED"}),
        (
            "from anon_pipeline.catalog import class_limits as c\nx = c.T_CLOSENESS.name",
            {"import T_CLOSENESS"},
        ),
        ("from anon_pipeline.catalog.recoders import RECODERS", set[str]()),
        ("x = policy.source.url or deliver.database_env", {"source.url", "deliver.database_env"}),
        (
            "x = limits.linkage.exact, wanted.population.marketer_risk",
            {"linkage.exact", "population.marketer_risk"},
        ),
    ],
)
def test_the_search_finds_kinds(source: str, found: set[str]) -> None:
    assert {what for _, what in kinds_in(source)} == found


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
        *(
            place
            for one in FORMATS.values()
            for place in (one.reads, one.recognizes, one.folder, one.portions)
            if place
        ),
        *(place for kind in SOURCES.values() for place in (kind.reads, kind.portions) if place),
        *(kind.opens for kind in DESTINATIONS.values()),
        *(generator.makes for generator in GENERATORS.values()),
        *(kind.builds for kind in HIERARCHIES.values()),
        *(kind.recognizes for kind in HIERARCHIES.values()),
        *(kind.leaves for kind in HIERARCHIES.values() if kind.leaves),
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
    *((one.name, one.whole_column.runs if one.whole_column else one.law) for one in MECHANISMS.values()),
    *((one.name, one.reads) for one in FORMATS.values()),
    *((one.name, place) for one in FORMATS.values() for place in (one.recognizes, one.folder) if place),
    *((one.name, one.reads) for one in SOURCES.values()),
    *((one.name, one.opens) for one in DESTINATIONS.values()),
    *((one.name, one.makes) for one in GENERATORS.values()),
    *((one.name, place) for one in HIERARCHIES.values() for place in (one.builds, one.recognizes)),
    *((one.name, one.leaves) for one in HIERARCHIES.values() if one.leaves),
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


UNNAMED = {
    "prosecutor_risk": "size_risk",
    "marketer_risk": "size_risk",
    "utility_released": "suppression",
}
"""Limits of which one measurement has another name: fields of one record, and the share that is left."""


def names_in(function: FunctionType) -> set[str]:
    """Return the names that a measure uses: its own, and for a lambda those of what it calls."""
    nested = (one.co_names for one in function.__code__.co_consts if hasattr(one, "co_names"))
    return {function.__name__, *function.__code__.co_names, *(name for names in nested for name in names)}


@pytest.mark.parametrize("limit", LIMITS, ids=[limit.name for limit in LIMITS])
def test_what_measures_a_limit_has_its_name(limit: Limit) -> None:
    name = UNNAMED.get(limit.name, limit.name.removeprefix("utility_"))
    measures = limit.judged.judge or limit.judged.measure
    assert any(name in one.lower() for one in names_in(measures))


def test_names_are_said_once_and_found() -> None:
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    assert all(limit_of(limit.name) is limit for limit in LIMITS)
    for kinds in TABLES:
        assert all(name == entry.name for name, entry in kinds.items())


def test_limits_on_classes_are_fields_of_gate_and_recoding_and_entries_of_the_table() -> None:
    assert [limit.name for limit in LIMITS if limit.name in CLASS_LIMITS] == [*CLASS_LIMITS]
    assert {*CLASS_LIMITS} <= {*Gate.model_fields} & {*Anonymize.model_fields}


def test_attackers_are_fields_of_the_policy() -> None:
    assert {*LINKAGES} == {*Linkage.model_fields} - {"similarity", "match"}
    assert {*POPULATION_RISKS} == {*PopulationLimits.model_fields} - {"path", "format", "options", "limits"}


def test_each_action_on_identifiers_has_its_field_in_the_facts_and_a_rule_for_what_it_releases() -> None:
    fields = [one.fact for one in IDENTIFIER_ACTIONS.values()]
    of_people = ["people", "excess_records", "following", "holding", "listing", "clipped"]
    assert [*fields, *of_people] == [field.name for field in dataclasses.fields(DeidentifiedFacts)]
    for one in IDENTIFIER_ACTIONS.values():
        assert (one.replaces is None) == (one.rule is None) == (not one.shown)


def test_partitions_begin_where_dagster_s_do() -> None:
    for kind in PARTITION_KINDS.values():
        if kind.begins is None:
            assert list(import_entry(kind.definition)(["b", "a"]).get_partition_keys()) == ["b", "a"]
            continue
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
