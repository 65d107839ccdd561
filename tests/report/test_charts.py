"""The drawings: what they say of the sizes of classes, and how far the axis of risk goes."""

from __future__ import annotations

from anon_pipeline.report.charts import Point, map_chart, risks_chart, sizes_chart
from anon_pipeline.report.columns import SizeBin

BINS = [SizeBin("1 to 2", 2, 3, 0.5), SizeBin("3 to 4", 400, 1234, 0.25)]


def test_bars_say_how_many_records_and_which_risk() -> None:
    sizes, risks = str(sizes_chart(BINS)), str(risks_chart(BINS))
    assert ">1,234<" in sizes
    assert ">0.2500<" in risks
    assert all(row.label in chart for row in BINS for chart in (sizes, risks))


def test_the_axis_of_risk_ends_where_point_and_limit_fit() -> None:
    for point, ends, drawn in (
        (Point(0.5, 0.004, None), "0.01", False),
        (Point(0.5, 0.004, 0.15), "0.2", True),
        (Point(0.5, 0.9, 0.15), "1", True),
    ):
        chart = str(map_chart(point, "information loss"))
        assert f">{ends}<" in chart
        assert ("the limit of the risk is 0.15" in chart) == drawn
        assert ">limit<" in chart or not drawn
