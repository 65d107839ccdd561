"""Expectations about equivalence classes: how large they are, and how their sensitive values are
distributed.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from great_expectations.compatibility import pydantic

from anon_pipeline.evidence.measures import close, diverse
from anon_pipeline.gate.great_expectations.base import Count, Names, ReleaseExpectation, Share, verdict
from anon_pipeline.gate.great_expectations.measures import sensitive_column
from anon_pipeline.policy.recoding import LDiversity

_CODING = ("distance", "order", "hierarchy", "hierarchies")


def _sensitive(cls: type, values: dict[str, Any]) -> dict[str, Any]:
    """Refuse a distance without what it needs, by the policy's own rules."""
    if {"distance", "order", "hierarchy"} <= set(values):
        sensitive_column(values)
    return values


class ExpectReleaseToBeKAnonymous(ReleaseExpectation):
    """Expect every equivalence class of the release to have at least k records.

    Args:
        quasi_identifiers: generalized columns; records with equal values, missing ones included, are a class.
        k: records in the smallest class, ≥ 1.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: records in the smallest class.
    Source:
        Samarati and Sweeney (1998); [methods 3].
    """

    quasi_identifiers: Names = pydantic.Field(description="Generalized columns.")
    k: Count = pydantic.Field(description="Records in the smallest class.")

    sentence = "Each class of equal $quasi_identifiers must have at least $k records."
    metric_dependencies = ("release.k",)
    success_keys = ("quasi_identifiers", "k", "released")
    args_keys = success_keys

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.k"]
        return verdict(value, value >= self.k)


class ExpectReleaseToBeTClose(ReleaseExpectation):
    """Expect a sensitive column to be distributed in each equivalence class as in the whole batch, within t.

    The whole batch is the prior of an observer: give all input records, suppressed ones marked by
    ``released``, to measure what the gate measures.

    Args:
        quasi_identifiers: generalized columns.
        column: the sensitive column.
        t: largest earth mover's distance, in [0, 1].
        distance: ``ordered`` (numbers, or texts in ``order``), ``equal`` (nominal), ``hierarchical``.
        order: for ordered texts, every value, lowest first.
        hierarchy: for ``hierarchical``, as in a policy: a table, a tree, intervals, a mask, dates.
        hierarchies: folder that a hierarchy's table is relative to.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: the largest distance of a class.
    Source:
        Li, Li, Venkatasubramanian (2007); [methods 8.2].
    """

    quasi_identifiers: Names = pydantic.Field(description="Generalized columns.")
    column: str = pydantic.Field(description="The sensitive column.")
    t: Share = pydantic.Field(description="Largest distance of a class to the whole batch.")
    distance: Literal["ordered", "equal", "hierarchical"] = pydantic.Field(
        description="Ordered for numbers and ordinals, equal for nominal values, hierarchical."
    )
    order: list[str] | None = pydantic.Field(default=None, description="Values of ordered texts.")
    hierarchy: dict[str, Any] | None = pydantic.Field(default=None, description="As in a policy.")
    hierarchies: str = pydantic.Field(default=".", description="Folder of hierarchy tables.")

    sentence = "In each class of equal $quasi_identifiers, $column must be $t-close to the whole ($distance)."
    metric_dependencies = ("release.t_closeness",)
    success_keys = ("quasi_identifiers", "column", "t", *_CODING, "released")
    args_keys = success_keys
    _checked = pydantic.root_validator(allow_reuse=True, skip_on_failure=True)(_sensitive)

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.t_closeness"]
        return verdict(value, close(np.array([value]), self.t).all())


class ExpectReleaseToBeLDiverse(ReleaseExpectation):
    """Expect every equivalence class of the release to have l well-represented sensitive values.

    Args:
        quasi_identifiers: generalized columns.
        column: the sensitive column.
        kind: ``distinct``, ``entropy`` (exp of the entropy is at least l) or ``recursive`` (c, l).
        l: values, ≥ 1; whole unless the kind is entropy.
        c: for recursive, the bound on r₁/(r_l + …).
        distance: how the column is coded, and so which values are equal; as for t-closeness.
        order: for ordered texts, every value, lowest first.
        hierarchy: for ``hierarchical``, as in a policy.
        hierarchies: folder that a hierarchy's table is relative to.
        released: boolean column that marks the released records; None if all are.
    Returns:
        ``observed_value``: that of the least diverse class: distinct values, exp(entropy), or the ratio;
        None where a class has fewer than l distinct values and no ratio.
    Source:
        Machanavajjhala et al. (2007); [methods 8.3].
    """

    quasi_identifiers: Names = pydantic.Field(description="Generalized columns.")
    column: str = pydantic.Field(description="The sensitive column.")
    kind: Literal["distinct", "entropy", "recursive"] = pydantic.Field(description="Of l-diversity.")
    l: float = pydantic.Field(description="Well-represented values.")  # noqa: E741 - the field's own letter
    c: float | None = pydantic.Field(default=None, description="For recursive (c, l)-diversity.")
    distance: Literal["ordered", "equal", "hierarchical"] = pydantic.Field(
        default="equal", description="How the column is coded."
    )
    order: list[str] | None = pydantic.Field(default=None, description="Values of ordered texts.")
    hierarchy: dict[str, Any] | None = pydantic.Field(default=None, description="As in a policy.")
    hierarchies: str = pydantic.Field(default=".", description="Folder of hierarchy tables.")

    sentence = "In each class of equal $quasi_identifiers, $column must be $kind $l-diverse."
    metric_dependencies = ("release.l_diversity",)
    success_keys = ("quasi_identifiers", "column", "kind", "l", "c", *_CODING, "released")
    args_keys = success_keys
    _checked = pydantic.root_validator(allow_reuse=True, skip_on_failure=True)(_sensitive)

    @pydantic.root_validator(skip_on_failure=True)
    def _limited(cls, values: dict[str, Any]) -> dict[str, Any]:
        LDiversity(kind=values["kind"], l=values["l"], c=values["c"])
        return values

    def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        value = metrics["release.l_diversity"]
        limit = LDiversity(kind=self.kind, l=self.l, c=self.c)
        return verdict(value, diverse(np.array([value]), limit).all())
