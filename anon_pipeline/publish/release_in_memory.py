"""A release that nobody has written: a table with its facts and verdicts, for notebooks and rehearsals.

Belongs here: what may be seen of it. Does not belong here: how it is made (`whole_chain`, `rehearsal`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from anon_pipeline.gate import GateReport
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.report import release_html
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.history.memory import Memory


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release:
    """A table made safe to publish, or refused.

    Who calls this has the originals, so nothing is held back: both are for the curator.

    report: the gate's verdicts, with all numbers; what may be published of it is its ``to_json()``.
    facts: of every stage, with all numbers; what may be published of them is in a manifest.
    """

    _frame: pd.DataFrame
    report: GateReport
    facts: Facts
    _memory: Memory | None = None
    _policy: Policy | None = None
    _hierarchies: Path = Path()

    def _repr_html_(self) -> str | None:
        """Show what is left, the verdicts and the risk by class in a notebook; of a refused one no table."""
        if self._policy is None:
            return None
        return release_html(self._policy, self._frame, self.facts, self.report, hierarchies=self._hierarchies)

    def __repr__(self) -> str:
        """Say whether it passed, and of how many records: a notebook must not show a refused table."""
        refused = ", ".join(v.limit for v in self.report.unkept)
        state = "passed" if self.report.passed else f"refused by {refused}"
        return f"Release({state}; {len(self._frame)} records)"

    @property
    def frame(self) -> pd.DataFrame:
        """The released table, (r, columns).

        Raises:
            GateRefused: the gate has not passed it.
        """
        refuse_unless_passed(self.report)
        return self._frame.copy()

    @property
    def memory(self) -> Memory | None:
        """What is published once this release is: hand it to the next call.

        None without ``record_key``, or if `anonymize` was not given what was published before.

        Raises:
            GateRefused: the gate has not passed the release; what was published before is still all there is.
        """
        refuse_unless_passed(self.report)
        return self._memory
