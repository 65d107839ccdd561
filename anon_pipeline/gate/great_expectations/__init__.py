"""Expectations about a release for Great Expectations, and the suite of a policy.

Importing this package imports Great Expectations, which takes seconds: only who uses it should.

Decision: docs/adr/0041-expectations-from-the-table-of-limits.md.
"""

from anon_pipeline.gate.great_expectations.batch import gate_batch
from anon_pipeline.gate.great_expectations.expectations import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleasesTogetherToBeKAnonymous,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
    ExpectReleaseToHideInPopulation,
    ExpectReleaseToKeepPublishedNoise,
    ExpectReleaseToWithstandAttack,
    expectation_of,
)
from anon_pipeline.gate.great_expectations.suite import Outcome, SuiteResult, suite_for, validate

__all__ = [
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
