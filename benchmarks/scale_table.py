"""The numbers of `scale`: a table of Markdown, how they grow, and the picture.

Belongs here: arithmetic on what was measured, and how it is shown. Does not belong here: measuring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median
from typing import Final

from benchmarks.charts import Axis, Chart, nice_top, svg
from benchmarks.process_tree import Usage

_MILLION: Final = 1_000_000
_MIB: Final = 2**20
HEADER: Final = (
    "| records | time | processor time (user + system) | peak memory "
    "| bytes per record beyond the libraries |\n|--:|--:|--:|--:|--:|"
)


@dataclass(frozen=True, slots=True)
class Line:
    """What grows by the same amount with each million records: fixed, and for each million."""

    fixed: float
    per_million: float

    def at(self, records: int) -> float:
        """Return what the line has at a number of records."""
        return self.fixed + self.per_million * records / _MILLION


def line_through(values: Mapping[int, float]) -> Line:
    """Fit a line by least squares.

    Args:
        values: by number of records, at least two.

    >>> line_through({1_000_000: 5.0, 3_000_000: 9.0})
    Line(fixed=3.0, per_million=2.0)
    """
    fitted = linear_regression([records / _MILLION for records in values], list(values.values()))
    return Line(fitted.intercept, fitted.slope)


def beyond_linear(values: Mapping[int, float]) -> float | None:
    """Return how far the value of most records is from the line through the others.

    Args:
        values: by number of records.
    Returns:
        The share of what the line has there, > 0 if it lies above; None: the others are fewer than two, or
        their line has nothing there.

    >>> beyond_linear({1_000_000: 2.0, 2_000_000: 4.0, 4_000_000: 10.0})
    0.25
    """
    *others, most = sorted(values)
    if len(others) < 2:
        return None
    expected = line_through({records: values[records] for records in others}).at(most)
    return values[most] / expected - 1 if expected > 0 else None


def middle(runs: Sequence[Usage]) -> Usage:
    """Return the medians of runs, each of its own; of processes the most."""
    return Usage(
        median(run.seconds for run in runs),
        median(run.user for run in runs),
        median(run.system for run in runs),
        median(run.peak for run in runs),
        max(run.processes for run in runs),
    )


def row(records: int, usage: Usage, libraries: float) -> str:
    """Write a row of the table.

    Args:
        records: of the source.
        usage: medians.
        libraries: MiB that a release of few records needs.
    """
    each = (usage.peak - libraries) * _MIB / records
    return (
        f"| {records:,} | {usage.seconds:.1f} s | {usage.processor:.1f} s ({usage.user:.1f} + "
        f"{usage.system:.1f}) | {memory(usage.peak)} | {each:,.0f} |"
    )


def memory(mib: float) -> str:
    """Write an amount of memory.

    >>> memory(310.4), memory(1536)
    ('310 MiB', '1.50 GiB')
    """
    return f"{mib:.0f} MiB" if mib < 1000 else f"{mib / 1024:.2f} GiB"


def growth(points: Mapping[int, Usage]) -> str:
    """Say in sentences how memory and time grow; nothing of fewer than two sizes.

    Args:
        points: medians by number of records.
    """
    if len(points) < 2:
        return ""
    peak = line_through({records: usage.peak for records, usage in points.items()})
    parts = [
        f"Growth by least squares: peak memory {peak.fixed:.0f} MiB and {peak.per_million:.0f} MiB for each "
        "million records;"
    ]
    for title, times in _times(points).items():
        line = line_through(times)
        parts.append(f"{title} {line.fixed:.1f} s and {line.per_million:.1f} s for each million;")
    text = " ".join(parts)[:-1] + "."
    for title, values in {**_times(points), "peak memory": _peaks(points)}.items():
        beyond = beyond_linear(values)
        if beyond is not None:
            text += (
                f"\nAt {max(points):,} records the {title} is {_off(beyond)} the line through the smaller "
                "tables."
            )
    return text


def _off(share: float) -> str:
    """Write how far something is from a line, and on which side.

    >>> _off(0.2), _off(-0.1), _off(0.001)
    ('20% above', '10% below', '0% from')
    """
    side = "from" if round(share, 2) == 0 else "above" if share > 0 else "below"
    return f"{abs(share):.0%} {side}"


def _times(points: Mapping[int, Usage]) -> dict[str, dict[int, float]]:
    return {
        "time": {records: usage.seconds for records, usage in points.items()},
        "processor time": {records: usage.processor for records, usage in points.items()},
    }


def _peaks(points: Mapping[int, Usage]) -> dict[int, float]:
    return {records: usage.peak for records, usage in points.items()}


def picture(points: Mapping[int, Usage]) -> str:
    """Draw time and memory over the records, as SVG.

    Args:
        points: medians by number of records, at least one.
    """
    across = Axis("million records", nice_top(max(points) / _MILLION))
    times = {title: _curve(values) for title, values in _times(points).items()}
    gib = [(records / _MILLION, usage.peak / 1024) for records, usage in points.items()]
    most = max(y for curve in times.values() for _, y in curve)
    return svg(
        [
            Chart("Time of a release", across, Axis("seconds", nice_top(most)), times),
            Chart(
                "Memory of a release",
                across,
                Axis("GiB", nice_top(max(y for _, y in gib))),
                {"peak memory": gib},
            ),
        ]
    )


def _curve(values: Mapping[int, float]) -> list[tuple[float, float]]:
    return [(records / _MILLION, value) for records, value in values.items()]
