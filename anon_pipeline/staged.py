"""What goes from stage to stage: a private table with its facts, and what the stages need beside it.

Belongs here: these records. Does not belong here: the stages (`pipeline`), where tables are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.compose.memory import Memory
from anon_pipeline.lineage import Lineage, Where
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.recode.model import Progress, untold

__all__ = ["STAGES", "Chain", "Means", "Opens", "Staged", "unopened"]

STAGES = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")

Opens = Callable[[Fraction], str | None]
"""Called with the ε to be spent, before noise is drawn: returns the release's id in the ledger, or raises."""


def unopened(epsilon: Fraction) -> None:
    """Enter nothing: there is no ledger."""


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """What a stage returns: a private table, the facts of all stages so far, and what it was made from.

    lineage: private; None where it is not known, which the gate refuses.
    """

    frame: pd.DataFrame = field(repr=False)
    facts: Mapping[str, Mapping[str, Any]]
    lineage: Lineage | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Means:
    """What the stages need beside policy and data.

    hierarchies: folder of the hierarchy tables.
    key: for ``action: hash``; None where the policy hashes nothing.
    entropy: source of random words, of the operating system but in tests.
    opens: the ledger's part, before noise is drawn.
    memory: what was published before; None without ``record_key``.
    searching: called now and then with how far the search for a recoding is.
    where: the tables belong; None: in memory, a release of one piece.
    """

    hierarchies: Path
    key: bytes | None = field(repr=False)
    entropy: Entropy
    opens: Opens = unopened
    memory: Memory | None = None
    searching: Callable[[Progress], None] = untold
    where: Where | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """The private results that the gate needs: the table after recoding, and the one to be released."""

    k_anonymized: Staged
    suppressed: Staged
