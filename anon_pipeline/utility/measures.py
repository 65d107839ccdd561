"""The table of measures of utility: what each computes, and what its numbers are, for people.

A new measure is a function from a `Comparison` and one entry here. Every information loss of `LOSSES` is a
measure, too.

Decision: docs/adr/0065-measures-of-utility-are-entries.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from anon_pipeline.catalog.entries import Loss
from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.evidence.selection import selection
from anon_pipeline.utility.cells import (
    absolute_distance,
    mean_squared_error,
    numerical_precision,
    relative_distance,
)
from anon_pipeline.utility.comparison import Comparison
from anon_pipeline.utility.components import component_shift
from anon_pipeline.utility.inference import compare_inference
from anon_pipeline.utility.losses import information_loss
from anon_pipeline.utility.models import classifier_accuracy, propensity_score
from anon_pipeline.utility.moments import compare_moments
from anon_pipeline.utility.noise_errors import noise_errors
from anon_pipeline.utility.probabilistic import probabilistic_loss
from anon_pipeline.utility.queries import draw_queries, query_errors
from anon_pipeline.utility.records import Generalized, all_lines


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a measure, as it is shown.

    path: of it within what the measure computes, with ``*`` for a column; empty: it is that itself.
    words: what it is.
    unit: of the number; a share is in [0, 1].
    better: ``less``, ``more``, or empty for what is neither.
    """

    path: str
    words: str
    unit: str
    better: str = "less"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of utility.

    name: in the result.
    computes: from a release held against its input to a number, or to a record of numbers; to None where
        there is nothing to measure.
    numbers: of it, in the order in which they are shown.
    """

    name: str
    computes: Callable[[Comparison], Any]
    numbers: tuple[Number, ...]


def _one(
    name: str, computes: Callable[[Comparison], Any], words: str, unit: str, better: str = "less"
) -> Measure:
    """Return a measure that is a single number."""
    return Measure(name, computes, (Number("", words, unit, better),))


def _of_columns(measure: Callable[[list[Generalized]], Any], words: str, unit: str) -> Measure:
    """Return a measure of the generalized columns, by the name of its function."""
    return _one(measure.__name__, lambda c: measure(list(c.table.generalized.values())), words, unit)


def _loss(loss: Loss) -> Measure:
    return _one(loss.name, partial(information_loss, loss), f"{loss.words} ({loss.name})", loss.unit)


GROUPS: Mapping[str, tuple[Measure, ...]] = {
    "How much is released": (
        _one("records", lambda c: c.records, "records in the input", "records", ""),
        _one("released", lambda c: len(c.evidence.released), "records released", "records", "more"),
        _one("classes", lambda c: len(c.sizes), "classes of equal quasi-identifiers", "classes", "more"),
    ),
    "What generalization loses": (
        *map(_loss, LOSSES.values()),
        _of_columns(numerical_precision, "width of numbers, of their range", "share"),
        _of_columns(absolute_distance, "levels gone up, all columns", "levels"),
        _of_columns(relative_distance, "levels gone up, each column 1 at its top", "columns"),
        _of_columns(
            mean_squared_error, "squared error of generalized numbers, of their range squared", "share"
        ),
    ),
    "What noise loses": (
        Measure(
            "noise",
            noise_errors,
            (
                Number("*.realized.relative", "error of this draw, in multiples of the value", "times"),
                Number("*.realized.zeros", "records with the value 0, left out of that error", "records", ""),
                Number("*.realized.of_range", "error of this draw, of the column's range", "share"),
                Number("*.expected", "expected error, in multiples of the value", "times"),
                Number("*.expected_of_range", "expected error, of the column's range", "share"),
                Number("*.sse", "sum of squared errors of this draw", "unit²"),
            ),
        ),
    ),
    "What an analysis loses": (
        Measure(
            "moments",
            lambda c: compare_moments(c.table),
            (
                Number("means", "shift of means, in standard deviations", "deviations"),
                Number("variances", "change of variances, of the variance", "times"),
                Number("correlations", "change of correlations", "0 to 2"),
                Number("columns", "columns of numbers compared in these", "columns", ""),
                Number("pairs", "pairs of columns compared in these", "pairs", ""),
            ),
        ),
        Measure(
            "components",
            lambda c: component_shift(*all_lines(c.table)),
            (
                Number("explained", "change of what each principal component explains", "share"),
                Number("communalities", "change of communalities with the first one", "share"),
                Number("columns", "columns of numbers compared in these", "columns", ""),
            ),
        ),
        Measure(
            "inference",
            lambda c: compare_inference(*all_lines(c.table)),
            (
                Number("means", "overlap of confidence intervals of means", "share", "more"),
                Number("coefficients", "overlap of those of regression coefficients", "share", "more"),
                Number("shift", "shift of regression coefficients", "deviations"),
                Number("columns", "columns of numbers whose means are compared", "columns", ""),
                Number(
                    "regressions", "regressions compared, of each column on all others", "regressions", ""
                ),
            ),
        ),
        Measure(
            "probabilistic_loss",
            lambda c: probabilistic_loss(*all_lines(c.table)),
            (
                Number("means", "probability that a sample's mean is nearer than the release's", "share"),
                Number("variances", "the same for variances", "share"),
                Number("covariances", "the same for covariances", "share"),
                Number("correlations", "the same for correlations", "share"),
                Number("quantiles", "the same for quantiles", "share"),
                Number("overall", "probabilistic information loss: the mean of these", "share"),
            ),
        ),
        _one(
            "propensity",
            lambda c: propensity_score(c.table),
            "how well a model can distinguish release and input (pMSE)",
            "0 to 0.25",
        ),
        _one("target", lambda c: c.target, "column that is predicted", "", ""),
        Measure(
            "classifier",
            lambda c: classifier_accuracy(c.table, c.target),
            (
                Number("original", "predicted correctly, when trained on the input", "share", ""),
                Number("release", "predicted correctly, when trained on the release", "share", "more"),
                Number("majority", "predicted correctly by always saying the most frequent", "share", ""),
                Number("tested", "records held out for that", "records", ""),
            ),
        ),
        Measure(
            "queries",
            lambda c: query_errors(c.table, draw_queries(c.table, seed=c.seed)),
            (
                Number("queries", "random counts asked", "queries", ""),
                Number("mean", "error of a count, mean, in multiples of the true one", "times"),
                Number("median", "error of a count, median", "times"),
                Number("ninth_decile", "error of a count that one in ten exceeds", "times"),
            ),
        ),
    ),
    "Whom the confidence leaves out": (
        Measure(
            "selection",
            lambda c: selection(c.evidence, c.policy),
            (
                Number("least", "least chance of a record to be released", "share", "more"),
                Number("below_half", "records whose chance is below one half", "share"),
                Number("classes", "classes before anything is left out", "classes", ""),
                Number("open_classes", "classes with such a record", "classes"),
                Number("draws", "releases simulated for that; 0 where it is exact", "releases", ""),
                Number("within", "two standard errors of such a chance, at most", "share"),
                Number("left_out", "records that their own interval leaves out", "share"),
                Number("left_out_in_all", "the same, with classes that this breaks", "share"),
                Number("columns.*.mean", "bias of the mean", "unit", ""),
                Number("columns.*.variance", "bias of the variance, of the variance", "times", ""),
                Number("columns.*.quantiles.*", "bias of a quantile", "unit", ""),
                Number("columns.*.by_value.*.records", "records of a tenth by value", "records", ""),
                Number("columns.*.by_value.*.released", "mean chance of these", "share", "more"),
            ),
        ),
    ),
}
"""All measures, by the heading that they stand under, in the order in which they are shown."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {one.name: one for ones in GROUPS.values() for one in ones}
)
"""All measures, by name."""
