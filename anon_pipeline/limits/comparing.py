"""How a measured value becomes a verdict, and a limit that needs the originals one that waits for them.

Belongs here: what the judges share. Does not belong here: any limit (`judge`, `attacks`).
"""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.limits.verdicts import Status, Verdict

__all__ = ["ALONE", "bounded", "needing"]

ALONE = "needs the originals"
"""Why a limit is unmeasured on a file alone."""


def needing(
    evidence: Evidence, name: str, bound: float | None, judge: Callable[[], Verdict], sense: str = "at most"
) -> tuple[str, Callable[[], Verdict]]:
    """Return what judges a limit on the originals; on a file alone the limit stays unmeasured."""
    if evidence.originals is not None:
        return name, judge
    shown = "holds" if bound is None else sense
    return name, lambda: Verdict(name, Status.UNMEASURED, None, bound, shown, reason=ALONE)


def bounded(name: str, value: float, bound: float, sense: str, realized: float | None = None) -> Verdict:
    """Judge a value against the bound that it must reach (``at least``) or not exceed (``at most``)."""
    kept = value >= bound if sense == "at least" else value <= bound
    return Verdict(
        name, Status.PASSED if kept else Status.REFUSED, float(value), float(bound), sense, None, realized
    )
