"""Expectations about released values: whom they give away, and how many records were suppressed."""

from __future__ import annotations

from typing import Any

from great_expectations.compatibility import pydantic

from anon_pipeline.gate.great_expectations.base import (
    Confidence,
    Count,
    Names,
    Positives,
    ReleaseExpectation,
    Share,
    verdict,
)

_NOISY = ("released_columns", "original_columns", "class_column", "resolutions")


def parallel(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Refuse lists of perturb columns of different lengths.

    Args:
        cls: the expectation.
        values: its arguments by name.
    Raises:
        ValueError: with the lengths.
    """
    names = ("released_columns", "original_columns", "published_columns", "resolutions", "epsilons")
    lengths = {name: len(values[name]) for name in (*names, "noises") if values.get(name) is not None}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise ValueError(f"lists of perturb columns must be equally long, got {got}")
    return values


class ExpectReleaseSuppressionToBeAtMost(ReleaseExpectation):
    """Expect the share of the batch that is not released to be within a limit.

    Args:
        limit: share, in [0, 1].
        released: boolean column that marks the released records.
    Returns:
        ``observed_value``: the share.
    """

    released: str = pydantic.Field(description="Boolean column that is true for released records.")
    limit: Share = pydantic.Field(description="Largest share of suppressed records.")

    sentence = "At most a share of $limit of the records may be suppressed."
    metric_dependencies = ("release.suppression",)
    success_keys = ("limit", "released")
    args_keys = success_keys

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.suppression"]
        return verdict(value, value <= self.limit)


class ExpectReleaseLinkingRiskToBeAtMost(ReleaseExpectation):
    """Expect an attacker who knows the originals to link few released records by their perturbed values.

    Args:
        limit: share of the released records that are linked, in [0, 1].
        released_columns: perturb columns as released.
        original_columns: the same columns as they were, in the same order.
        class_column: class of each original record, a whole number; −1 for no class.
        resolutions: grid of each column, in its unit.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: the share.
    Source:
        [KE V-B]; [methods 8.1].
    """

    limit: Share = pydantic.Field(description="Largest share of linked records.")
    released_columns: Names = pydantic.Field(description="Perturb columns as released.")
    original_columns: Names = pydantic.Field(description="The same columns as they were.")
    class_column: str = pydantic.Field(description="Class of each original record; −1 for none.")
    resolutions: Positives = pydantic.Field(description="Grid of each column, in its unit.")

    sentence = "At most a share of $limit of the released records may be linked by $released_columns."
    metric_dependencies = ("release.linking_risk",)
    success_keys = ("limit", *_NOISY, "released")
    args_keys = success_keys
    _checked = pydantic.root_validator(allow_reuse=True, skip_on_failure=True)(parallel)

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.linking_risk"]
        return verdict(value, value <= self.limit)


class ExpectReleaseToBeConfidentlyKAnonymous(ReleaseExpectation):
    """Expect a released record to have no, or at least k, originals of its class in its confidence interval.

    Args:
        k: originals, ≥ 1.
        confidence: of the interval, in (0, 1).
        epsilons: ε of each perturb column.
        noises: what each column's noise is drawn under (``mechanism``; ``epsilon`` and ``delta`` as texts of
            exact fractions; ``inputs``, grid units); None: discrete Laplace by class and ``epsilons``.
        released_columns: perturb columns as released.
        original_columns: the same columns as they were, in the same order.
        class_column: class of each original record, a whole number; −1 for no class.
        resolutions: grid of each column, in its unit.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: the fewest originals in the interval of a record that has any, counted up to k.
    Source:
        [KE V-C]; [methods 7].
    """

    k: Count = pydantic.Field(description="Originals within the interval.")
    confidence: Confidence = pydantic.Field(description="Of the interval.")
    epsilons: Positives = pydantic.Field(description="ε of each perturb column.")
    noises: list[dict[str, Any]] | None = pydantic.Field(
        default=None, description="Of each perturb column; default: discrete Laplace by class."
    )
    released_columns: Names = pydantic.Field(description="Perturb columns as released.")
    original_columns: Names = pydantic.Field(description="The same columns as they were.")
    class_column: str = pydantic.Field(description="Class of each original record; −1 for none.")
    resolutions: Positives = pydantic.Field(description="Grid of each column, in its unit.")

    sentence = "Each released record must have no or $k originals within its $confidence interval."
    metric_dependencies = ("release.confident_k",)
    success_keys = ("k", "confidence", "epsilons", "noises", *_NOISY, "released")
    args_keys = success_keys
    _checked = pydantic.root_validator(allow_reuse=True, skip_on_failure=True)(parallel)

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.confident_k"]
        return verdict(value, value >= self.k)
