"""The paper's figures on Adult as tables: ``python -m benchmarks.paper [--runs 30] [--quick]``.

Belongs here: the command line and printing. Does not belong here: any computation (`figures`, `claims`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

import pandas as pd

from anon_pipeline.perturb.entropy import seeded_entropy
from benchmarks.adult import adult_folder, adult_policy, paper_table
from benchmarks.claims import FAR, Claim, claims, deviations
from benchmarks.figures import CONFIDENCE, EPSILONS, KS, RECODERS, Recoded, figures, recoded

__all__ = ["main"]

_TITLES: Final = {"ola": "OLA, at most 5 % suppressed", "mondrian": "Mondrian, strict"}
_TABLE_IV: Final = {2: 1.67, 5: 2.42, 10: 3.71, 20: 1.47, 50: 1.76, 100: 4.80}
_QUICK: Final = (2, 10, 50)

_HEADER: Final = """\
(k, ε)-anonymity on Adult: {records:,} records, year of birth in intervals of 2, 4, 8 years, sex, race and
marital status generalized, height perturbed (made up by age and sex; exact discrete Laplace on 0.1 cm).
{runs} runs a point, seed {seed}, loss of the lattice search: {loss}. All numbers in percent.

Error and linking risk are measured on the perturbed table, before confidence suppression, and the expected
values are the exact closed forms for discrete noise on the same records. Extra suppression is what
confidence suppression (c = {confidence:g}) then takes out, as a share of all {records:,} records.
Mean of the runs ± its standard error; below it the expected value; ! where they are more than {far:g}
standard errors apart.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and the claims; return 1 if a claim does not hold."""
    options = _options(arguments)
    ks = _QUICK if options.quick else KS
    runs = 3 if options.quick else options.runs
    table, entropy = paper_table(adult_folder(), seed=options.seed), seeded_entropy(options.seed)
    recodings = [
        recoded(table, adult_policy(k, 1, recoder, loss=options.loss), entropy=entropy)
        for recoder in RECODERS
        for k in ks
    ]
    print(
        _HEADER.format(
            records=len(table),
            runs=runs,
            seed=options.seed,
            loss=options.loss,
            confidence=CONFIDENCE,
            far=FAR,
        )
    )
    points = figures(recodings, runs=runs, entropy=entropy, told=_told)
    _print_recodings(recodings)
    _print_figure("Fig. 3 and 4: average relative error of the height", points, "error")
    _print_figure("Fig. 5: linking risk", points, "linking")
    _print_figure(f"Fig. 6: extra suppression at confidence {CONFIDENCE:g}", points, "extra")
    found = claims(points)
    _print_claims(found)
    return 0 if all(claim.holds for claim in found) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help="runs to average, at least 2 (default 30)")
    parser.add_argument("--quick", action="store_true", help=f"k in {_QUICK}, 3 runs")
    parser.add_argument("--seed", type=int, default=0, help="of heights and noise (default 0)")
    parser.add_argument("--loss", choices=("precision", "granularity"), default="precision")
    options = parser.parse_args(arguments)
    if options.runs < 2:
        parser.error("--runs must be at least 2: one run has no standard error")
    return options


def _told(line: str) -> None:
    print(f"… {line}", file=sys.stderr, flush=True)


def _print_recodings(recodings: Sequence[Recoded]) -> None:
    print("Table IV: records suppressed by the recoding; its classes")
    print(f"{'':10}{'k':>5}{'suppressed':>12}{'paper':>8}{'classes':>9}{'median size':>13}  levels")
    for table in recodings:
        sizes = pd.Series(table.classes.sizes)
        paper = f"{_TABLE_IV[table.k]:.2f}" if table.recoder == "ola" else ""
        levels = ", ".join(f"{column} {level}" for column, level in (table.levels or {}).items())
        share = 100 * table.suppressed / table.records
        counts = f"{len(sizes):9,}{sizes.median():13.1f}"
        print(f"{table.recoder:10}{table.k:5}{share:12.2f}{paper:>8}{counts}  {levels}")
    print()


def _print_figure(title: str, points: pd.DataFrame, name: str) -> None:
    """Print one figure: a block per recoder, a row per k, a column per ε."""
    closed = f"{name}_expected" in points
    marked = points.assign(far=deviations(points)[name].abs() > FAR if closed else False)
    for recoder, block in marked.groupby("recoder", sort=False):
        print(f"{title}. {_TITLES[str(recoder)]}")
        print(f"{'k':>5}  " + "".join(f"{f'ε = {epsilon:g}':>16}" for epsilon in EPSILONS))
        for k, row in block.groupby("k"):
            cells = [
                f"{100 * point[name]:.3f} ± {100 * point[f'{name}_se']:.3f}{'!' if point['far'] else ' '}"
                for point in row.to_dict("records")
            ]
            print(f"{k:5}  " + "".join(f"{cell:>16}" for cell in cells))
            if closed:
                expected = [f"{100 * value:.3f}" for value in row[f"{name}_expected"]]
                print(f"{'':7}" + "".join(f"{cell:>7}{'':9}" for cell in expected))
        print()


def _print_claims(found: Sequence[Claim]) -> None:
    print("What must come out")
    for claim in found:
        print(f"  {'✓' if claim.holds else '✗'} {claim.text}: {claim.worst}")


if __name__ == "__main__":
    sys.exit(main())
