"""Expectations about a release for Great Expectations, and the suite of a policy.

Importing this package imports Great Expectations, which takes seconds: only who uses it should.
"""

from anon_pipeline.gate.expectations.expect_classes import (
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
)
from anon_pipeline.gate.expectations.expect_values import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
)
from anon_pipeline.gate.expectations.metrics import (
    ReleaseConfidentK,
    ReleaseK,
    ReleaseLDiversity,
    ReleaseLinkingRisk,
    ReleaseSuppression,
    ReleaseTCloseness,
)
from anon_pipeline.gate.expectations.suite import Outcome, SuiteResult, gate_batch, suite_for, validate

__all__ = [
    "ExpectReleaseLinkingRiskToBeAtMost",
    "ExpectReleaseSuppressionToBeAtMost",
    "ExpectReleaseToBeConfidentlyKAnonymous",
    "ExpectReleaseToBeKAnonymous",
    "ExpectReleaseToBeLDiverse",
    "ExpectReleaseToBeTClose",
    "Outcome",
    "ReleaseConfidentK",
    "ReleaseK",
    "ReleaseLDiversity",
    "ReleaseLinkingRisk",
    "ReleaseSuppression",
    "ReleaseTCloseness",
    "SuiteResult",
    "gate_batch",
    "suite_for",
    "validate",
]
