"""Great Expectations is imported by who asks for it alone, and it leaves no trace where it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.registry import get_expectation_impl

import anon_pipeline.gate.great_expectations as package
from anon_pipeline.gate.great_expectations.arguments import asked
from anon_pipeline.gate.great_expectations.cases import case_from
from anon_pipeline.limits import table
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand, Limit
from anon_pipeline.limits.structure import CONTRACT, ORIGIN
from anon_pipeline.limits.table import LIMITS
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
assert [line.observed for line in result.lines] == [2, 0.0]
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
    """All but those that a table and its originals alone do not show: what is in it, and who made it."""
    if limit in (CONTRACT, ORIGIN):
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
        name="largest_class_7",
        meaning="No class has more records than this.",
        demanded=lambda policy: {"": policy.gate_k},
        measure=lambda case, demand: float(case.evidence.classes.sizes.max()),
    )
    monkeypatch.setattr(table, "LIMITS", (*table.LIMITS, largest))
    batch = by_hand.rename(columns={"out": "_released"})
    batch["_class_id"] = [1, 1, 1, 0, 0, 0, -1]
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

    reading = Limit("reading", "Read.", lambda policy: {"": 1}, measure=read, needs=("memory",))
    monkeypatch.setattr(table, "LIMITS", (*table.LIMITS, reading))
    batch = by_hand.rename(columns={"out": "_released"})
    batch["_class_id"] = [1, 1, 1, 0, 0, 0, -1]
    columns = {"zip": {"role": "generalize", "hierarchy": {"suppress": True}}}
    policy = policy_from({"name": "p", "source": {"path": "x"}, "columns": columns, "anonymize": {"k": 2}})
    line = package.validate(batch, policy).lines[-1]
    assert (line.success, line.error) == (False, "InputError")
    assert "a batch must be judged by histories" in str(line.reason)


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


NOISY = {
    "released_columns": ["height"],
    "original_columns": ["was"],
    "class_column": "class",
    "resolutions": [1],
}
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
    "ExpectReleaseLinkingRiskToBeAtMost": {"limit": 1, **NOISY},
    "ExpectReleaseToBeConfidentlyKAnonymous": {"k": 1, "confidence": 0.9, "epsilons": [1], **NOISY},
    "ExpectReleaseToHideInPopulation": {
        "quasi_identifiers": ["zip"],
        "population_column": "class",
        "risk": "journalist_risk",
        "limit": 1,
    },
    "ExpectReleasesTogetherToBeKAnonymous": {"class_columns": ["class"], "k": 1},
    "ExpectReleaseToKeepPublishedNoise": {
        "released_columns": ["height"],
        "published_columns": ["was"],
        "resolutions": [1],
    },
    "ExpectReleaseToWithstandAttack": {
        "quasi_identifiers": ["zip"],
        "attack": "prosecutor_risk",
        "attacks": {"prosecutor_risk": 1},
        "columns": {"ill": {"role": "sensitive"}},
    },
}


def test_no_argument_is_silently_ignored(by_hand: pd.DataFrame) -> None:
    """Every argument that an expectation offers is read when it judges."""
    assert sorted(ASKED) == [name for name in package.__all__ if name.startswith("Expect")]
    for name, arguments in ASKED.items():
        expectation = getattr(package, name)(**arguments, released="out")
        own = set(type(expectation).__fields__) - set(BatchExpectation.__fields__)
        assert set(expectation.success_keys) == own
        given = _Read({key: getattr(expectation, key) for key in own})
        layout, demand = asked(given, expectation.expectation_type)
        batch = by_hand.assign(_class_id=by_hand["class"])
        assert case_from(batch, layout).judged(demand, given).value is not None
        assert own - given.names - {"limit_name"} == set(), name
