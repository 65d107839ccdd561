"""Fig. 7 and 8, running time: the ε-quasi as one more k-quasi, against (k, ε)-anonymity.

Belongs here: timing the stages. Does not belong here: what they do (`stages.pipeline`), printing.

Timed are the stages from the table without identifiers on: k-anonymity is `k_anonymized` with the attribute
generalized; (k, ε)-anonymity is `k_anonymized` without it and `perturbed`. Coding the columns is part of it,
shuffling and confidence suppression are not. Time is the processor's, which a busy machine changes little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import pandas as pd

from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, perturbed, raw
from benchmarks.datasets import Dataset


@dataclass(frozen=True, slots=True)
class Duration:
    """One point of Fig. 7 or 8: medians in seconds of the processor.

    k_seconds: k-anonymity, with the attribute as a k-quasi-identifier.
    k_epsilon_seconds: (k, ε)-anonymity; of it ``noise_seconds`` for the noise.
    """

    recoder: str
    k: int
    k_seconds: float
    k_epsilon_seconds: float
    noise_seconds: float


def seconds(
    call: Callable[[], object], *, repeats: int, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the median time of a call, after one that is not timed.

    Args:
        call: the work.
        repeats: how often it is timed, ≥ 1.
        clock: in seconds.
    """
    call()
    found = []
    for _ in range(repeats):
        start = clock()
        call()
        found.append(clock() - start)
    return median(found)


def duration(
    dataset: Dataset,
    table: pd.DataFrame,
    point: tuple[str, int],
    *,
    timed: Callable[[Callable[[], object]], float],
    entropy: Entropy,
) -> Duration:
    """Time one point.

    Args:
        dataset: whose policies are used.
        table: of the dataset.
        point: recoder (``ola`` or ``mondrian``) and k.
        timed: returns the seconds of a call.
        entropy: source of ids and noise.
    """
    recoder, k = point
    k_policy, policy = dataset.k_policy(k, recoder), dataset.policy(k, recoder)
    beside = deidentified(k_policy, raw(k_policy, table, entropy=entropy), key=None)
    without = deidentified(policy, raw(policy, table, entropy=entropy), key=None)
    generalized = k_anonymized(policy, without)

    def both() -> object:
        return perturbed(policy, k_anonymized(policy, without), entropy=entropy)

    return Duration(
        recoder,
        k,
        timed(lambda: k_anonymized(k_policy, beside)),
        timed(both),
        timed(lambda: perturbed(policy, generalized, entropy=entropy)),
    )


def durations(
    dataset: Dataset,
    table: pd.DataFrame,
    points: Iterable[tuple[str, int]],
    *,
    timed: Callable[[Callable[[], object]], float],
    entropy: Entropy,
) -> pd.DataFrame:
    """Return a row per `Duration`, for each recoder and k of ``points``."""
    found: Sequence[Duration] = [
        duration(dataset, table, point, timed=timed, entropy=entropy) for point in points
    ]
    return pd.DataFrame([asdict(one) for one in found])
