"""The gate: limits to verdicts, contracts of every stage's table, expectations for Great Expectations.
Decisions: docs/adr/0003-one-gate-two-locks.md.
"""

from anon_pipeline.gate.judge import evaluate
from anon_pipeline.limits.table import limits_of
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict

__all__ = ["GateReport", "Status", "Verdict", "evaluate", "limits_of"]
