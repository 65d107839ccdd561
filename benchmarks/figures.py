"""The numbers of the paper's figures: one recoding per recoder and k, then many runs from the noise on.

Belongs here: running the library and averaging what it measures. Does not belong here: any measure of its
own, printing (`paper`), what must come out (`claims`).

Error and linking risk are measured on the perturbed table, before confidence suppression, as in [KE V-A] and
[KE V-B]: only there do the closed forms apply. Extra suppression is what [KE V-C] then takes out, over all n
records. The shuffle is left out: no measure depends on the order of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.rows import keep_rows
from anon_pipeline.catalog.mechanisms import DEFAULT_MECHANISM
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.encode.grids import quantize_columns
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.error import expected_relative_error, realized_error
from anon_pipeline.perturb.mechanisms import Noise, radius
from anon_pipeline.perturb.noise import add_noise, class_diameters
from anon_pipeline.policy import Policy
from anon_pipeline.risk.confidence import confident_counts
from anon_pipeline.risk.linking import expected_column_linking, linking_risk
from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, raw

KS: Final = (2, 5, 10, 20, 50, 100)
EPSILONS: Final = (0.05, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
RECODERS: Final = ("ola", "mondrian")
CONFIDENCE: Final = 0.99


@dataclass(frozen=True, slots=True, eq=False)
class Recoded:
    """A table after recoding, as the noise and its measures need it.

    recoder, k: how it was recoded.
    records: of the input (n).
    suppressed: records that the recoding suppressed.
    levels: of the node, by column; None for Mondrian.
    heights: (n − suppressed, 1) grid units.
    classes: of those records.
    diameters: (m, 1) of each class, grid units.
    """

    recoder: str
    k: int
    records: int
    suppressed: int
    levels: dict[str, int] | None
    heights: NDArray[np.int64]
    classes: EquivalenceClasses
    diameters: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Run:
    """What one draw of noise came to, as shares: Fig. 3 and 4, Fig. 5, Fig. 6."""

    error: float
    linking: float
    extra: float


@dataclass(frozen=True, slots=True)
class Point:
    """One point of the figures: expected values, and means of the runs with their standard errors; shares."""

    recoder: str
    k: int
    epsilon: float
    runs: int
    error_expected: float
    error: float
    error_se: float
    linking_expected: float
    linking: float
    linking_se: float
    extra: float
    extra_se: float


def recoded(table: pd.DataFrame, policy: Policy, *, entropy: Entropy) -> Recoded:
    """Run the stages up to the recoding.

    Args:
        table: (n, columns) personal data.
        policy: with one perturb column.
        entropy: for the record ids.
    """
    before = deidentified(policy, raw(policy, table, entropy=entropy), key=None)
    after = k_anonymized(policy, before)
    kept = keep_rows(after.frame, (after.frame[CLASS] >= 0).to_numpy())
    labels = kept[CLASS].to_numpy(np.int64)
    classes = EquivalenceClasses(labels, np.bincount(labels).astype(np.int64))
    heights = quantize_columns(kept, policy)
    return Recoded(
        recoder=policy.anonymize.recoder,
        k=policy.anonymize.k,
        records=len(table),
        suppressed=len(table) - len(kept),
        levels=after.facts["k_anonymized"]["levels"],
        heights=heights,
        classes=classes,
        diameters=class_diameters(heights, classes),
    )


def run(table: Recoded, epsilon: Fraction, *, entropy: Entropy) -> Run:
    """Draw noise once and measure it.

    Args:
        table: of `recoded`.
        epsilon: exact.
        entropy: source of the noise.
    """
    originals, labels = table.heights.astype(np.float64), table.classes.labels
    noise = Noise(DEFAULT_MECHANISM, epsilon)
    noisy = add_noise(table.heights, table.classes, noises=(noise,), entropy=entropy)
    released = noisy.values.astype(np.float64)
    error = realized_error(released[:, 0], originals[:, 0], span=float(np.ptp(originals)))
    linking = linking_risk(released, np.arange(len(labels)), originals, labels=labels)
    within = radius(noise, noisy.diameters, CONFIDENCE)
    counts = confident_counts(released, labels, originals, labels=labels, radius=within, cap=table.k)
    extra = suppress_unconfident(counts, labels, k=table.k).suppressed / table.records
    return Run(np.nan if error.relative is None else error.relative, linking.risk, extra)


def point(table: Recoded, epsilon: float, *, runs: int, entropy: Entropy) -> Point:
    """Average several runs and add the closed forms.

    Args:
        table: of `recoded`.
        epsilon: as in a policy.
        runs: ≥ 2.
        entropy: source of the noise.
    """
    exact = exact_fraction(epsilon)
    heights, labels = table.heights[:, 0], table.classes.labels
    scales = table.diameters[:, 0] / epsilon
    found = pd.DataFrame([asdict(run(table, exact, entropy=entropy)) for _ in range(runs)])
    mean, error = found.mean(), found.sem()
    expected_error = expected_relative_error(heights.astype(np.float64), labels, scales=scales)
    return Point(
        recoder=table.recoder,
        k=table.k,
        epsilon=epsilon,
        runs=runs,
        error_expected=np.nan if expected_error is None else expected_error,
        error=float(mean["error"]),
        error_se=float(error["error"]),
        linking_expected=expected_column_linking(heights, labels, scales=scales),
        linking=float(mean["linking"]),
        linking_se=float(error["linking"]),
        extra=float(mean["extra"]),
        extra_se=float(error["extra"]),
    )


def figures(
    tables: Iterable[Recoded],
    *,
    epsilons: Sequence[float] = EPSILONS,
    runs: int = 30,
    entropy: Entropy,
    told: Callable[[str], None] = lambda line: None,
) -> pd.DataFrame:
    """Measure every ε on every recoding.

    Args:
        tables: of `recoded`.
        epsilons: as in a policy.
        runs: to average, ≥ 2.
        entropy: source of the noise.
        told: called with a line of progress.
    Returns:
        A row per `Point`, its fields as columns.
    Raises:
        ValueError: fewer than two runs have no standard error.
    """
    if runs < 2:
        raise ValueError(f"runs must be at least 2 for a standard error, got {runs}.")
    points = []
    for table in tables:
        told(f"{table.recoder}, k = {table.k}: {runs} runs for each of {len(epsilons)} ε")
        points += [point(table, epsilon, runs=runs, entropy=entropy) for epsilon in epsilons]
    return pd.DataFrame([asdict(found) for found in points])
