"""What tuning expects of a release, as far as limits are judged by it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Foreseen(Protocol):
    """What tuning expects of a release before any noise is drawn, see `tuning.results.Expected`."""

    @property
    def smallest_class(self) -> int: ...  # noqa: D102
    @property
    def linking(self) -> float: ...  # noqa: D102
    @property
    def linking_released(self) -> float: ...  # noqa: D102
    @property
    def standard_error(self) -> tuple[float, float]: ...  # noqa: D102
    @property
    def suppression_judged(self) -> float: ...  # noqa: D102
    @property
    def information_loss(self) -> float: ...  # noqa: D102
    @property
    def errors(self) -> Mapping[str, float]: ...  # noqa: D102
    @property
    def constant(self) -> int: ...  # noqa: D102
    @property
    def of_spread(self) -> Mapping[str, float]: ...  # noqa: D102
