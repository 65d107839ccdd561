"""What each number of a `Utility` is, for people: its group, its unit, whether more or less is better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Measure(NamedTuple):
    """One number of a `Utility`.

    path: of its field, with ``*`` for a column.
    group: heading that it stands under.
    words: what it is.
    unit: of the number; a share is in [0, 1].
    better: ``less``, ``more``, or empty for what is neither.
    """

    path: str
    group: str
    words: str
    unit: str
    better: str = "less"


class Row(NamedTuple):
    """A number as it is shown; column: that it is about, if it is about one."""

    group: str
    words: str
    column: str
    value: str
    unit: str
    better: str


_SIZE, _CELLS = "How much is released", "What generalization loses"
_NOISE, _USE = "What noise loses", "What an analysis loses"
_SELECTION = "Whom the confidence leaves out"
MEASURES: tuple[Measure, ...] = (
    Measure("records", _SIZE, "records in the input", "records", ""),
    Measure("released", _SIZE, "records released", "records", "more"),
    Measure("classes", _SIZE, "classes of equal quasi-identifiers", "classes", "more"),
    Measure("average_class_size", _SIZE, "average class", "records"),
    Measure(
        "discernibility",
        _SIZE,
        "pairs of records that cannot be told apart, and n for each not released",
        "pairs",
    ),
    Measure("precision", _CELLS, "levels gone up, of those there are (precision)", "share"),
    Measure("numerical_precision", _CELLS, "width of numbers, of their range", "share"),
    Measure("granularity", _CELLS, "other values that a value now stands for, of all", "share"),
    Measure("entropy", _CELLS, "bits lost, of those that hiding everything loses (entropy)", "share"),
    Measure("absolute_distance", _CELLS, "levels gone up, all columns", "levels"),
    Measure("relative_distance", _CELLS, "levels gone up, each column 1 at its top", "columns"),
    Measure(
        "classification",
        _CELLS,
        "records not released, or with another label than most of their class",
        "share",
    ),
    Measure(
        "mean_squared_error", _CELLS, "squared error of generalized numbers, of their range squared", "share"
    ),
    Measure("noise.*.realized.relative", _NOISE, "error of this draw, in multiples of the value", "times"),
    Measure(
        "noise.*.realized.zeros", _NOISE, "records with the value 0, left out of that error", "records", ""
    ),
    Measure("noise.*.realized.of_range", _NOISE, "error of this draw, of the column's range", "share"),
    Measure("noise.*.expected", _NOISE, "error to expect of any draw, in multiples of the value", "times"),
    Measure("noise.*.sse", _NOISE, "sum of squared errors of this draw", "unit²"),
    Measure("moments.means", _USE, "shift of means, in standard deviations", "deviations"),
    Measure("moments.variances", _USE, "change of variances, of the variance", "times"),
    Measure("moments.correlations", _USE, "change of correlations", "0 to 2"),
    Measure("moments.columns", _USE, "columns of numbers compared in these", "columns", ""),
    Measure("moments.pairs", _USE, "pairs of columns compared in these", "pairs", ""),
    Measure("propensity", _USE, "how well release and input can be told apart (pMSE)", "0 to 0.25"),
    Measure("target", _USE, "column that is predicted", "", ""),
    Measure("classifier.original", _USE, "predicted rightly, when trained on the input", "share", ""),
    Measure("classifier.release", _USE, "predicted rightly, when trained on the release", "share", "more"),
    Measure("classifier.majority", _USE, "predicted rightly by always saying the most frequent", "share", ""),
    Measure("classifier.tested", _USE, "records held out for that", "records", ""),
    Measure("queries.queries", _USE, "random counts asked", "queries", ""),
    Measure("queries.mean", _USE, "error of a count, mean, in multiples of the true one", "times"),
    Measure("queries.median", _USE, "error of a count, median", "times"),
    Measure("queries.ninth_decile", _USE, "error of a count that one in ten exceeds", "times"),
    Measure("selection.least", _SELECTION, "least chance of a record to be released", "share", "more"),
    Measure("selection.below_half", _SELECTION, "records whose chance is below one half", "share"),
    Measure("selection.classes", _SELECTION, "classes before anything is left out", "classes", ""),
    Measure("selection.open_classes", _SELECTION, "classes with such a record", "classes"),
    Measure(
        "selection.draws", _SELECTION, "releases simulated for that; 0 where it is exact", "releases", ""
    ),
    Measure("selection.within", _SELECTION, "two standard errors of such a chance, at most", "share"),
    Measure("selection.left_out", _SELECTION, "records that their own interval leaves out", "share"),
    Measure("selection.left_out_in_all", _SELECTION, "the same, with classes that this breaks", "share"),
    Measure("selection.columns.*.mean", _SELECTION, "bias of the mean", "unit", ""),
    Measure("selection.columns.*.variance", _SELECTION, "bias of the variance, of the variance", "times", ""),
    Measure("selection.columns.*.quantiles.*", _SELECTION, "bias of a quantile", "unit", ""),
    Measure(
        "selection.columns.*.by_value.*.records", _SELECTION, "records of a tenth by value", "records", ""
    ),
    Measure("selection.columns.*.by_value.*.released", _SELECTION, "mean chance of these", "share", "more"),
)
"""All numbers, in the order in which they are shown."""


def rows(values: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the numbers of a `Utility`, in groups.

    Args:
        values: the result as nested mappings (`dataclasses.asdict`). What has nothing to measure is –.
    """
    for measure in MEASURES:
        for column, value in _found(values, measure.path.split(".")):
            yield Row(measure.group, measure.words, column, _text(value), measure.unit, measure.better)


def _found(values: Any, path: list[str], column: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what stands at a path, with the column that its ``*`` stands for."""
    if not path or values is None:
        yield column, values
    elif path[0] == "*":
        several = values.items() if isinstance(values, Mapping) else enumerate(values, 1)
        for name, below in several:
            yield from _found(below, path[1:], f"{column}, {name}" if column else str(name))
    else:
        yield from _found(values[path[0]], path[1:], column)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return (
        f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    )
