"""The drawings: what they say of the sizes of classes, and how far the axis of risk goes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from anon_pipeline.report.charts import Point, map_chart, point_of, risks_chart, sizes_chart
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


def test_the_mean_chance_of_people_is_no_larger_than_the_largest() -> None:
    """People in several classes: 20 classes of 10 people at least, of 150 people in all."""
    described = SimpleNamespace(loss=0.2, exact=None, facts={"suppressed": {"released_people": 150}})
    assert point_of(described, [SizeBin("10", 20, 300, 0.1, people=None)]).risk == 0.1
    described.facts["suppressed"]["released_people"] = 300
    assert point_of(described, [SizeBin("10", 20, 300, 0.1, people=None)]).risk == pytest.approx(20 / 300)
