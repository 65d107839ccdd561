"""From a batch to the one number that an expectation compares; each a few lines around `risk`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import AnonPipelineError, StageCrashed, private_stage
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.evidence.measures import class_intervals
from anon_pipeline.gate.great_expectations.arrays import (
    NoisyColumns,
    NoisyValues,
    class_codes,
    noisy_values,
    published_noise,
    released_classes,
    released_rows,
    sensitive_codes,
)
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.columns import Sensitive
from anon_pipeline.risk.closeness import closeness
from anon_pipeline.risk.confidence import confident_counts
from anon_pipeline.risk.diversity import distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.linking import linking_risk
from anon_pipeline.risk.sizes import suppression
from anon_pipeline.stages.history.intersection import fewest_compatible
from anon_pipeline.stages.history.sticky import count_redrawn

Wanted = Mapping[str, Any]
"""The arguments of an expectation by name, as JSON types."""

_T = TypeVar("_T")


class MeasureFailed(AnonPipelineError):
    """A number that could not be measured. ``kind`` is the type of the error, ``reason`` holds no value."""

    def __init__(self, name: str, kind: str, reason: str) -> None:
        self.kind, self.reason = kind, reason
        super().__init__(f"{name} could not be measured: {kind}: {reason}")


def without_values(name: str, work: Callable[[], _T]) -> _T:
    """Do something on personal data; if it raises, say so without what the error may quote.

    Great Expectations writes message and traceback of an error into its results, with all errors that led
    to it. What is raised here has no cause, no context and no frames that hold data.

    Args:
        name: what is being done, for the message.
        work: what is to be done.
    Raises:
        MeasureFailed: with the type of any other error; with its text if it is a named one.
    """
    try:
        with private_stage(name):
            return work()
    except AnonPipelineError as error:
        kind = error.kind if isinstance(error, StageCrashed) else type(error).__name__
        failure = MeasureFailed(name, kind, str(error))
    raise failure


def smallest_class(frame: pd.DataFrame, wanted: Wanted) -> int:
    """Return k of the released records."""
    rows = released_rows(frame, wanted["released"])
    return released_classes(frame, wanted["quasi_identifiers"], rows).k


def sensitive_column(wanted: Wanted) -> Sensitive:
    """Return how a sensitive column is measured, by the policy's own rules."""
    return Sensitive(
        role="sensitive",
        distance=wanted["distance"],
        order=None if wanted["order"] is None else tuple(wanted["order"]),
        hierarchy=wanted["hierarchy"],
    )


def _codes(
    frame: pd.DataFrame, wanted: Wanted, rows: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], Hierarchy | None]:
    folder = Path(wanted["hierarchies"])
    return sensitive_codes(frame, wanted["column"], sensitive_column(wanted), rows, folder=folder)


def farthest_class(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return t: the largest distance of a released class to all rows of the batch."""
    rows = released_rows(frame, wanted["released"])
    classes = released_classes(frame, wanted["quasi_identifiers"], rows)
    codes, hierarchy = _codes(frame, wanted, rows)
    distances = closeness(
        codes[rows],
        classes.labels,
        whole=np.bincount(codes[codes >= 0], minlength=0 if hierarchy is None else hierarchy.leaves),
        m=len(classes.sizes),
        distance=wanted["distance"],
        lookups=None if hierarchy is None else hierarchy.lookups,
    )
    return float(distances.max())


def least_diverse_class(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return the diversity of the least diverse class: distinct values, exp(entropy), or recursive ratio."""
    rows = released_rows(frame, wanted["released"])
    classes = released_classes(frame, wanted["quasi_identifiers"], rows)
    codes, _ = _codes(frame, wanted, rows)
    of_class = {"m": len(classes.sizes)}
    if wanted["kind"] == "recursive":
        return float(recursive_ratio(codes[rows], classes.labels, l=int(wanted["l"]), **of_class).max())
    measure = distinct_l if wanted["kind"] == "distinct" else entropy_l
    return float(measure(codes[rows], classes.labels, **of_class).min())


def _noisy(frame: pd.DataFrame, wanted: Wanted) -> NoisyValues:
    names = NoisyColumns(
        released=tuple(wanted["released_columns"]),
        originals=tuple(wanted["original_columns"]),
        resolutions=tuple(wanted["resolutions"]),
        class_id=wanted["class_column"],
    )
    return noisy_values(frame, names, released_rows(frame, wanted["released"]))


def linked_share(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return the linking risk of the released records."""
    values = _noisy(frame, wanted)
    return linking_risk(values.released, values.own, values.originals, labels=values.labels).risk


def suppressed_share(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return the share of the batch that is not released, in [0, 1]."""
    return suppression(int(released_rows(frame, wanted["released"]).sum()), len(frame))


def _noises(wanted: Wanted) -> list[Noise]:
    """Return what each perturb column's noise is drawn under."""
    if wanted.get("noises") is None:
        return [Noise(DEFAULT_MECHANISM, exact_fraction(epsilon)) for epsilon in wanted["epsilons"]]
    return [
        Noise(
            noise["mechanism"],
            Fraction(noise["epsilon"]),
            None if noise["delta"] is None else Fraction(noise["delta"]),
            None if noise["inputs"] is None else (noise["inputs"][0], noise["inputs"][1]),
        )
        for noise in wanted["noises"]
    ]


def fewest_originals(frame: pd.DataFrame, wanted: Wanted) -> int:
    """Return the fewest originals within the interval of a released record that has any, at most k."""
    values = _noisy(frame, wanted)
    exact = quantize(values.originals)
    sizes = np.bincount(values.labels[values.labels >= 0]).astype(np.int64)
    inputs, radius = class_intervals(
        _noises(wanted), exact, EquivalenceClasses(values.labels, sizes), confidence=wanted["confidence"]
    )
    counts = confident_counts(
        values.released,
        values.labels[values.own],
        inputs.astype(np.float64),
        labels=values.labels,
        radius=radius,
        cap=wanted["k"],
    )
    return int(counts[counts > 0].min(initial=wanted["k"]))


def fewest_persons(frame: pd.DataFrame, wanted: Wanted) -> int:
    """Return the fewest persons who fit all classes that a released one was published in.

    Where nobody was published before it is the smallest class of the release.
    """
    codes = class_codes(frame, wanted["class_columns"], released_rows(frame, wanted["released"]))
    fewest = fewest_compatible(codes)
    return int(np.unique(codes[:, -1], return_counts=True)[1].min()) if fewest is None else fewest


def redrawn_values(frame: pd.DataFrame, wanted: Wanted) -> int:
    """Return how many released values are others than those that were published and must stay."""
    found = published_noise(
        frame,
        wanted["released_columns"],
        wanted["published_columns"],
        released_rows(frame, wanted["released"]),
        resolutions=wanted["resolutions"],
    )
    return count_redrawn(found.noisy, found.known, found.released)
