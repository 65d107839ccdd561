"""The paper's figures on its three datasets: ``python -m benchmarks.paper [--quick] [--out FOLDER]``.

Belongs here: the command line, and what is asked in which order. Does not belong here: any computation
(`curse`, `spread`, `figures`, `durations`), printing (`paper_tables`), drawing (`paper_plots`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pandas as pd

from anon_pipeline.perturb.entropy import seeded_entropy
from benchmarks.claims import FAR, claims
from benchmarks.curse import curses
from benchmarks.datasets import DATASETS
from benchmarks.durations import durations, seconds
from benchmarks.figures import CONFIDENCE, KS, RECODERS, figures, recoded
from benchmarks.paper_plots import Found, draw
from benchmarks.paper_tables import (
    print_curse,
    print_durations,
    print_figure,
    print_judged,
    print_recodings,
    print_spreads,
)
from benchmarks.spread import spread
from benchmarks.statements import Judged, of_curse, of_durations, of_missing, of_points, of_spreads

_QUICK: Final = (2, 10, 50)
_SPREAD_K: Final = 10

_HEADER: Final = """\
(k, ε)-anonymity on {title}: {records:,} records; ε-quasi-identifier {attribute}, made up by age and sex;
exact discrete Laplace on 0.1 {unit}. Seed {seed}, loss of the lattice search: {loss}.
"""
_MEASURED: Final = """\
Fig. 3 to 6: percent, {runs} runs a point. Error and linking risk are measured on the perturbed table,
before confidence suppression, and the expected values are the exact closed forms for discrete noise on
the same records. Extra suppression is what confidence suppression (c = {confidence:g}) then takes out, as
a share of all {records:,} records. Mean of the runs ± its standard error; below it the expected value;
! where they are more than {far:g} standard errors apart.
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the command line asks of each dataset."""

    figures: frozenset[int]
    ks: tuple[int, ...]
    runs: int
    repeats: int
    records: int | None
    seed: int
    loss: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and the claims; return 1 if a promised claim does not hold."""
    options = _options(arguments)
    asked = _Asked(
        figures=frozenset(options.figures),
        ks=_QUICK if options.quick else KS,
        runs=3 if options.quick else options.runs,
        repeats=1 if options.quick else 5,
        records=options.records,
        seed=options.seed,
        loss=options.loss,
    )
    found, judged = {}, []
    for name in dict.fromkeys(options.data):
        found[name], claimed = _dataset(name, asked)
        judged += claimed
    if options.out is not None:
        for path in draw(found, options.out):
            _told(f"wrote {path.name}")
    return 0 if all(one.claim.holds for one in judged if one.promised) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help="runs to average, at least 2 (default 30)")
    parser.add_argument("--quick", action="store_true", help=f"k in {_QUICK}, 3 runs, times taken once")
    parser.add_argument("--seed", type=int, default=0, help="of whatever is made up and of noise (default 0)")
    parser.add_argument("--loss", choices=("precision", "granularity"), default="precision")
    parser.add_argument("--data", nargs="+", choices=tuple(DATASETS), default=list(DATASETS))
    parser.add_argument(
        "--figures", nargs="+", type=int, choices=range(1, 9), default=list(range(1, 9)), metavar="1…8"
    )
    parser.add_argument("--records", type=int, help="of each voter list (default: as many as the paper has)")
    parser.add_argument(
        "--out", type=Path, help="folder for a picture (SVG) and the numbers (CSV) of each figure"
    )
    options = parser.parse_args(arguments)
    if options.runs < 2:
        parser.error("--runs must be at least 2: one run has no standard error")
    if options.records is not None and options.records < 2 * max(KS):
        parser.error(f"--records must be at least {2 * max(KS)}, twice the largest k")
    return options


def _told(line: str) -> None:
    print(f"… {line}", file=sys.stderr, flush=True)


def _dataset(name: str, asked: _Asked) -> tuple[Found, list[Judged]]:
    """Compute and print what is asked of one dataset."""
    dataset = DATASETS[name]
    table = dataset.table(asked.records, asked.seed)
    told = {"title": dataset.title, "attribute": dataset.attribute, "unit": dataset.unit}
    print(_HEADER.format(records=len(table), seed=asked.seed, loss=asked.loss, **told))
    found, judged = _measured(name, table, asked)
    timed, claimed = _timed(name, table, asked)
    print_judged([*judged, *claimed])
    whole = Found(dataset.title, dataset.attribute, found.curse, found.spreads, found.points, timed)
    return whole, [*judged, *claimed]


def _measured(name: str, table: pd.DataFrame, asked: _Asked) -> tuple[Found, list[Judged]]:
    """Compute and print Fig. 1 to 6."""
    dataset, entropy, judged = DATASETS[name], seeded_entropy(asked.seed), list[Judged]()
    curse, spreads, points = None, None, None
    if 1 in asked.figures:
        curse = curses(dataset, table, RECODERS, asked.ks, loss=asked.loss)
        print_curse(curse, dataset.attribute)
        judged += of_curse(curse)
    if not asked.figures & {2, 3, 4, 5, 6}:
        return Found(dataset.title, dataset.attribute, curse), judged
    recodings = [
        recoded(table, dataset.policy(k, recoder, loss=asked.loss), entropy=entropy)
        for recoder in RECODERS
        for k in asked.ks
    ]
    print_recodings(recodings, dataset.suppressed)
    if asked.figures & {3, 4, 5, 6}:
        points = figures(recodings, runs=asked.runs, entropy=entropy, told=_told)
        judged += _points(name, points, len(table), asked)
    if 2 in asked.figures:
        spreads = [spread(one, entropy=entropy) for one in recodings if one.k == _SPREAD_K]
        print_spreads(spreads)
        judged += of_spreads(spreads)
    return Found(dataset.title, dataset.attribute, curse, spreads, points), judged


def _points(name: str, points: pd.DataFrame, records: int, asked: _Asked) -> list[Judged]:
    """Print and judge Fig. 3 to 6: on Adult the claims are promised, elsewhere that both ways agree."""
    titles = {
        "error": (f"Fig. 3 and 4: average relative error of the {DATASETS[name].attribute}", {3, 4}),
        "linking": ("Fig. 5: linking risk", {5}),
        "extra": (f"Fig. 6: extra suppression at confidence {CONFIDENCE:g}", {6}),
    }
    print(_MEASURED.format(runs=asked.runs, records=records, confidence=CONFIDENCE, far=FAR))
    for column, (title, numbers) in titles.items():
        if asked.figures & numbers:
            print_figure(title, points, column)
    found = claims(points)
    if name != "adult":  # the paper says less of the others
        found = [claim for claim in found if not claim.text.startswith("linking risk < 5 %")]
    judged = [Judged(claim, promised=name == "adult" or claim is found[-1]) for claim in found]
    return [*judged, *of_points(points), *([] if name == "adult" else of_missing(points))]


def _timed(name: str, table: pd.DataFrame, asked: _Asked) -> tuple[pd.DataFrame | None, list[Judged]]:
    """Compute and print Fig. 7 (Mondrian) and 8 (OLA)."""
    wanted = [recoder for recoder, number in (("ola", 8), ("mondrian", 7)) if number in asked.figures]
    if not wanted:
        return None, []
    _told(f"{name}: running times")
    found = durations(
        DATASETS[name],
        table,
        [(recoder, k) for recoder in wanted for k in asked.ks],
        timed=partial(seconds, repeats=asked.repeats),
        entropy=seeded_entropy(asked.seed),
    )
    print_durations(found)
    return found, of_durations(found)


if __name__ == "__main__":
    sys.exit(main())
