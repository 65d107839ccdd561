"""Expectations about a release for Great Expectations, and the suite of a policy.

Importing this package imports Great Expectations, which takes seconds: only who uses it should.
"""

from anon_pipeline.gate.great_expectations.batch import gate_batch
from anon_pipeline.gate.great_expectations.expect_attacks import (
    ExpectReleaseToHideInPopulation,
    ExpectReleaseToWithstandAttack,
)
from anon_pipeline.gate.great_expectations.expect_classes import (
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
)
from anon_pipeline.gate.great_expectations.expect_together import (
    ExpectReleasesTogetherToBeKAnonymous,
    ExpectReleaseToKeepPublishedNoise,
)
from anon_pipeline.gate.great_expectations.expect_values import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
)
from anon_pipeline.gate.great_expectations.metrics import (
    ReleaseAttack,
    ReleaseConfidentK,
    ReleaseCrossReleaseK,
    ReleaseK,
    ReleaseLDiversity,
    ReleaseLinkingRisk,
    ReleasePopulation,
    ReleaseRedrawn,
    ReleaseSuppression,
    ReleaseTCloseness,
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
