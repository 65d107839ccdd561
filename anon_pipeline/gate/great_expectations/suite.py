"""The suite of a policy: the gate's limits as expectations, validated on one batch without a trace."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import great_expectations as gx
import pandas as pd
from great_expectations.data_context import EphemeralDataContext
from great_expectations.data_context.types.base import DataContextConfig, InMemoryStoreBackendDefaults
from pydantic import BaseModel

from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, document
from anon_pipeline.gate.great_expectations.batch import POPULATION, RELEASED
from anon_pipeline.gate.great_expectations.expectations import expectation_of
from anon_pipeline.gate.great_expectations.failures import without_values
from anon_pipeline.limits.outliers import range_columns
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


def suite_for(
    policy: Policy, *, hierarchies: Path = Path(), releases: int | None = None
) -> gx.ExpectationSuite:
    """Return the gate's limits as expectations on a `gate_batch`: k always, the others where they are set.

    Args:
        releases: no longer needed: the batch says how many releases are judged together.
    Returns:
        A suite that belongs to no context; each expectation has the limit's name in its ``meta``.
    """
    if releases is not None:
        warnings.warn(
            "leave releases out of suite_for: the batch has them.", DeprecationWarning, stacklevel=2
        )
    shared = {"policy": policy_document(policy), "released": RELEASED, "hierarchies": str(hierarchies)}
    expectations = [
        expectation_of(demand.limit)(**shared, limit_name=demand.name, meta={"limit": demand.name})
        for demand in demands(policy)
        if demand.limit.expectation_name
    ]
    return gx.ExpectationSuite(name=policy.name, expectations=expectations)


def policy_document(policy: Policy) -> dict[str, Any]:
    """Return what of a policy its limits are measured by, as JSON types: no path but those of hierarchies.

    How a column was generalized plays no part, but for ranges of numbers. The population and the key are in
    no batch.
    """
    ranged = range_columns(policy)
    columns: dict[str, Any] = dict.fromkeys(policy.generalized, GENERALIZED)
    for name in (*sorted(ranged), *policy.noisy, *policy.unchanged):
        columns[name] = without_paths(policy.columns[name], POPULATION)
    sections = _sections(suppress=policy.suppress, gate=policy.gate, perturb=policy.perturb)
    for key, column in (("record_key", policy.record_key), ("person", policy.person)):
        if column is not None:
            columns[column] = {"role": "identifier"}
            sections |= {key: column, "deidentify": {"key_env": "UNUSED"}}
    if policy.rows_per_person is not None:
        sections["rows_per_person"] = policy.rows_per_person
    recoder = policy.anonymize.recoder if ranged else None
    return document(columns, k=policy.anonymize.k, recoder=recoder, **sections)


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
    suite = suite_for(policy, hierarchies=hierarchies)
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
