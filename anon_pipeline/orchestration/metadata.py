"""Facts and verdicts as Dagster metadata: counts, names, digests."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from anon_pipeline.base.audience import Audience
from anon_pipeline.facts.seen import stage_seen_by
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.table import next_step
from anon_pipeline.orchestration.names import check_page
from anon_pipeline.policy.model import Policy
from anon_pipeline.report import SizeBin

_BAR = 20  # blocks of the longest bar


def facts_metadata(stage: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return one stage's facts as the operator sees them: lists as JSON, absent ones left out."""
    return {
        name: dg.MetadataValue.json(value) if isinstance(value, (dict, list, tuple)) else value
        for name, value in stage_seen_by(stage, facts, Audience.OPERATOR).items()
        if value is not None
    }


def verdict_metadata(verdict: Verdict, report: GateReport, measured: str) -> dict[str, Any]:
    """Return a verdict's bound and reason, and its value where a release that passed tells it.

    Args:
        measured: name of the file in the vault that has all numbers.
    """
    values = {
        "status": str(verdict.status),
        "value": verdict.seen(at_hand=False) if report.passed else None,
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
    """Return a whole report: a table of verdicts, and the digests."""
    return {"gate": verdict_table(report), "gate_passed": report.passed, **digests(report)}


def refused_by(report: GateReport, policy: Policy) -> dg.MarkdownMetadataValue:
    """Return the limits that refused a release, each with a link to its check and with what to do."""
    lines = []
    for verdict in report.unkept:
        demanded = "" if verdict.bound is None else f" ({verdict.sense} {verdict.bound:.6g})"
        link = f"[{verdict.limit}]({check_page(policy, verdict.limit)})"
        lines.append(f"* {link}{demanded}. Next: {next_step(verdict, policy)}")
    return dg.MetadataValue.md("\n".join(lines))


def verdict_table(report: GateReport) -> dg.MarkdownMetadataValue:
    """Return the verdicts as a Markdown table, as the operator sees them."""
    lines = ["| limit | measured | demanded | verdict |", "|---|---|---|---|"]
    for v in report.verdicts:
        demanded = v.sense if v.bound is None else f"{v.sense} {v.bound:.6g}"
        mark = {Status.PASSED: "✓", Status.WARNED: "⚠"}.get(v.status, "✗")
        value = v.seen(at_hand=False) if report.passed else None
        shown = "" if value is None else f"{value:.6g}"
        lines.append(f"| {v.limit} | {shown} | {demanded} | {mark} {v.status} {v.reason or ''} |")
    return dg.MetadataValue.md("\n".join(lines))


def sizes_table(sizes: Sequence[SizeBin]) -> dg.MarkdownMetadataValue:
    """Return classes by their size, with bars: Dagster's UI shows no picture that Markdown brings along."""
    lines = [
        "| records of a class | classes | records | as bars | largest risk | as bars |",
        "|---|--:|--:|---|--:|---|",
    ]
    records, risk = max(row.records for row in sizes), max(row.risk for row in sizes)
    for row in sizes:
        many, risky = _bar(row.records / records), _bar(row.risk / risk)
        lines.append(
            f"| {row.label} | {row.classes:,} | {row.records:,} | {many} | {row.risk:.4f} | {risky} |"
        )
    return dg.MetadataValue.md("\n".join(lines))


def _bar(share: float) -> str:
    """Draw a share of the longest bar in eighths of a block; what is above 0 is never invisible."""
    eighths = max(round(share * _BAR * 8), 1)
    return "█" * (eighths // 8) + ("", *"▏▎▍▌▋▊▉")[eighths % 8]
