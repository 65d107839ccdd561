"""Chapter 7's comparison of the t-close recoders: ``python -m benchmarks.chapter7 [--k 2 5 10]``.

Belongs here: data that come about as the book's do, the measurement, the table of docs/microaggregation.md.
Does not belong here: time (`recoders`).

The book's Census file (1,080 records: taxable income and other income known, federal tax or social security
tax confidential) is not used. Here wages, a partner's wages, other income and deductions are drawn; the four
columns follow by the rules of a tax of progressive rates and of a contribution with a ceiling.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Recoding, SensitiveLimit, Task, by_record, recode
from anon_pipeline.risk.t_closeness import t_closeness

RECORDS: Final = 1080
TS: Final = (0.01, 0.05, 0.09, 0.13, 0.17, 0.21, 0.25)
RECODERS: Final = ("merge", "kanon_first", "tclose_first")
SECRETS: Final = {"MCD": "social security", "HCD": "federal tax"}
"""Confidential columns by the book's names: moderate, high correlation with the known columns."""
KNOWN: Final = ("taxable income", "other income")

_RATES: Final = ((0, 0.15), (39_000, 0.13), (94_250, 0.03), (143_600, 0.05), (256_500, 0.036))
"""Where a further part of the income is taxed, and how much more than below."""
_CEILING: Final = 61_200
_WITHOUT_WAGES, _COUPLES = 0.1, 0.55


def incomes(seed: int = 1995, *, records: int = RECORDS) -> dict[str, NDArray[np.float64]]:
    """Draw the four columns, in whole units of money.

    Args:
        seed: of the draw.
        records: n.
    """
    rng = np.random.default_rng(seed)
    normal, uniform = rng.normal(size=(5, records)), rng.random((2, records))
    wages = np.exp(np.log(30_000) + 0.85 * normal[0]) * (uniform[0] >= _WITHOUT_WAGES)
    partner = np.exp(np.log(30_000) + 0.85 * normal[4]) * (uniform[1] < _COUPLES)
    other = np.exp(np.log(1_500) + 1.8 * normal[1])
    deductions = 9_000 * np.exp(0.4 * normal[2])
    taxable = np.round(np.maximum(wages + partner + other - deductions, 0))
    tax = sum((np.maximum(taxable - begin, 0) * rate for begin, rate in _RATES), np.zeros(records))
    return {
        "taxable income": taxable,
        "other income": np.round(other),
        "federal tax": np.round(tax * np.exp(0.3 * normal[3])),
        "social security": np.round(0.0765 * np.minimum(wages, _CEILING)),
    }


def correlation(table: dict[str, NDArray[np.float64]], secret: str) -> float:
    """Return the multiple correlation of a confidential column with the known ones."""
    known = np.column_stack([np.ones(len(table[secret])), *(table[name] for name in KNOWN)])
    fitted = known @ np.linalg.lstsq(known, table[secret], rcond=None)[0]
    return float(np.corrcoef(fitted, table[secret])[0, 1])


def _hierarchy(name: str, numbers: NDArray[np.float64]) -> Hierarchy:
    """Numbers that are ``*`` or themselves."""
    values, top = np.empty(len(numbers), object), np.array(["*"], object)
    values[:] = [str(int(number)) for number in numbers]
    leaves = np.arange(len(numbers))
    return Hierarchy(name, (leaves, np.zeros_like(leaves)), (values, top), numbers)


def task(table: dict[str, NDArray[np.float64]], secret: str, *, k: int, t: float, recoder: str) -> Task:
    """Ask a recoder for a table of `incomes`, one of its columns confidential."""
    known = [np.unique(table[name], return_inverse=True) for name in KNOWN]
    codes = np.stack([own for _, own in known], axis=1).astype(np.int64)
    hidden = np.unique(table[secret], return_inverse=True)[1].astype(np.int64)
    limit = SensitiveLimit(secret, np.bincount(hidden), "ordered", None, t)
    hierarchies = tuple(_hierarchy(name, own) for name, (own, _) in zip(KNOWN, known, strict=True))
    records = by_record(codes, hierarchies, sensitive=[hidden])
    return Task(hierarchies, Constraints(k, 0, (limit,)), recoder, by_record=records)


def distances(asked: Task, recoding: Recoding) -> NDArray[np.float64]:
    """Return the earth mover's distance of each class of released values from the table."""
    assert asked.by_record is not None
    limit, labels = asked.constraints.sensitive[0], equivalence_classes(recoding.codes).labels
    hidden = asked.by_record.sensitive[0]
    return t_closeness(hidden, labels, whole=limit.whole, m=int(labels.max()) + 1, distance="ordered")


@dataclass(frozen=True, slots=True)
class Measured:
    """What the book compares.

    size: mean records of a class; least: of the smallest one.
    error: as in the fact ``sse``.
    distance: the greatest of a class.
    """

    size: float
    error: float
    distance: float
    least: int


def measured(asked: Task) -> Measured:
    """Recode and measure."""
    recoding = recode(asked)
    sizes = equivalence_classes(recoding.codes).sizes
    assert recoding.sse is not None
    worst = float(distances(asked, recoding).max())
    return Measured(len(recoding.codes) / len(sizes), recoding.sse, worst, int(sizes.min()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a class is not t-close or another recoder is better at any t."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chapter7", description=__doc__)
    parser.add_argument("--k", nargs="*", type=int, default=[2])
    parser.add_argument("--t", nargs="*", type=float, default=list(TS))
    parser.add_argument("--seed", type=int, default=1995)
    chosen = parser.parse_args(arguments)
    table, failed = incomes(chosen.seed), 0
    for name, secret in SECRETS.items():
        print(f"{name}: {secret}, multiple correlation {correlation(table, secret):.2f}")
    print("\nMean cluster size, `sse` in 10⁻⁴\n")
    print(f"| | k | t |{' | |'.join(f' `{recoder}`' for recoder in RECODERS)} | |")
    print("|---|---|---|" + "---|" * 2 * len(RECODERS))
    for name, k, t in ((name, k, t) for name in SECRETS for k in chosen.k for t in chosen.t):
        found = [measured(task(table, SECRETS[name], k=k, t=t, recoder=recoder)) for recoder in RECODERS]
        cells = [f"{one.size:.2f} | {one.error * 1e4:.2f}" for one in found]
        print(f"| {name} | {k} | {t:g} | {' | '.join(cells)} |", flush=True)
        best = found[-1]
        failed += any(one.size < best.size or one.error < best.error for one in found[:-1])
        failed += any(one.distance > t + 1e-12 for one in found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
