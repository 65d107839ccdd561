"""Great Expectations is imported by who asks for it alone, and it leaves no trace where it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.registry import get_expectation_impl

import anon_pipeline.gate.great_expectations as package
from anon_pipeline.gate.great_expectations import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
)
from anon_pipeline.gate.great_expectations.arguments import demand_of
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.cases import case_from
from anon_pipeline.limits import table
from anon_pipeline.limits.accepted_risks import ACCEPTED
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.class_values import TOLD_ORIGINALS, TOLD_SECRETS
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.releases import EARLIER_RELEASE, NEWCOMERS, REPEATED_NOISE
from anon_pipeline.limits.roles import NAMED_PEOPLE, RELEASED_IDENTIFIERS
from anon_pipeline.limits.safe_harbor import SAFE_HARBOR
from anon_pipeline.limits.structure import CONTRACT, ORIGIN, REPEATED_PEOPLE
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.limits.usefulness import CLIPPED, INFORMATION_LOSS, LOST_VALUES, RECORDS_BEYOND
from anon_pipeline.policy.load import policy_from

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import socket, sys

def refused(*args, **kwargs):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.socket.connect_ex = refused
socket.create_connection = socket.getaddrinfo = refused

import anon_pipeline.gate
assert "great_expectations" not in sys.modules, "gate imports Great Expectations"

import pandas as pd
from anon_pipeline.gate.great_expectations import validate
from anon_pipeline.policy.load import policy_from

assert "great_expectations" in sys.modules
policy = policy_from({
    "name": "trace",
    "source": {"path": "nowhere.csv"},
    "columns": {
        "zip": {"role": "generalize", "hierarchy": {"suppress": True}},
        "ill": {"role": "sensitive"},
    },
    "anonymize": {"k": 2},
    "gate": {"t_closeness": {"ill": 0.5}},
})
batch = pd.DataFrame({"zip": ["a", "a"], "ill": ["x", "y"], "_class_id": 0, "_released": True})
result = validate(batch, policy)
assert result.success, result
assert [line.observed for line in result.lines] == [2, 1, 1.0, 0.0, 0, 0.0, 0.0, 0.0, 1.0, 1, 1.0]
assert not validate(batch.drop(columns="ill"), policy).success

from great_expectations.data_context.data_context.context_factory import project_manager
assert project_manager._ProjectManager__project is None, "the process's current context was set"
"""


def test_gate_does_not_import_it_and_validating_leaves_no_trace(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("cwd", "home", "tmp")}
    for place in places.values():
        place.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GX_", "GE_"))}
    environment |= {"HOME": str(places["home"]), "TMPDIR": str(places["tmp"]), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=places["cwd"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [path for place in places.values() for path in place.rglob("*")] == []


def test_the_public_surface() -> None:
    assert package.__all__ == [
        "ExpectReleaseLinkingRiskToBeAtMost",
        "ExpectReleaseSuppressionToBeAtMost",
        "ExpectReleaseToBeConfidentlyKAnonymous",
        "ExpectReleaseToBeKAnonymous",
        "ExpectReleaseToBeLDiverse",
        "ExpectReleaseToBeTClose",
        "ExpectReleaseToHideInPopulation",
        "ExpectReleaseToKeepPublishedNoise",
        "ExpectReleaseToWithstandAttack",
        "ExpectReleasesTogetherToBeKAnonymous",
        "Outcome",
        "SuiteResult",
        "expectation_of",
        "gate_batch",
        "suite_for",
        "validate",
    ]


NAMES = [limit.expectation_name for limit in LIMITS if limit.expectation_name]


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_every_limit_has_an_expectation(limit: Limit) -> None:
    """All but what a table and its originals alone do not show: what is in it, who made it, what it lost."""
    without = {CONTRACT.name, ORIGIN.name, RELEASED_IDENTIFIERS.name, REPEATED_PEOPLE.name, NAMED_PEOPLE.name}
    without |= {
        INFORMATION_LOSS.name,
        CLIPPED.name,
        LOST_VALUES.name,
        RECORDS_BEYOND.name,
        ACCEPTED.name,
        SAFE_HARBOR.name,
        TOLD_SECRETS.name,
    }
    without |= {TOLD_ORIGINALS.name, REPEATED_NOISE.name, NEWCOMERS.name, EARLIER_RELEASE.name}
    if limit.name in without:
        assert limit.expectation_name == ""
        return
    expectation = package.expectation_of(limit)
    assert issubclass(expectation, BatchExpectation)
    assert expectation.expectation_type == limit.expectation_name
    assert get_expectation_impl(limit.expectation_name) is expectation


def test_an_expectation_is_shared_by_attacks_alone() -> None:
    shared = {name for name in NAMES if NAMES.count(name) > 1}
    assert shared == {"expect_release_to_withstand_attack"}
    for limit in LIMITS:
        assert limit.attack == (limit.expectation_name in shared)


def test_a_new_limit_has_its_expectation_from_its_entry_alone(
    by_hand: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an entry of a plugin: nothing here knows its name; it is judged, kept and broken."""
    largest = Limit(
        "largest_class_7",
        Words("No class has more records than this."),
        Judged(lambda case, demand: float(case.evidence.classes.sizes.max())),
        demanded=lambda policy: {"": policy.gate_k},
    )
    monkeypatch.setattr(table, "LIMITS", (*table.LIMITS, largest))
    batch = by_hand.rename(columns={"out": "_released"})
    for k, kept in ((3, True), (2, False)):
        policy = policy_from(
            {
                "name": "plugged",
                "source": {"path": "nowhere.csv"},
                "columns": {"zip": {"role": "generalize", "hierarchy": {"suppress": True}}},
                "anonymize": {"k": k},
            }
        )
        suite = package.suite_for(policy)
        assert suite.expectations[-1].expectation_type == "expect_release_to_keep_largest_class_7"
        line = package.validate(batch, policy).lines[-1]
        assert (line.limit, line.success, line.observed) == ("largest_class_7", kept, 3.0)


def test_a_limit_that_reads_memory_or_population_itself_is_not_measured(
    by_hand: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(case: Case, demand: Demand) -> float:
        return 0.0 if case.memory is not None and not case.memory.releases else 1.0

    reading = Limit("reading", Words("Read."), Judged(read, needs=("memory",)), lambda policy: {"": 1})
    monkeypatch.setattr(table, "LIMITS", (*table.LIMITS, reading))
    batch = by_hand.rename(columns={"out": "_released"})
    columns = {"zip": {"role": "generalize", "hierarchy": {"suppress": True}}}
    policy = policy_from({"name": "p", "source": {"path": "x"}, "columns": columns, "anonymize": {"k": 7}})
    line = package.validate(batch, policy).lines[-1]
    assert (line.success, line.error) == (False, "InputError")
    assert "this limit cannot be measured on a batch" in str(line.reason)


class _Read(dict[str, Any]):
    """Arguments that remember which of them were read."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


ASKED: dict[str, dict[str, Any]] = {
    "ExpectReleaseToBeKAnonymous": {"quasi_identifiers": ["zip"], "k": 2},
    "ExpectReleaseToBeTClose": {
        "quasi_identifiers": ["zip"],
        "column": "ill",
        "t": 1,
        "distance": "ordered",
        "order": ["x", "y", "z"],
    },
    "ExpectReleaseToBeLDiverse": {"quasi_identifiers": ["zip"], "column": "pay", "kind": "distinct", "l": 1},
    "ExpectReleaseSuppressionToBeAtMost": {"limit": 1},
}


def test_arguments_for_any_table_are_those_of_k_t_l_and_suppression() -> None:
    shared = {"released", "policy", "limit_name", "hierarchies"}
    own = {name: set(getattr(package, name).success_keys) - shared for name in package.__all__[:10]}
    assert sorted(name for name, arguments in own.items() if arguments) == sorted(ASKED)


def test_no_argument_is_silently_ignored(by_hand: pd.DataFrame) -> None:
    """Every argument that an expectation offers is read when it judges."""
    for name, arguments in ASKED.items():
        expectation = getattr(package, name)(**arguments, released="out")
        own = set(type(expectation).__fields__) - set(BatchExpectation.__fields__)
        assert set(expectation.success_keys) == own
        given = _Read({key: getattr(expectation, key) for key in own})
        layout, demand = demand_of(given, expectation.expectation_type)
        assert demand.verdict(case_from(by_hand, layout)).value is not None
        assert own - given.names - {"limit_name"} == set(), name


Document = Callable[..., dict[str, Any]]
Measured = Callable[[pd.DataFrame, ReleaseExpectation], float | None]
QUASI: dict[str, Any] = {"quasi_identifiers": ["zip"], "released": "out"}


def test_k_is_the_smallest_released_class(by_hand: pd.DataFrame, measured: Measured) -> None:
    assert measured(by_hand, ExpectReleaseToBeKAnonymous(k=2, **QUASI)) == 2
    assert measured(by_hand, ExpectReleaseToBeKAnonymous(k=2, quasi_identifiers=["zip"])) == 1


def test_t_is_measured_against_all_rows_of_the_batch(by_hand: pd.DataFrame, measured: Measured) -> None:
    # pay: whole 1: 3/7, 2: 1/7, 3: 1/7, 4: 2/7; class b is {1, 1}; ordered: (4 + 3 + 2)/7/3
    ordered = ExpectReleaseToBeTClose(column="pay", distance="ordered", t=1, **QUASI)
    assert measured(by_hand, ordered) == pytest.approx(9 / 21, rel=1e-12)
    # without the suppressed rows the whole is 3/5, 1/5, 1/5: class b is (2 + 1)/5/2 away
    assert measured(by_hand[by_hand["out"]], ordered) == pytest.approx(0.3, rel=1e-12)
    equal = ExpectReleaseToBeTClose(column="pay", distance="equal", t=1, **QUASI)
    assert measured(by_hand, equal) == pytest.approx(4 / 7, rel=1e-12)


def test_numbers_written_as_texts_are_ordered_as_numbers(by_hand: pd.DataFrame, measured: Measured) -> None:
    ordered = ExpectReleaseToBeTClose(column="pay", distance="ordered", t=1, **QUASI)
    by_hand["pay"] = by_hand["pay"].map({1: 9, 2: 10, 3: 100, 4: 1000})  # as texts, 9 would be the last
    expected = measured(by_hand, ordered)
    assert measured(by_hand.assign(pay=by_hand["pay"].astype(str)), ordered) == expected
    assert measured(by_hand.assign(pay=by_hand["pay"].astype("category")), ordered) == expected


def test_t_by_a_tree_moves_mass_only_as_far_as_it_must(by_hand: pd.DataFrame, measured: Measured) -> None:
    # ill: whole x 3/7, y 3/7, z 1/7; class b all x: y's share moves within the branch (½), z's to the top (1)
    tree = {"tree": {"one": ["x", "y"], "two": ["z"]}}
    far = ExpectReleaseToBeTClose(column="ill", distance="hierarchical", hierarchy=tree, t=1, **QUASI)
    assert measured(by_hand, far) == pytest.approx(3 / 7 / 2 + 1 / 7, rel=1e-12)


def test_diversity_is_that_of_the_least_diverse_class(by_hand: pd.DataFrame, measured: Measured) -> None:
    def diversity(frame: pd.DataFrame, **kind: Any) -> float | None:
        return measured(frame, ExpectReleaseToBeLDiverse(column="pay", **kind, **QUASI))

    assert diversity(by_hand, kind="distinct", l=2) == 1
    assert diversity(by_hand, kind="entropy", l=2) == pytest.approx(1)
    assert diversity(by_hand, kind="recursive", l=1, c=2) == 1
    assert diversity(by_hand, kind="recursive", l=2, c=2) is None  # infinite
    only_a = by_hand[by_hand["zip"] == "a"]
    assert diversity(only_a, kind="entropy", l=2) == pytest.approx(3)
    assert diversity(only_a, kind="recursive", l=2, c=2) == 0.5


def test_values_that_the_coding_makes_equal_are_one_value_of_diversity(
    by_hand: pd.DataFrame, measured: Measured
) -> None:
    by_hand["pay"] = ["2020-01-05", "2020-01-05 12:00", "2020-01-05T13:30", *["2020-02-01"] * 4]
    only_a = by_hand[by_hand["zip"] == "a"]
    plain = {"column": "pay", "kind": "distinct", "l": 2} | QUASI
    dates = {"distance": "hierarchical", "hierarchy": {"dates": ["year"]}}
    assert measured(only_a, ExpectReleaseToBeLDiverse(**plain)) == 3
    assert measured(only_a, ExpectReleaseToBeLDiverse(**plain, **dates)) == 1


def test_linking_risk_counts_ties_and_suppressed_originals(
    by_hand: pd.DataFrame, measured: Measured, policy_by_hand: Document
) -> None:
    # a: 160 and 170 are their own, 180 ties 170 with its own 190: linked
    # b: 150 is its own; 150.4 is that of the suppressed record
    asked = {"policy": policy_by_hand(linking_risk=1), "limit_name": "linking_risk", "released": "out"}
    assert measured(by_hand, ExpectReleaseLinkingRiskToBeAtMost(**asked)) == 4 / 5


def test_suppression_is_the_share_of_the_batch_that_is_not_released(
    by_hand: pd.DataFrame, measured: Measured
) -> None:
    assert measured(by_hand, ExpectReleaseSuppressionToBeAtMost(limit=1, released="out")) == 1 - 5 / 7


def test_confident_k_is_the_fewest_originals_in_an_interval_that_has_any(
    by_hand: pd.DataFrame, measured: Measured, policy_by_hand: Document
) -> None:
    def fewest(k: int, epsilon: float) -> float | None:
        policy = policy_by_hand(epsilon=epsilon, confidence_k=k)
        asked = {"policy": policy, "limit_name": "confidence_k", "released": "out"}
        return measured(by_hand, ExpectReleaseToBeConfidentlyKAnonymous(**asked))

    # radius = diam·ln 10/ε: ε = 10: a: 6.9 (only its own; 180 has none), b: 0.09 (only its own)
    assert fewest(2, 10.0) == 1
    # ε = 1: a: 69, b: 0.9: all three of each
    assert fewest(3, 1.0) == 3
    # ... and counting stops at k
    assert fewest(2, 1.0) == 2
    by_hand["height"] = [999.0] * 7  # records without any original in their interval do not count
    assert fewest(4, 10.0) == 4


@pytest.mark.parametrize("name", ["_zip", "column", "group 0", "zíp", "noisy 0"])
def test_columns_of_a_table_may_have_any_name(by_hand: pd.DataFrame, measured: Measured, name: str) -> None:
    renamed = by_hand.rename(columns={"zip": name})
    expectation = ExpectReleaseToBeTClose(
        column="pay", distance="ordered", t=1, quasi_identifiers=[name], released="out"
    )
    assert measured(renamed, expectation) == pytest.approx(9 / 21, rel=1e-12)
