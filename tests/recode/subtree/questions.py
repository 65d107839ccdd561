"""Questions small enough to look at every state."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, recode
from anon_pipeline.recode.task import Task
from tests.recode.asking import ask


def random_task(seed: int, recoder: str, *, records: int = 60, columns: str = "ab", limit: int = 6) -> Task:
    """Columns of nine leaves in three groups: of each, four values can be opened."""
    random = np.random.default_rng(seed)
    values = (
        np.array([f"leaf {leaf}" for leaf in range(9)], object),
        np.array(["low", "middle", "high"], object),
        np.array(["*"], object),
    )
    lookups = (np.arange(9), np.arange(9) // 3, np.zeros(9, np.int64))
    hierarchies = [Hierarchy(column, lookups, values) for column in columns]
    shares = random.dirichlet(np.full(9, 0.6), len(columns))
    codes = np.stack([random.choice(9, records, p=own) for own in shares], axis=1).astype(np.int64)
    return ask(codes, hierarchies, Constraints(4, limit), recoder=recoder, loss="granularity")


def distances_from_the_best(fronts: SimpleNamespace, recoder: str) -> list[float]:
    """How much more is lost than by the best of all fronts, for twenty tables; never less."""
    found = []
    for seed in range(20):
        task = random_task(seed, recoder)
        search = fronts.search(task)
        every = [fronts.brute(task, search, state) for state in fronts.every(search)]
        best = min(float(own.loss) for own in every if not own.excess)
        found.append(recode(task).loss - best)
    assert min(found) > -1e-12
    return found
