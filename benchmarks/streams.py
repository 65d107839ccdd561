"""What waiting saves in a stream: ``python -m benchmarks.streams``.

Belongs here: Adult as it would arrive in windows, released with several delays. Does not belong here: whether
each record goes once and in time (`tests/windows`).
"""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import pandas as pd

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, raw
from anon_pipeline.stages.private import Means
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.windows.window_states import WindowStates
from anon_pipeline.windows.window_table import Deployment, window_table
from benchmarks.adult import adult_folder, paper_columns, paper_table
from benchmarks.speed import machine

_START: Final = datetime.date(2026, 1, 1)
_SIZES: Final = (100, 500)
_WINDOWS: Final = 40
_DELAYS: Final = (0, 1, 3, 6)
_UNPUBLISHED: Final = Deployment(tuple, lambda: None, lambda: False)


@dataclass
class _Outcome:
    """What came of a stream, in records; ``lost`` in records, too: the precision that is gone."""

    given: int = 0
    suppressed: int = 0
    lost: float = 0.0
    waited: int = 0
    seconds: float = 0.0


def stream_policy(delay: int) -> Policy:
    """Return the policy of a stream; without a delay nothing waits."""
    said: dict[str, Any] = {
        "name": "adult",
        "source": {"path": "arrivals/{partition}.csv"},
        "columns": paper_columns(),
        "anonymize": {"k": 5, "recoder": "optimal", "loss": "precision", "suppression_limit": 0.05},
        "schedule": {"partitions": "daily", "start": _START.isoformat()},
    }
    return policy_from({**said, "stream": {"delay": delay}, "one_record_per_person": True} if delay else said)


def windows(table: pd.DataFrame, size: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield keys and records of windows, in an order that the data does not have."""
    order = np.random.default_rng(0).permutation(len(table))
    for number in range(_WINDOWS):
        day = _START + datetime.timedelta(days=number)
        yield day.isoformat(), table.iloc[order[number * size : (number + 1) * size]].reset_index(drop=True)


def released(policy: Policy, table: pd.DataFrame, size: int, vault: Path) -> _Outcome:
    """Release a stream, window by window."""
    states = WindowStates("adult", lambda: Vault(LocalStore(vault)), vault)
    means, found = Means(Path(), None, system_entropy()), _Outcome()
    begun = perf_counter()
    for key, arrived in windows(table, size):
        try:
            gone = window_table(policy, key, partial(pd.DataFrame, arrived), states, means, _UNPUBLISHED)
        except InfeasibleError:  # all wait
            continue
        finally:
            found.waited += 0 if policy.stream is None else len(states.read(key).rows)
        _count(policy, gone, found)
    found.seconds = (perf_counter() - begun) / _WINDOWS
    return found


def _count(policy: Policy, gone: Table, found: _Outcome) -> None:
    """Recode what goes with a window, and add what it loses."""
    found.given += len(gone)
    staged = deidentified(policy, raw(policy, gone, entropy=system_entropy()), key=None)
    try:
        recoded = k_anonymized(policy, staged, telling=False)
    except InfeasibleError:  # all are lost
        found.suppressed += len(gone)
        found.lost += len(gone)
        return
    found.suppressed += int((recoded.frame[CLASS].to_numpy() < 0).sum())
    found.lost += recoded.facts["k_anonymized"]["information_loss"] * len(gone)


def main() -> int:
    """Print the table."""
    print(machine())
    table = paper_table(adult_folder()).drop(columns="height")
    print(f"Adult, {_WINDOWS} windows, 4 quasi-identifiers, k = 5\n")
    print("| records of a window | delay | suppressed | lost precision | wait after a window | each window |")
    print("|--:|--:|--:|--:|--:|--:|")
    for size in _SIZES:
        for delay in _DELAYS:
            with tempfile.TemporaryDirectory() as folder:
                one = released(stream_policy(delay), table, size, Path(folder) / "vault")
            print(
                f"| {size} | {delay} | {one.suppressed / one.given:.1%} | {one.lost / one.given:.1%} | "
                f"{one.waited / _WINDOWS:.0f} | {one.seconds:.2f} s |"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
