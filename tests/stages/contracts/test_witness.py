"""A contract is judged whatever Pandera is told, by two judges, each proven on tables that it must refuse."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import pandas as pd
import pandera.config as pandera_config
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.packed_columns import pack_column
from anon_pipeline.base.packed_tables import PackedTable
from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.patterns import matches
from anon_pipeline.encode.codes import PERSON, code_quasi_identifiers
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.contracts import stages as contracts_module
from anon_pipeline.stages.contracts import witness
from anon_pipeline.stages.contracts.column_rules import IS_RECORD_KEY
from anon_pipeline.stages.contracts.shape import Contract, Rule, Shape, broken_rules
from anon_pipeline.stages.contracts.stages import (
    broken_contract,
    deidentified_contract,
    k_anonymized_contract,
    raw_contract,
    release_contract,
)
from anon_pipeline.stages.contracts.witness import NOT_RUNNING, broken_by_pandera, list_missed_breaks
from anon_pipeline.stages.persons import ID
from tests.conftest import SMALL, merged
from tests.example_counts import examples_of

Small = Callable[..., Policy]
DOMAIN = ["red", "so, so", "b"]
WIDE = merged(
    SMALL,
    {
        "columns": {
            "person": {"role": "identifier", "action": "hash"},
            "alias": {"role": "identifier", "action": "mask"},
            "color": {"role": "perturb", "values": DOMAIN, "mechanism": "randomized_response"},
        },
        "deidentify": {"key_env": "KEY"},
        "record_key": "person",
    },
)
RECORDS = 40


def _policy() -> Policy:
    return policy_from(SMALL)


def _release(records: int = RECORDS) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": ["[20, 30)"] * records,
            "city": ["*"] * records,
            "height": np.full(records, 170.0),
            "income": [20_000] * records,
            "illness": ["flu"] * records,
            "note": ["a"] * records,
        }
    )


def _changed(changes: dict[str, object]) -> pd.DataFrame:
    return _release().assign(**changes)


def _bad() -> dict[str, pd.DataFrame]:
    good = _release()
    return {
        "an e-mail address": good.assign(note="see ann@example.org"),
        "a column too many": good.assign(_record_id=1),
        "a column missing": good.drop(columns="note"),
        "a column twice": pd.concat([good, good[["note"]]], axis=1),
        "another type": good.assign(height=[170] * RECORDS),
        "a missing value": good.assign(illness=["flu"] * (RECORDS - 1) + [None]),
        "off the grid": good.assign(height=[170.0] * (RECORDS - 1) + [170.3]),
    }


BAD = _bad()


@pytest.fixture(autouse=True)
def _proven_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prove each contract before each table, as the package does."""
    monkeypatch.setattr(contracts_module, "list_missed_breaks", list_missed_breaks)


@contextmanager
def _global(name: str, value: object) -> Iterator[None]:
    """Change Pandera's global configuration, and what contexts are made of."""
    before = getattr(pandera_config.CONFIG, name)
    setattr(pandera_config.CONFIG, name, value)
    pandera_config.reset_config_context()
    try:
        yield
    finally:
        setattr(pandera_config.CONFIG, name, before)
        pandera_config.reset_config_context()


SWITCHES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "as it is": pandera_config.config_context,
    "disabled": lambda: pandera_config.config_context(validation_enabled=False),
    "schema only": lambda: pandera_config.config_context(
        validation_depth=pandera_config.ValidationDepth.SCHEMA_ONLY
    ),
    "data only": lambda: pandera_config.config_context(
        validation_depth=pandera_config.ValidationDepth.DATA_ONLY
    ),
    "kept in a cache": lambda: pandera_config.config_context(
        cache_dataframe=True, keep_cached_dataframe=True
    ),
    "disabled for the process": lambda: _global("validation_enabled", False),
    "schema only for the process": lambda: _global(
        "validation_depth", pandera_config.ValidationDepth.SCHEMA_ONLY
    ),
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_pandera_cannot_be_switched_off(switch: str) -> None:
    contract = release_contract(_policy())
    with SWITCHES[switch]():
        assert broken_contract(_release(), contract) == []
        for what, table in BAD.items():
            assert broken_by_pandera(table, contract), what
            assert broken_contract(table, contract), what
        [contracted, *_] = evaluate(BAD["an e-mail address"], _policy()).verdicts
        assert (contracted.limit, contracted.status) == ("contract", Status.REFUSED)


def test_a_switch_in_another_thread_changes_nothing() -> None:
    contract = release_contract(_policy())

    def refused(turn: int) -> bool:
        with pandera_config.config_context(validation_enabled=bool(turn % 2)):
            return all(broken_contract(BAD[what], contract) for what in ("an e-mail address", "off the grid"))

    with ThreadPoolExecutor(4) as pool, _global("validation_enabled", False):
        assert all(pool.map(refused, range(8)))


@pytest.mark.parametrize("judge", ["broken_rules", "broken_by_pandera"])
def test_a_judge_that_is_asleep_lets_nothing_through(judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (witness, contracts_module):
        monkeypatch.setattr(module, judge, lambda table, contract: set())
    problems = broken_contract(_release(), release_contract(_policy()))
    assert len(problems) == 1
    assert problems[0].startswith(NOT_RUNNING)
    for kind in ("column_in_schema", "column_in_dataframe", "column_labels_unique", "dtype", "not_nullable"):
        assert kind in problems[0]
    assert "must hold no identifier" in problems[0]
    assert "must lie on the declared grid" in problems[0]


@pytest.mark.parametrize("kind", ["column_in_schema", "dtype", "not_nullable", "must lie on the declared"])
def test_a_judge_that_misses_one_kind_of_rule_is_found_out(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misses(table: pd.DataFrame, contract: Contract) -> set[str]:
        return {line for line in broken_by_pandera(table, contract) if kind not in line}

    monkeypatch.setattr(witness, "broken_by_pandera", misses)
    [line] = list_missed_breaks(release_contract(_policy()))
    assert "Pandera's let through" in line
    assert kind in line


def test_judges_that_disagree_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts_module, "broken_by_pandera", lambda table, contract: {"note: strange"})
    assert broken_contract(_release(), release_contract(_policy())) == [
        "note: strange",
        "our own checks and Pandera's must agree on the contract; they do not",
    ]


def test_a_rule_must_name_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="must name a column that breaks it"):
        Rule("anything goes", lambda column: True, ())


def test_a_rule_that_raises_is_broken() -> None:
    contract = release_contract(_policy())
    assert "height: must lie on the declared grid" in broken_rules(_changed({"height": "x"}), contract)


def _contracts(small_policy: Small, people: pd.DataFrame) -> Iterator[Contract]:
    """Yield every contract of two policies that together have every kind of rule."""
    for policy in (small_policy(), policy_from(WIDE)):
        yield from (raw_contract(policy), deidentified_contract(policy), release_contract(policy))
        hierarchies = code_quasi_identifiers(people, policy).hierarchies
        yield k_anonymized_contract(policy, hierarchies, {"age": 1, "city": 0})
        yield k_anonymized_contract(policy, hierarchies, None)


def test_every_rule_refuses_its_bad_columns_and_both_judges_are_proven(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    kinds: set[str] = set()
    for contract in _contracts(small_policy, small_people(60)):
        assert list_missed_breaks(contract) == []
        for shape in contract.columns.values():
            for rule in shape.rules:
                kinds.add(rule.name)
                assert [rule.holds(column) for column in rule.bad] == [False] * len(rule.bad), rule.name
    assert len(kinds) == 7  # patterns, person, mask, hash, hierarchy, domain, grid


def test_columns_with_the_same_rule_share_what_it_must_refuse(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each value is in a column of its rule, and each column has a value of each of its rules."""
    for contract in _contracts(small_policy, small_people(60)):
        asked: list[pd.DataFrame] = []

        def judge(table: pd.DataFrame, of: Contract, asked: list[pd.DataFrame] = asked) -> set[str]:
            asked.append(table)
            return broken_rules(table, of)

        monkeypatch.setattr(witness, "broken_rules", judge)
        assert list_missed_breaks(contract) == []
        once = [(t, name) for t in asked for name in contract.columns if list(t).count(name) == 1]
        had: dict[str, set[str]] = {name: set() for name in contract.columns}
        for table, name in once:
            had[name].add(repr(table[name].tolist()[0]))
        for name, shape in contract.columns.items():
            for rule in shape.rules:
                values = {repr(column.tolist()[0]) for column in rule.bad}
                others = [
                    o for o, of in contract.columns.items() if rule.holds in {r.holds for r in of.rules}
                ]
                assert values & had[name], rule.name
                assert values <= set().union(*(had[other] for other in others)), rule.name


def test_a_judge_that_misses_a_rule_in_one_column_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    contract = release_contract(_policy())
    for name, shape in contract.columns.items():
        for rule in shape.rules:
            line = f"{name}: {rule.name}"

            def misses(table: pd.DataFrame, of: Contract, line: str = line) -> set[str]:
                return broken_rules(table, of) - {line}

            monkeypatch.setattr(witness, "broken_rules", misses)
            assert any(line in found for found in list_missed_breaks(contract)), line


def test_a_level_is_proven_by_a_value_of_another_level(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    policy = small_policy()
    hierarchies = code_quasi_identifiers(small_people(60), policy).hierarchies
    contract = k_anonymized_contract(policy, hierarchies, {"age": 1, "city": 0})
    known = {str(value) for values in hierarchies[0].values for value in values}
    assert [column[0] in known for column in contract.columns["age"].rules[0].bad] == [False, True]


def test_every_detector_that_one_value_is_enough_for_is_proven() -> None:
    [rule] = release_contract(_policy()).columns["note"].rules
    found = {name for column in rule.bad for name in matches(column)}
    lone = {detector.name for detector in DETECTORS if any(form.alone for form in detector.forms)}
    assert len(lone) > 5
    assert lone <= found


@settings(max_examples=examples_of(40))
@given(
    st.dictionaries(
        st.sampled_from(["age", "city", "height", "income", "illness", "note", "_record_id", "more"]),
        st.sampled_from([None, "x", 1, 170.0, 170.3, np.nan, "ann@example.org", "[20, 30)", True, pd.NaT]),
        max_size=3,
    ),
    st.sets(st.sampled_from(["age", "height", "note"]), max_size=1),
)
def test_both_judges_say_the_same(changes: dict[str, object], gone: set[str]) -> None:
    contract = release_contract(_policy())
    table = _changed(changes).drop(columns=list(gone))
    assert broken_rules(table, contract) == broken_by_pandera(table, contract)


@settings(max_examples=examples_of(40))
@given(
    st.dictionaries(
        st.sampled_from(["age", "city", "height", "income", "illness", "note", "_record_id"]),
        st.sampled_from([None, "x", 1, 170.0, 170.3, np.nan, "ann@example.org", "[20, 30)", True, pd.NaT]),
        max_size=3,
    ),
    st.integers(0, RECORDS - 1),
)
def test_a_packed_table_breaks_the_rules_that_it_breaks_unpacked(
    changes: dict[str, object], row: int
) -> None:
    contract = release_contract(_policy())
    table = _release()
    for name, value in changes.items():  # in one record: the others keep the rules
        column = table[name].astype(object) if name in table else pd.Series([0] * RECORDS, dtype=object)
        column[row] = value
        table[name] = pd.Series(column.tolist())
    packed = PackedTable({name: pack_column(column) for name, column in table.items()}, RECORDS)  # type: ignore[misc]
    assert broken_rules(packed, contract) == broken_rules(table, contract)
    assert broken_by_pandera(packed, contract) == broken_by_pandera(table, contract)


def test_a_rule_that_counts_sees_all_records_of_a_packed_column() -> None:
    contract = Contract({"key": Shape("str", (IS_RECORD_KEY,), nullable=False)})
    keys = pd.Series([f"{i:0{ID}x}" * 2 for i in (1, 2, 2)], dtype="str")
    for column, broken in ((keys.drop_duplicates(), set()), (keys, {f"key: {IS_RECORD_KEY.name}"})):
        packed = PackedTable({"key": pack_column(column)}, len(column))
        assert broken_rules(packed, contract) == broken_by_pandera(packed, contract) == broken


def test_a_person_twice_breaks_the_contract(small_people: Callable[..., pd.DataFrame]) -> None:
    policy = policy_from(WIDE)
    people = small_people(60).assign(alias=[f"A{i}" for i in range(60)], color="red")
    raw = pipeline.raw(policy, people, entropy=system_entropy())
    table = pipeline.deidentified(policy, raw, key=b"0123456789abcdef").frame
    contract = deidentified_contract(policy)
    assert broken_contract(table, contract) == []
    twice = table.assign(**{PERSON: table[PERSON].iloc[0]})
    assert broken_contract(twice, contract) == [f"{PERSON}: must be a keyed hash, different in every record"]


THREADS = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import pandas as pd
from anon_pipeline.stages.contracts.shape import Contract, Shape
from anon_pipeline.stages.contracts.witness import broken_by_pandera

assert not any(name.startswith("pandera") for name in sys.modules)
contract = Contract({"a": Shape(None, (), nullable=True)})

def judge(turn):
    time.sleep(turn * 0.02)  # while the first ones still import
    return broken_by_pandera(pd.DataFrame({"a": [1]}), contract)

with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(judge, range(8))) == [set()] * 8
"""


def test_threads_that_judge_first_at_once_do_not_deadlock() -> None:
    """Pandera's modules import each other: two threads that begin with different ones may wait for ever."""
    subprocess.run([sys.executable, "-c", THREADS], check=True, timeout=120)
