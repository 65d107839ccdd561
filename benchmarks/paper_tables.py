"""The paper's figures as printed tables.

Belongs here: printing. Does not belong here: any computation, the command line (`paper`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pandas as pd

from benchmarks.claims import FAR, Claim, deviations
from benchmarks.figures import EPSILONS, Recoded
from benchmarks.spread import Spread
from benchmarks.statements import Judged

TITLES: Final = {"ola": "OLA, at most 5 % suppressed", "mondrian": "Mondrian, strict"}
_SHOWN: Final = (0.01, 0.025, 0.05, 0.1, 0.2)


def print_recodings(recodings: Sequence[Recoded], suppressed: Mapping[int, float]) -> None:
    """Print Table IV.

    Args:
        recodings: of one dataset.
        suppressed: the paper's numbers for OLA, percent by k.
    """
    print("Table IV: records suppressed by the recoding; its classes")
    print(f"{'':10}{'k':>5}{'suppressed':>12}{'paper':>8}{'classes':>9}{'median size':>13}  levels")
    for table in recodings:
        sizes = pd.Series(table.classes.sizes)
        paper = f"{suppressed[table.k]:.2f}" if table.recoder == "ola" else ""
        levels = ", ".join(f"{column} {level}" for column, level in (table.levels or {}).items())
        share = 100 * table.suppressed / table.records
        counts = f"{len(sizes):9,}{sizes.median():13.1f}"
        print(f"{table.recoder:10}{table.k:5}{share:12.2f}{paper:>8}{counts}  {levels}".rstrip())
    print()


def print_figure(title: str, points: pd.DataFrame, name: str) -> None:
    """Print one of Fig. 3 to 6: a block per recoder, a row per k, a column per ε.

    Args:
        title: of the figure.
        points: of `figures.figures`.
        name: ``error``, ``linking`` or ``extra``.
    """
    closed = f"{name}_expected" in points
    marked = points.assign(far=deviations(points)[name].abs() > FAR if closed else False)
    for recoder, block in marked.groupby("recoder", sort=False):
        print(f"{title}. {TITLES[str(recoder)]}")
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


def print_curse(points: pd.DataFrame, attribute: str) -> None:
    """Print Fig. 1 of one dataset.

    Args:
        points: of `curse.curses`.
        attribute: the ε-quasi-identifier.
    """
    print(
        f"Fig. 1: mean information loss of the k-quasi-identifiers, {attribute} being an ε-quasi or a k-quasi"
    )
    head = f"{'ε-quasi':>9}{'k-quasi':>9}{'its own':>9}"
    print(f"{'':10}{'k':>5}{head}   suppressed, percent: ε-quasi, k-quasi")
    for point in points.to_dict("records"):
        lost = f"{point['without']:9.3f}{point['beside']:9.3f}{point['attribute']:9.3f}"
        gone = f"{100 * point['suppressed_without']:.2f}, {100 * point['suppressed_beside']:.2f}"
        print(f"{point['recoder']:10}{point['k']:5}{lost}   {gone}")
    print()


def print_spreads(found: Sequence[Spread]) -> None:
    """Print Fig. 2 of one dataset.

    Args:
        found: one for each recoder.
    """
    print("Fig. 2: records within a relative error, percent (closed form; below it one draw)")
    for one in found:
        print(f"{one.recoder}, k = {one.k}, ε = {one.epsilon:g}")
        shown = one.curves[one.curves["error"].isin(_SHOWN)]
        head = "".join(f"{f'<= {error:.1%}':>10}" for error in shown["error"])
        print(f"  {'noise':26}{'mean error':>10}{head}")
        for name, title in (
            ("table", "for the whole table"),
            ("classes", "for each class"),
            ("uniform", "±5 %"),
        ):
            cells = "".join(f"{100 * share:10.2f}" for share in shown[name])
            print(f"  {title:26}{100 * one.means[name]:10.2f}{cells}")
            if f"drawn_{name}" in shown:
                print(f"{'':38}" + "".join(f"{100 * share:10.2f}" for share in shown[f"drawn_{name}"]))
    print()


def print_durations(found: pd.DataFrame) -> None:
    """Print Fig. 7 and 8 of one dataset.

    Args:
        found: of `durations.durations`.
    """
    print("Fig. 7 and 8: milliseconds of the processor, warm, medians; k-anonymity: the ε-quasi is a k-quasi")
    print(f"{'':10}{'k':>5}{'k-anonymity':>13}{'(k, ε)':>10}{'of it noise':>13}{'ratio':>8}")
    for point in found.to_dict("records"):
        times = f"{1e3 * point['k_seconds']:13.1f}{1e3 * point['k_epsilon_seconds']:10.1f}"
        ratio = point["k_seconds"] / point["k_epsilon_seconds"]
        print(f"{point['recoder']:10}{point['k']:5}{times}{1e3 * point['noise_seconds']:13.1f}{ratio:8.2f}")
    print()


def print_judged(found: Sequence[Judged]) -> None:
    """Print what must come out, then what the paper says."""
    for title, promised in (("What must come out", True), ("What the paper says", False)):
        claims: list[Claim] = [one.claim for one in found if one.promised is promised]
        if claims:
            print(title)
        for claim in claims:
            print(f"  {'✓' if claim.holds else '✗'} {claim.text}: {claim.worst}")
    print()
