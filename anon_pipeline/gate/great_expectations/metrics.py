"""Metrics for Great Expectations: one per measure, on a pandas batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pandas as pd
from great_expectations.core.metric_domain_types import MetricDomainTypes
from great_expectations.execution_engine import PandasExecutionEngine
from great_expectations.expectations.metrics.metric_provider import metric_value
from great_expectations.expectations.metrics.table_metric_provider import TableMetricProvider

from anon_pipeline.gate.great_expectations.attack_arguments import attacked, known_population
from anon_pipeline.gate.great_expectations.measures import (
    Wanted,
    farthest_class,
    fewest_originals,
    fewest_persons,
    least_diverse_class,
    linked_share,
    redrawn_values,
    smallest_class,
    suppressed_share,
    without_values,
)

_CODING = ("distance", "order", "hierarchy", "hierarchies")
_NOISY = ("released_columns", "original_columns", "class_column", "resolutions")
_T = TypeVar("_T")


def _measured(name: str, given: dict[str, Any], measure: Callable[[pd.DataFrame, Wanted], _T]) -> _T:
    """Measure the batch that Great Expectations hands over; an error carries no value of it."""

    def on_batch() -> _T:
        frame, _, _ = given["execution_engine"].get_compute_domain(
            domain_kwargs=given["metric_domain_kwargs"], domain_type=MetricDomainTypes.TABLE
        )
        return measure(frame, given["metric_value_kwargs"])

    return without_values(name, on_batch)


class ReleaseK(TableMetricProvider):
    """Records in the smallest equivalence class of the release."""

    metric_name = "release.k"
    value_keys = ("quasi_identifiers", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> int:
        return _measured(cls.metric_name, given, smallest_class)


class ReleaseTCloseness(TableMetricProvider):
    """Largest distance of an equivalence class of the release to the whole batch."""

    metric_name = "release.t_closeness"
    value_keys = ("quasi_identifiers", "column", *_CODING, "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, farthest_class)


class ReleaseLDiversity(TableMetricProvider):
    """Diversity of the least diverse equivalence class of the release, by its kind."""

    metric_name = "release.l_diversity"
    value_keys = ("quasi_identifiers", "column", "kind", "l", *_CODING, "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, least_diverse_class)


class ReleaseLinkingRisk(TableMetricProvider):
    """Share of the released records whose own original is among the nearest ones of its class."""

    metric_name = "release.linking_risk"
    value_keys = (*_NOISY, "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, linked_share)


class ReleaseSuppression(TableMetricProvider):
    """Share of the batch that is not released."""

    metric_name = "release.suppression"
    value_keys = ("released",)

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, suppressed_share)


class ReleaseConfidentK(TableMetricProvider):
    """Fewest originals within the confidence interval of a released record that has any, at most k."""

    metric_name = "release.confident_k"
    value_keys = ("k", "confidence", "epsilons", "noises", *_NOISY, "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> int:
        return _measured(cls.metric_name, given, fewest_originals)


class ReleaseCrossReleaseK(TableMetricProvider):
    """Fewest persons who fit all classes, over several releases, that a released one was published in."""

    metric_name = "release.cross_release_k"
    value_keys = ("class_columns", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> int:
        return _measured(cls.metric_name, given, fewest_persons)


class ReleaseRedrawn(TableMetricProvider):
    """Released values that are others than those that were published and must stay."""

    metric_name = "release.redrawn"
    value_keys = ("released_columns", "published_columns", "resolutions", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> int:
        return _measured(cls.metric_name, given, redrawn_values)


class ReleaseAttack(TableMetricProvider):
    """What an attack gets right on the release."""

    metric_name = "release.attack"
    value_keys = (
        "attack",
        "attacks",
        "quasi_identifiers",
        "columns",
        "perturb",
        "stages",
        "hierarchies",
        "released",
    )

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, attacked)


class ReleasePopulation(TableMetricProvider):
    """What an attacker gets right who knows the population that the released records are a sample of."""

    metric_name = "release.population"
    value_keys = ("quasi_identifiers", "population_column", "risk", "released")

    @metric_value(engine=PandasExecutionEngine)
    def _pandas(cls, **given: Any) -> float:
        return _measured(cls.metric_name, given, known_population)
