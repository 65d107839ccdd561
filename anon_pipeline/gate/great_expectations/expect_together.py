"""Expectations about releases that follow each other: whom their classes isolate, which noise must stay.

What was published before is in columns of the batch: an expectation has no memory of its own.
"""

from __future__ import annotations

from typing import Any

from great_expectations.compatibility import pydantic

from anon_pipeline.gate.great_expectations.base import Count, Names, Positives, ReleaseExpectation, verdict
from anon_pipeline.gate.great_expectations.expect_values import parallel


class ExpectReleasesTogetherToBeKAnonymous(ReleaseExpectation):
    """Expect k persons to fit all classes, over several releases, that any one person was published in.

    The batch has a row per person. Persons that the release to be published does not hold need no row: they
    fit nobody of it.

    Args:
        class_columns: columns with each person's class, a whole number, a column per release; −1 where the
            person was not in it. The last one is the release to be published.
        k: persons, ≥ 1.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: the fewest persons who fit; the smallest class where nobody was published before.
    Source:
        Ganta, Kasiviswanathan, Smith (2008), the intersection attack.
    """

    class_columns: Names = pydantic.Field(description="Class of each person, a column per release; −1: none.")
    k: Count = pydantic.Field(description="Persons who fit all classes of one.")

    sentence = "At least $k persons must fit all classes of $class_columns that any one is in."
    metric_dependencies = ("release.cross_release_k",)
    success_keys = ("class_columns", "k", "released")
    args_keys = success_keys

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.cross_release_k"]
        return verdict(value, value >= self.k)


class ExpectReleaseToKeepPublishedNoise(ReleaseExpectation):
    """Expect values whose noise was published, and must stay, to be released as they were published.

    Args:
        released_columns: perturb columns as released.
        published_columns: columns with the values that must stay, in the same order; missing where none must.
        resolutions: grid of each column, in its unit.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: how many values are others.
    """

    released_columns: Names = pydantic.Field(description="Perturb columns as released.")
    published_columns: Names = pydantic.Field(description="Values that must stay; missing where none must.")
    resolutions: Positives = pydantic.Field(description="Grid of each column, in its unit.")

    sentence = "Values of $published_columns must be released in $released_columns as they were published."
    metric_dependencies = ("release.redrawn",)
    success_keys = ("released_columns", "published_columns", "resolutions", "released")
    args_keys = success_keys
    _checked = pydantic.root_validator(allow_reuse=True, skip_on_failure=True)(parallel)

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.redrawn"]
        return verdict(value, value == 0)
