"""How a release in memory shows itself in a notebook: what is left, the verdicts, risk by class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markupsafe import Markup

from anon_pipeline.base.notebook import image, object_html, paragraph
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.gate import GateReport
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.charts import risks_chart, sizes_chart
from anon_pipeline.report.columns import class_sizes
from anon_pipeline.report.words import describe_rest
from anon_pipeline.stages.facts.records import Facts

__all__ = ["release_html"]


def release_html(policy: Policy, frame: Table, facts: Facts, report: GateReport, *, hierarchies: Path) -> str:
    """Show a release; of one that the gate has not passed the verdicts alone.

    Args:
        frame: (r, columns) the released table.
        facts: of every stage.
        hierarchies: folder of the hierarchy tables.
    """
    state = "passed" if report.passed else "refused: nothing of the table is shown"
    parts = [Markup(report._repr_html_())]  # noqa: S704 - escaped there; as notebooks call it
    if report.passed:
        parts = [*_rest_lines(policy, frame, facts, hierarchies), *parts, *_charts(policy, frame)]
    return object_html(f"Release {policy.name}: {state}", parts, note="")


def _rest_lines(policy: Policy, frame: Table, facts: Facts, hierarchies: Path) -> Iterator[Markup]:
    for line in describe_rest(policy, facts, frame, hierarchies=hierarchies):
        yield paragraph(line)


def _charts(policy: Policy, frame: Table) -> Iterator[Markup]:
    """Yield the pictures of classes and risk, as the public report has them."""
    if policy.generalized and len(frame):
        sizes = class_sizes(policy, frame)
        for title, chart in (
            ("Records by the size of their class", sizes_chart(sizes)),
            ("The largest chance to pick a person's record, by the size of the class", risks_chart(sizes)),
        ):
            yield paragraph(title)
            yield image(chart, title)
