"""The speed of the risk measures: ``python -m benchmarks.risk``. Exit code 1 if a target is missed.

Belongs here: generated records, the calls, targets, printing. Does not belong here: the speed of releases
(`speed`), whether the measures are right (`tests/risk`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from time import perf_counter
from typing import Final

import numpy as np
import pandas as pd

from anon_pipeline.bucketized.buckets import buckets_of
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS, NOISE_MECHANISMS, amount_kind
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.perturb.category_law import CategoryNoise, flat_domain
from anon_pipeline.perturb.category_sampler import draw_categories
from anon_pipeline.perturb.keys import NoiseKey, Words
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.whole_column.change import change_columns
from anon_pipeline.policy import policy_from
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.attributes import class_homogeneity, class_similarity, class_skewness
from anon_pipeline.risk.averaging import averaging_risk
from anon_pipeline.risk.boxes import points_in_boxes
from anon_pipeline.risk.comparison import LinkageFiles, distance_levels
from anon_pipeline.risk.confidence import confident_counts
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.l_diversity import entropy_l
from anon_pipeline.risk.linkage import exact_linkage, probabilistic_linkage, threshold_linkage
from anon_pipeline.risk.linking import expected_column_linking, linking_risk
from anon_pipeline.risk.posterior import posterior_risk
from anon_pipeline.risk.t_closeness import t_closeness
from anon_pipeline.risk.uniques import minimal_uniques
from anon_pipeline.stages.sample import take_sample
from benchmarks.million import MILLION
from benchmarks.speed import machine

_CLASSES: Final = 100_000
_BUCKETED: Final = 100_000
_EPSILON: Final = 2.0
_TOGETHER: Final = 3  # columns that are changed together
_ADULT: Final = 30_162
_REPEATS: Final = 5
_AMOUNTS: Final = {
    **{"share": Fraction(1, 20), "factor": Fraction(1, 5)},
    **{"count": Fraction(5), "step": Fraction(10)},
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table.

    title: for people.
    calls: timed one after the other, by name.
    target: seconds at most for all calls together; None where nothing is promised.
    """

    title: str
    calls: dict[str, Callable[[], object]]
    target: float | None = None


def main() -> int:
    """Print the table; return 1 if a target is missed."""
    print(f"Library calls, data in memory, numba warm; {_REPEATS} repeats.\n{machine().splitlines()[1]}\n")
    print(f"{'':76}{'median':>10}{'least':>10}{'most':>10}{'target':>12}")
    return 1 if sum([not _print(row) for row in rows()]) else 0


def rows() -> list[Row]:
    """Make the data and the rows on it."""
    return [*_million_rows(), *_whole_column_rows(), *_masking_rows(), *_adult_rows()]


def _whole_column_rows() -> list[Row]:
    """Change a million values by each mechanism that changes whole columns."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(MILLION) % _CLASSES
    values = np.round(rng.normal(1700, 90, (MILLION, _TOGETHER))).astype(np.int64)

    def change(kind: str, columns: int) -> Callable[[], object]:
        """Return the call for one mechanism."""
        noises = [Noise(kind, Fraction(0), amount=_AMOUNTS.get(amount_kind(kind)))] * columns
        return lambda: change_columns(values[:, :columns], labels, noises=noises, words=_words())

    kinds = [name for name in MECHANISMS if name not in NOISE_MECHANISMS]
    return [
        *(Row(f"{MILLION:,} values: {kind}", {kind: change(kind, 1)}, 2.0) for kind in kinds),
        *(
            Row(f"{MILLION:,} × {_TOGETHER} values: {kind}", {kind: change(kind, _TOGETHER)})
            for kind in kinds
        ),
    ]


def _masking_rows() -> list[Row]:
    """Draw a million categories by each mechanism, sample a million records, and put 100,000 into buckets."""
    rng = np.random.default_rng(0)
    domain = flat_domain([f"value {i}" for i in range(60)])
    codes = rng.integers(0, 60, MILLION)
    shares = tuple(map(Fraction, range(1, 61)))
    table = pd.DataFrame(
        {"age": rng.integers(0, 90, MILLION), "height": rng.normal(170, 9, MILLION).round(1)}
    )
    sampled = policy_from(
        {
            "name": "x",
            "source": {"path": "x.csv"},
            "columns": {
                "age": {"role": "generalize", "hierarchy": {"intervals": [10]}},
                "height": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
            "deidentify": {"key_env": "NO_KEY"},
            "sample": {"share": 0.1},
        }
    )
    secrets = rng.integers(0, 20, _BUCKETED)

    def draw(kind: str) -> Callable[[], object]:
        """Return the call for one mechanism of categories."""
        noise = CategoryNoise(
            kind, Fraction(2), domain, shares if CATEGORY_MECHANISMS[kind].by_shares else ()
        )
        return lambda: draw_categories(noise, codes, entropy=_words())

    return [
        *(
            Row(f"{MILLION:,} categories of 60: {kind}", {kind: draw(kind)}, 2.0)
            for kind in CATEGORY_MECHANISMS
        ),
        Row(
            f"{MILLION:,} records: a sample",
            {"sample": lambda: take_sample(sampled, table, key=b"k" * 32)},
            2.0,
        ),
        Row(
            f"{_BUCKETED:,} records: buckets, l = 3, k = 10",
            {"buckets": lambda: buckets_of(secrets, l=3, k=10, random=RandomNumbers(0))},
        ),
    ]


def _words() -> Words:
    return Words(NoiseKey(b"b" * 32), np.arange(MILLION, dtype=np.int64))


def _million_rows() -> list[Row]:
    """Measure a million records in classes of ten, a height in 0.1 cm with noise, one sensitive column."""
    rng = np.random.default_rng(0)
    labels = rng.permutation(MILLION) % _CLASSES
    height = np.round(rng.normal(1700, 90, MILLION)).astype(np.int64)
    sensitive = rng.integers(0, 20, MILLION)
    order = np.argsort(labels, kind="stable").reshape(_CLASSES, -1)
    diameters = np.ptp(height[order], axis=1).astype(np.float64)
    scales = diameters / _EPSILON
    own = rng.permutation(MILLION)
    noise = np.round(rng.laplace(0, 1, MILLION) * scales[labels])
    released, originals = (height + noise)[own][:, None], height[:, None].astype(np.float64)
    there, values = labels[own], sensitive[own]
    whole, m = np.bincount(sensitive), _CLASSES
    radius = diameters[:, None] / _EPSILON * -np.log1p(-0.99)
    law = NoiseLaw(scales[:, None], (None,))
    together: dict[str, Callable[[], object]] = {
        "linking": lambda: linking_risk(released, own, originals, labels=labels),
        "t_closeness": lambda: t_closeness(values, there, whole=whole, distance="ordered", m=m),
        "diversity": lambda: entropy_l(values, there, m=m),
        "confidence": lambda: confident_counts(
            released, there, originals, labels=labels, radius=radius, cap=10
        ),
    }
    attributes: dict[str, Callable[[], object]] = {
        "homogeneity": lambda: class_homogeneity(values, there, m=m),
        "skewness": lambda: class_skewness(values, there, whole=whole, m=m),
        "similarity": lambda: class_similarity(values, there, distance="ordered", m=m),
    }
    at = f"{MILLION:,} records, {_CLASSES:,} classes: "
    return [
        Row(f"{at}linking, closeness, diversity, confidence", together, 1.5),
        Row(
            f"{at}expected linking risk",
            {"expected": lambda: expected_column_linking(height, labels, scales=scales)},
            0.3,
        ),
        Row(f"{at}homogeneity, skewness, similarity", attributes),
        Row(
            f"{at}one-to-one assignment",
            {"assignment": lambda: one_to_one_risk(released, own, originals, labels=labels)},
        ),
        Row(
            f"{at}most probable original",
            {"posterior": lambda: posterior_risk(released, own, originals, labels=labels, law=law)},
        ),
        Row(
            f"{at}expected risk of the mean of 5",
            {"averaging": lambda: averaging_risk(height, labels, scales=scales, releases=5)},
        ),
    ]


def _adult_rows() -> list[Row]:
    """Measure records of Adult's shape: four categories and a height; eight categories for uniques."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, [2, 37, 5, 3], (_ADULT, 4))
    height = np.round(rng.normal(1700, 90, (_ADULT, 1)))
    released = height + np.round(rng.laplace(0, 150, (_ADULT, 1)))
    own = rng.choice(_ADULT, 2_000, replace=False)
    files = LinkageFiles(codes[own], codes, height[own], released, own)
    wide = rng.integers(0, [2, 72, 5, 7, 16, 41, 7, 14], (_ADULT, 8)) // rng.integers(1, 9, (_ADULT, 8))
    persons = rng.integers(0, [2, 72, 5, 40], (MILLION, 4))
    cells = np.unique(persons[:20_000], axis=0)[:10_000]
    low = rng.integers(0, [2, 60, 4, 30], (2_000, 4))
    high = low + rng.integers(0, [2, 12, 2, 10], (2_000, 4))
    at = f"2,000 attackers, {_ADULT:,} records, nothing blocked: "
    return [
        Row(
            f"{at}probabilistic",
            {"probabilistic": lambda: probabilistic_linkage(files, distance_levels(files))},
            1.0,
        ),
        Row(f"{at}threshold", {"threshold": lambda: threshold_linkage(files, upper=0.9)}),
        Row(f"{at}exact", {"exact": lambda: exact_linkage(files)}),
        Row(
            f"{MILLION:,} people counted in 10,000 full-domain classes, 4 columns",
            {"cells": lambda: points_in_boxes(persons, cells, cells)},
        ),
        Row(
            f"{MILLION:,} people counted in 2,000 overlapping classes, 4 columns",
            {"ranges": lambda: points_in_boxes(persons, low, high)},
        ),
        Row(f"{_ADULT:,} records, 8 columns: minimal uniques", {"uniques": lambda: minimal_uniques(wide)}),
    ]


def _print(row: Row) -> bool:
    """Time a row, print it, and return whether it meets its target."""
    for call in row.calls.values():
        call()
    parts: dict[str, list[float]] = {name: [] for name in row.calls}
    for _ in range(_REPEATS):
        for name, call in row.calls.items():
            start = perf_counter()
            call()
            parts[name].append(perf_counter() - start)
    sums = [sum(each) for each in zip(*parts.values(), strict=True)]
    kept = row.target is None or median(sums) <= row.target
    target = "" if row.target is None else f"{_text(row.target)} {'✓' if kept else '✗'}"
    numbers = "".join(f"{_text(value):>10}" for value in (median(sums), min(sums), max(sums)))
    print(f"{row.title:76}{numbers}{target:>12}", flush=True)
    if len(parts) > 1:
        print("    " + ", ".join(f"{name} {_text(median(each))}" for name, each in parts.items()))
    return kept


def _text(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
