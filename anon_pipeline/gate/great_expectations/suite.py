"""The suite of a policy: the gate's limits as expectations, validated on one batch without a trace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.data_context import EphemeralDataContext
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults

from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.encode.grids import noises
from anon_pipeline.gate.great_expectations.attack_arguments import attack_arguments
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.batch import (
    CODE,
    MEMBER,
    ORIGINAL,
    POPULATION,
    PUBLISHED,
    RELEASED,
)
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
from anon_pipeline.gate.great_expectations.measures import without_values
from anon_pipeline.limits import sizes
from anon_pipeline.limits.limit import on_expectation
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.model import Policy

_FAILED = re.compile(r"\S+ could not be measured: (\w+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one expectation said.

    limit: the gate's name of the limit, such as ``k`` or ``t_closeness.salary``.
    success: whether it was measured and kept.
    observed: what was measured; None where nothing was, or where it is infinite.
    error: type of the error where it could not be measured, else None: then the limit was just not kept.
    reason: text of the error if it is known to hold no value of the data.
    """

    limit: str
    success: bool
    observed: float | None = None
    error: str | None = None
    reason: str | None = None

    def as_text(self) -> str:
        """Say the outcome in one line."""
        if self.error is not None:
            reason = "" if self.reason is None else ": " + self.reason.replace("\n", "; ")
            return f"{self.limit} not measured: {self.error}{reason}"
        measured = "" if self.observed is None else f": {self.observed:.6g}"
        return f"{self.limit}{measured} {'kept' if self.success else 'not kept'}"


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What a suite said, a line for each of its expectations, in its order."""

    lines: tuple[Outcome, ...]

    @property
    def success(self) -> bool:
        """Whether every limit was measured and kept."""
        return bool(self.lines) and all(line.success for line in self.lines)

    def failures(self) -> list[str]:
        """Say in a line each which limits were not kept or not measured."""
        return [line.as_text() for line in self.lines if not line.success]


def suite_for(policy: Policy, *, hierarchies: Path = Path(), releases: int = 1) -> gx.ExpectationSuite:
    """Return the gate's limits as expectations on a `gate_batch`: k always, the others where they are set.

    Args:
        policy: its limits.
        hierarchies: folder of the hierarchy tables.
        releases: how many are judged together, this one included.
    Returns:
        A suite that belongs to no context; each expectation has the limit's name in its ``meta``.
    """
    gate, quasi = policy.gate, {"quasi_identifiers": list(policy.generalized), "released": RELEASED}
    limits: dict[str, ReleaseExpectation] = {"k": ExpectReleaseToBeKAnonymous(k=policy.gate_k, **quasi)}
    for name, t in gate.t_closeness.items():
        coding = _coding(policy, name, hierarchies)
        limits[f"t_closeness.{name}"] = ExpectReleaseToBeTClose(t=t, **coding, **quasi)
    for name, limit in gate.l_diversity.items():
        coding = _coding(policy, name, hierarchies)
        limits[f"l_diversity.{name}"] = ExpectReleaseToBeLDiverse(**limit.model_dump(), **coding, **quasi)
    known = attack_arguments(policy) | {"hierarchies": str(hierarchies), "released": RELEASED}
    if gate.linking_risk is not None and on_expectation(policy):
        limits["linking_risk"] = ExpectReleaseToWithstandAttack(attack="linking_risk", **known)
    elif gate.linking_risk is not None:
        limits["linking_risk"] = ExpectReleaseLinkingRiskToBeAtMost(limit=gate.linking_risk, **_noisy(policy))
    if gate.suppression is not None:
        limits["suppression"] = ExpectReleaseSuppressionToBeAtMost(limit=gate.suppression, released=RELEASED)
    if gate.confidence_k is not None:
        limits["confidence_k"] = ExpectReleaseToBeConfidentlyKAnonymous(
            k=gate.confidence_k,
            confidence=policy.suppress.confidence,
            epsilons=[float(noise.epsilon) for noise in noises(policy)],
            noises=_noises(policy),
            **_noisy(policy),
        )
    limits |= _attacks(policy, known) | _together(policy, releases)
    for name, expectation in limits.items():
        expectation.meta = {"limit": name}
    return gx.ExpectationSuite(name=policy.name, expectations=list(limits.values()))


def _attacks(policy: Policy, known: dict[str, Any]) -> dict[str, ReleaseExpectation]:
    """Return the limits on attacks, in the gate's order."""
    limits: dict[str, ReleaseExpectation] = {
        demand.name: ExpectReleaseToWithstandAttack(attack=demand.name, **known)
        for demand in demands(policy)
        if demand.limit.attack
    }
    for demand in sizes.POPULATION.demands(policy):
        limits[demand.name] = ExpectReleaseToHideInPopulation(
            quasi_identifiers=list(policy.generalized),
            population_column=POPULATION,
            risk=demand.of,
            limit=demand.bound,
            released=RELEASED,
        )
    return limits


def _together(policy: Policy, releases: int) -> dict[str, ReleaseExpectation]:
    """Return the limits on all releases together, in the gate's order."""
    limits: dict[str, ReleaseExpectation] = {}
    if policy.gate.cross_release_k is not None:
        limits["cross_release_k"] = ExpectReleasesTogetherToBeKAnonymous(
            class_columns=[f"{MEMBER}{i}" for i in range(releases)],
            k=policy.gate.cross_release_k,
            released=RELEASED,
        )
    if policy.perturb is not None and policy.perturb.republish == "sticky":
        limits["sticky"] = ExpectReleaseToKeepPublishedNoise(
            released_columns=[*policy.perturbed, *(f"{CODE}{name}" for name in policy.categorical)],
            published_columns=[f"{PUBLISHED}{name}" for name in policy.noisy],
            resolutions=[
                *(column.resolution for column in policy.perturbed.values()),
                *[1.0] * len(policy.categorical),
            ],
            released=RELEASED,
        )
    return limits


def _coding(policy: Policy, name: str, hierarchies: Path) -> dict[str, Any]:
    column = policy.sensitive[name]
    return {
        "column": name,
        "distance": column.distance,
        "order": None if column.order is None else list(column.order),
        "hierarchy": None if column.hierarchy is None else column.hierarchy.model_dump(mode="json"),
        "hierarchies": str(hierarchies),
    }


def _noises(policy: Policy) -> list[dict[str, Any]] | None:
    """Return the noise of each perturb column; None where all is discrete Laplace by class."""
    found = noises(policy)
    if all(noise.mechanism == DEFAULT_MECHANISM and noise.inputs is None for noise in found):
        return None
    return [
        {
            "mechanism": noise.mechanism,
            "epsilon": str(noise.epsilon),
            "delta": None if noise.delta is None else str(noise.delta),
            "inputs": None if noise.inputs is None else list(noise.inputs),
        }
        for noise in found
    ]


def _noisy(policy: Policy) -> dict[str, Any]:
    return {
        "released_columns": list(policy.perturbed),
        "original_columns": [f"{ORIGINAL}{name}" for name in policy.perturbed],
        "class_column": CLASS,
        "resolutions": [column.resolution for column in policy.perturbed.values()],
        "released": RELEASED,
    }


def validate(batch: pd.DataFrame, policy: Policy, *, hierarchies: Path = Path()) -> SuiteResult:
    """Let Great Expectations judge a batch by the limits of a policy.

    The context lives in memory for the length of the call and is not made the process's current one;
    nothing is written, sent or shown.

    Args:
        batch: (n, columns) of `gate_batch`.
        policy: its limits.
        hierarchies: folder of the hierarchy tables.
    Returns:
        A line per limit. What could not be measured has not succeeded and names its error.
    Raises:
        MeasureFailed: Great Expectations itself failed; without its text.
    """
    releases = sum(str(name).startswith(MEMBER) for name in batch.columns)
    suite = suite_for(policy, hierarchies=hierarchies, releases=max(releases, 1))
    results = without_values("expectations", lambda: _results(batch, suite))
    found = {result.expectation_config.meta["limit"]: result for result in results}
    names = (expectation.meta["limit"] for expectation in suite.expectations)
    return SuiteResult(tuple(_outcome(name, found.get(name)) for name in names))


def _results(batch: pd.DataFrame, suite: gx.ExpectationSuite) -> Iterable[Any]:
    """Validate in a context of its own: `Batch.validate` would need, and set, the process's current one."""
    stores = InMemoryStoreBackendDefaults(init_temp_docs_sites=False)
    config = DataContextConfig(
        analytics_enabled=False, progress_bars={"globally": False}, store_backend_defaults=stores
    )
    context = EphemeralDataContext(project_config=config)
    asset = context.data_sources.add_pandas("release").add_dataframe_asset("batch")
    whole = asset.add_batch_definition_whole_dataframe("whole")
    request = whole.build_batch_request({"dataframe": batch})
    results: Iterable[Any] = context.get_validator(batch_request=request).graph_validate(
        configurations=suite.expectation_configurations,
        runtime_configuration={"result_format": "BASIC", "catch_exceptions": True},
    )
    return results


def _outcome(limit: str, result: Any) -> Outcome:
    """Reduce a result to a line; only errors of our own metrics are known to hold no value."""
    if result is None:
        return Outcome(limit, False, error="NotMeasured")
    info = result.exception_info or {}
    errors = [info] if "raised_exception" in info else list(info.values())
    messages = [error["exception_message"] for error in errors if error["raised_exception"]]
    if not messages:
        return Outcome(limit, bool(result.success), result.result.get("observed_value"))
    known = _FAILED.fullmatch(messages[0])
    if known is None:
        return Outcome(limit, False, error="GreatExpectationsError")
    return Outcome(limit, False, error=known.group(1), reason=known.group(2))
