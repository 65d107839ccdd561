"""Great Expectations is imported by who asks for it alone, and it leaves no trace where it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from great_expectations.expectations.expectation import BatchExpectation

import anon_pipeline.gate.great_expectations as package
from anon_pipeline.gate.great_expectations import metrics

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
        "ReleaseAttack",
        "ReleaseConfidentK",
        "ReleaseCrossReleaseK",
        "ReleaseK",
        "ReleaseLDiversity",
        "ReleaseLinkingRisk",
        "ReleasePopulation",
        "ReleaseRedrawn",
        "ReleaseSuppression",
        "ReleaseTCloseness",
        "SuiteResult",
        "gate_batch",
        "suite_for",
        "validate",
    ]


def test_a_metric_asks_for_exactly_what_its_expectation_offers() -> None:
    """All arguments but limits reach the metric; one left out would be silently ignored."""
    limits = {"limit", "t", "c"}
    providers = {
        getattr(metrics, name).metric_name: getattr(metrics, name)
        for name in vars(metrics)
        if hasattr(getattr(metrics, name), "metric_name")
    }
    for name in (name for name in package.__all__ if name.startswith("Expect")):
        expectation = getattr(package, name)
        (metric,) = expectation.metric_dependencies
        counts = {"k"} if metric in ("release.k", "release.cross_release_k") else set()
        offered = set(expectation.success_keys) - limits - counts
        assert set(providers[metric].value_keys) == offered
        own = set(expectation.__fields__) - set(BatchExpectation.__fields__)
        assert set(expectation.success_keys) == own
