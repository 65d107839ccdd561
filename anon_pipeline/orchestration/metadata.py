"""Facts and verdicts as Dagster metadata: counts, names, digests."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from anon_pipeline.base.audience import Audience
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.table import demanded_by, next_step, outcome_of
from anon_pipeline.orchestration.names import check_page
from anon_pipeline.policy.model import Policy
from anon_pipeline.report import SizeBin
from anon_pipeline.stages.facts.audience import stage_seen_by
from anon_pipeline.stages.facts.fact_rules import is_digest

_BAR = 6  # blocks of the longest bar: as many as Dagster's table of metadata has room for
_BEGIN = 16  # digits of a digest, as in the names of released files


def facts_metadata(stage: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return one stage's facts as the operator sees them: lists as JSON, absent ones left out."""
    return {
        name: dg.MetadataValue.json(value) if isinstance(value, (dict, list, tuple)) else shorten(value)
        for name, value in stage_seen_by(stage, facts, Audience.OPERATOR).items()
        if value is not None
    }


def shorten(value: Any) -> Any:
    """Return how a digest begins, anything else as it is.

    A word of 64 digits widens the table in which Dagster's UI shows it, and cuts off the sentences next to
    it.
    """
    return f"{value[:_BEGIN]}…" if is_digest(value) else value


def verdict_metadata(verdict: Verdict, report: GateReport, measured: str) -> dict[str, Any]:
    """Return a verdict's bound and reason, and its value if it follows from a release that passed.

    Args:
        measured: name of the file in the vault that has all numbers.
    """
    values = {
        "status": str(verdict.status),
        "value": verdict.value_seen(at_hand=False) if report.passed else None,
        "limit": verdict.bound,
        "sense": verdict.sense,
        "reason": verdict.reason,
        "measured": measured,
    }
    return {name: value for name, value in values.items() if value is not None} | digests(report)


def digests(report: GateReport) -> dict[str, str]:
    """Return what was judged by what: the digests that `published` asks for."""
    return {"data_digest": report.data_digest, "policy_digest": report.policy_digest}


def report_metadata(report: GateReport) -> dict[str, Any]:
    """Return a whole report: verdicts, how the digests begin; manifest and checks have them whole."""
    begun = {name: shorten(digest) for name, digest in digests(report).items()}
    return {"gate": verdict_list(report), "gate_passed": report.passed, **begun}


def refused_by(report: GateReport, policy: Policy) -> dg.MarkdownMetadataValue:
    """Return the limits that refused a release, each with a link to its check and with what to do."""
    lines = []
    for verdict in report.unkept:
        demanded = "" if verdict.bound is None else f" ({verdict.sense} {verdict.bound:.6g})"
        link = f"[{verdict.limit}]({check_page(policy, verdict.limit)})"
        lines.append(f"* {link}{demanded}. Next: {next_step(verdict, policy)}")
    return dg.MetadataValue.md("\n".join(lines))


def verdict_list(report: GateReport) -> dg.MarkdownMetadataValue:
    """Return the verdicts as a Markdown list, as the operator sees them: a table would be cut off."""
    return markdown_list(_line(verdict, passed=report.passed) for verdict in report.verdicts)


def markdown_list(lines: Iterable[str]) -> dg.MarkdownMetadataValue:
    """Return lines as a Markdown list."""
    return dg.MetadataValue.md("\n".join(f"* {line}" for line in lines))


def _line(verdict: Verdict, *, passed: bool) -> str:
    """Say a verdict in a line: how it ended, the limit, what was measured, what is demanded, and why not."""
    mark = {Status.PASSED: "✓", Status.WARNED: "⚠"}.get(verdict.status, "✗")
    value = verdict.value_seen(at_hand=False) if passed else None
    measured = "" if value is None else f"{value:.6g}, "
    why = f": {verdict.reason}" if verdict.reason else ""
    return f"{mark} {verdict.limit} {outcome_of(verdict)} ({measured}{demanded_by(verdict)}){why}"


def sizes_table(sizes: Sequence[SizeBin]) -> dg.MarkdownMetadataValue:
    """Return classes by their size, with bars: Dagster's UI shows no picture that Markdown brings along."""
    lines = ["| records of a class | classes | records | as bars | largest risk |", "|---|--:|--:|---|--:|"]
    records = max(row.records for row in sizes)
    for row in sizes:
        many = _bar(row.records / records)
        lines.append(f"| {row.label} | {row.classes:,} | {row.records:,} | {many} | {row.risk:.4f} |")
    return dg.MetadataValue.md("\n".join(lines))


def _bar(share: float) -> str:
    """Draw a share of the longest bar in eighths of a block; what is above 0 is never invisible."""
    whole, eighths = divmod(max(round(share * _BAR * 8), 1), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[eighths].strip()
