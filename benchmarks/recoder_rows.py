"""Times one case of the table of recoders: ``python -m benchmarks.recoder_rows NAME``.

Or a point of growth: ``python -m benchmarks.recoder_rows growth RECODER RECORDS NODES LOSS``.
Belongs here: the clock around the calls. Does not belong here: data (`recoder_cases`), the table
(`recoders`).
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from anon_pipeline.base.errors import InfeasibleError, InputError
from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.recode import Recoding, recode
from anon_pipeline.stages.recoder_task import recoding_task
from benchmarks.recoder_cases import CASES, Case, grown

_SECONDS: Final = 4.0  # of repeats in all
_MOST: Final = 9
_FEW: Final = 2_000  # records that warm numba for a point of growth


class Run(NamedTuple):
    """One recoding: seconds of encoding, of the recoder, and of the processor in both."""

    encoding: float
    search: float
    processor: float
    recoding: Recoding | None


def once(case: Case) -> Run:
    """Encode and recode, as the stage k_anonymized does; the recoding is None where there is none."""
    nobody = np.zeros(len(case.frame), np.bool_)
    start, worked = time.perf_counter(), time.process_time()
    coded = code_quasi_identifiers(case.frame, case.policy, folder=case.folder)
    middle = time.perf_counter()
    task = recoding_task(case.policy, case.frame, coded, gone=nobody, hierarchies=case.folder)
    try:
        recoding = recode(task)
    except (InfeasibleError, InputError):
        recoding = None
    end = time.perf_counter()
    return Run(middle - start, end - middle, time.process_time() - worked, recoding)


def repeats_after(seconds: float) -> int:
    """Return how often a case is timed whose untimed run took so long: 1 to 9 times, some four seconds.

    >>> [repeats_after(seconds) for seconds in (0.01, 1, 3, 60)]
    [9, 4, 1, 1]
    """
    return max(1, min(_MOST, int(_SECONDS / max(seconds, 1e-9))))


def measure(case: Case, *, few: Case | None = None) -> dict[str, Any]:
    """Time a case, numba warm.

    Args:
        case: what is timed.
        few: runs untimed in its place, and the case then once; for points of growth.
    Returns:
        seconds of each run, encoding included; search, the recoder's part; processor, of both; peak memory
        in MiB before and after; visited, loss, suppressed, classes and sse of the recoding; null where none
        keeps the limits.
    """
    before = _peak()
    for _ in range(2):  # the first may compile and loads; the second says how long it takes
        warm = once(few or case)
        if warm.encoding + warm.search > _SECONDS:
            break
    again = repeats_after(warm.encoding + warm.search) if few is None else 1
    runs = [once(case) for _ in range(again)]
    return {
        "seconds": [run.encoding + run.search for run in runs],
        "search": [run.search for run in runs],
        "processor": [run.processor for run in runs],
        "before": before,
        "peak": _peak(),
        **_found(runs[-1].recoding, len(case.frame)),
    }


def _found(recoding: Recoding | None, records: int) -> dict[str, Any]:
    if recoding is None:
        return dict.fromkeys(("records", "visited", "loss", "suppressed", "classes", "cells", "sse"))
    kept = recoding.codes[recoding.codes[:, 0] >= 0]
    return {
        "records": records,
        "visited": recoding.checked,
        "loss": recoding.loss,
        "suppressed": recoding.suppressed,
        "classes": len(np.unique(kept, axis=0)),
        "cells": recoding.cells,
        "sse": recoding.sse,
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _main(arguments: Sequence[str]) -> dict[str, Any]:
    if arguments[0] != "growth":
        return measure(CASES[arguments[0]]())
    recoder, records, nodes, loss = arguments[1:]
    few = grown(recoder, _FEW, int(nodes), loss)
    return measure(grown(recoder, int(records), int(nodes), loss), few=few)


if __name__ == "__main__":
    json.dump(_main(sys.argv[1:]), sys.stdout)
