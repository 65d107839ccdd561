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
from pydantic import BaseModel

from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, INSENSITIVE, document
from anon_pipeline.gate.great_expectations.batch import MEMBER, POPULATION, RELEASED
from anon_pipeline.gate.great_expectations.expectations import expectation_of
from anon_pipeline.gate.great_expectations.failures import without_values
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.walks import without_paths

_FAILED = re.compile(r"\S+ could not be measured: (\w+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one expectation said.

    limit: the gate's name of the limit, such as ``k`` or ``t_closeness.salary``.
    success: whether it was measured and kept.
    observed: what was measured, for the curator; None where nothing was, or where it is infinite.
    error: type of the error where it could not be measured, else None: then the limit was just not kept.
    reason: text of the error if it is known to hold no value of the data.
    """

    limit: str
    success: bool
    observed: float | None = None
    error: str | None = None
    reason: str | None = None

    def as_text(self) -> str:
        """Say the outcome in one line, without what was measured: that is the curator's."""
        if self.error is not None:
            reason = "" if self.reason is None else ": " + self.reason.replace("\n", "; ")
            return f"{self.limit} not measured: {self.error}{reason}"
        return f"{self.limit} {'kept' if self.success else 'not kept'}"


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
        releases: how many are judged together, this one included.
    Returns:
        A suite that belongs to no context; each expectation has the limit's name in its ``meta``.
    """
    described, expectations = policy_document(policy), []
    for demand in demands(policy):
        if demand.limit.expectation_name:
            expectation = expectation_of(demand.limit)
            given = {"limit_name": demand.name, "policy": described, "released": RELEASED}
            if "class_columns" in expectation.success_keys:
                given["class_columns"] = [f"{MEMBER}{i}" for i in range(releases)]
            meta = {"limit": demand.name}
            expectations.append(expectation(**given, hierarchies=str(hierarchies), meta=meta))
    return gx.ExpectationSuite(name=policy.name, expectations=expectations)


def policy_document(policy: Policy) -> dict[str, Any]:
    """Return what of a policy its limits are measured by, as JSON types: no path but those of hierarchies.

    How a column was generalized plays no part. The population and the key are in no batch.
    """
    measured = {**policy.noisy, **{name: policy.columns[name] for name in policy.unchanged}}
    columns: dict[str, Any] = dict.fromkeys(policy.generalized, GENERALIZED)
    columns |= {name: without_paths(column, POPULATION) for name, column in measured.items()}
    columns |= {name: INSENSITIVE for name in policy.unchanged if name not in measured}
    sections = _sections(suppress=policy.suppress, gate=policy.gate, perturb=policy.perturb)
    if policy.record_key is not None:
        columns[policy.record_key] = {"role": "identifier"}
        sections |= {"record_key": policy.record_key, "deidentify": {"key_env": "UNUSED"}}
    if policy.person is not None:
        columns[policy.person] = {"role": "identifier"}
        sections |= {"person": policy.person, "deidentify": {"key_env": "UNUSED"}}
        sections |= {} if policy.rows_per_person is None else {"rows_per_person": policy.rows_per_person}
    return document(columns, k=policy.anonymize.k, **sections)


def _sections(**used: BaseModel | None) -> dict[str, Any]:
    """Return the documents of sections that a policy has, by name."""
    return {name: without_paths(one, POPULATION) for name, one in used.items() if one is not None}


def validate(batch: pd.DataFrame, policy: Policy, *, hierarchies: Path = Path()) -> SuiteResult:
    """Let Great Expectations judge a batch by the limits of a policy.

    The context lives in memory for the length of the call and is not made the process's current one;
    nothing is written, sent or shown.

    Args:
        batch: (n, columns) of `gate_batch`.
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
    return SuiteResult(tuple(outcome_of(name, found.get(name)) for name in names))


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


def outcome_of(limit: str, result: Any) -> Outcome:
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
