"""What the paper says of its figures 1, 2, 7 and 8 and of the voter lists, and whether it holds here.

Belongs here: the paper's sentences, judged on our numbers. Does not belong here: what we promise of Fig. 3 to
6 on Adult (`claims`), measuring.

A sentence that does not hold is a finding, not a fault: the paper's voter lists are not public, ours are made
up, and its programs are not ours. Only what is marked ``promised`` must hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from benchmarks.claims import Claim
from benchmarks.spread import ERRORS, UNIFORM, Spread

_ODDS: Final = 1e-6  # how seldom chance may make the draw of Fig. 2 fail
_NAMES: Final = {"ola": "OLA", "mondrian": "Mondrian"}


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, and whether we promise it."""

    claim: Claim
    promised: bool = False


def _judged(text: str, holds: object, worst: str, *, promised: bool = False) -> Judged:
    return Judged(Claim(text, bool(holds), worst), promised)


def of_curse(points: pd.DataFrame) -> list[Judged]:
    """Judge Fig. 1 of one dataset.

    Args:
        points: of `curse.curses`.
    """
    found = []
    ola, mondrian = (points[points["recoder"] == name] for name in ("ola", "mondrian"))
    small, large, at = ola[ola["k"] <= 20], ola[ola["k"] > 20], ola[ola["k"] == 20]
    if len(small):
        ratio = small["beside"] / small["without"]
        text = "OLA, k ≤ 20: the others lose more beside the attribute"
        found.append(_judged(text, (ratio > 1).all(), f"{_span(ratio, '{:.2f}')} times as much"))
    if len(at):
        ratio = at["beside"] / at["without"]
        text = "OLA, k = 20: the others lose twice as much (said of Adult: 0.8 after 0.4)"
        found.append(_judged(text, (ratio >= 2).all(), f"{_span(ratio, '{:.2f}')} times as much"))
    if len(large):
        apart = (large["beside"] - large["without"]).abs()
        text = "OLA, k > 20: the others lose the same (within 0.02)"
        found.append(_judged(text, (apart <= 0.02).all(), f"{_span(apart, '{:.3f}')} apart"))
        own = large["attribute"]
        found.append(
            _judged("OLA, k > 20: the attribute loses over 0.8", (own > 0.8).all(), _span(own, "{:.2f}"))
        )
    if len(mondrian):
        less = 1 - mondrian["without"] / mondrian["beside"]
        text = "Mondrian: the others lose 4 to 10 % less without the attribute"
        found.append(_judged(text, less.between(0.04, 0.10).all(), f"{_span(less, '{:.0%}')} less"))
    return found


def of_spreads(found: Sequence[Spread]) -> list[Judged]:
    """Judge Fig. 2 of one dataset.

    Args:
        found: of `spread.spread`, one for each recoder.
    """
    judged = []
    for one in found:
        name, curves = f"{_NAMES[one.recoder]}, k = {one.k}", one.curves
        gain = curves["classes"] - curves["table"]
        text = f"{name}: noise for the whole table has the larger errors throughout"
        worst = f"{one.means['table'] / one.means['classes']:.2f} times the mean; least gain {gain.min():.2%}"
        judged.append(_judged(text, (gain >= -1e-12).all(), worst, promised=True))
        apart = max(float((curves[f"drawn_{n}"] - curves[n]).abs().max()) for n in ("table", "classes"))
        # Dvoretzky, Kiefer, Wolfowitz, for each of two curves; unequal laws only make it safer
        limit = math.sqrt(math.log(4 / _ODDS) / (2 * one.records))
        text = f"{name}: one draw agrees with the closed form"
        judged.append(_judged(text, apart <= limit, f"{apart:.2%} apart, limit {limit:.2%}", promised=True))
        beyond = 1 - float(curves["classes"].iloc[ERRORS.index(UNIFORM)])
        text = f"{name}: of the same mean error, uniform noise never errs by more than 5 %, Laplace does"
        judged.append(_judged(text, beyond > 0, f"{beyond:.1%} of the records", promised=True))
    return judged


def of_points(points: pd.DataFrame) -> list[Judged]:
    """Judge what the paper says of Fig. 5 on every dataset.

    Args:
        points: of `figures.figures`.
    """
    judged = []
    for recoder, block in points.groupby("recoder", sort=False):
        least = block.iloc[int(block["linking_expected"].argmin())]
        where = f"{least['linking_expected']:.2%} at k = {least['k']}, ε = {least['epsilon']:g}"
        text = f"{_NAMES[str(recoder)]}: a linking risk below 5 % is attainable"
        judged.append(_judged(text, least["linking_expected"] < 0.05, where))
        large = block.loc[block["k"] >= 50, "linking_expected"]
        if len(large):
            text = f"{_NAMES[str(recoder)]}: linking risk below 5 % for k ≥ 50, every ε"
            judged.append(_judged(text, (large < 0.05).all(), _span(large, "{:.2%}")))
    return judged


def of_missing(points: pd.DataFrame) -> list[Judged]:
    """Judge that linking risk exceeds 10 % at k = 2 and 5, as said of the voter lists.

    Args:
        points: of `figures.figures`.
    """
    judged = []
    for recoder, block in points[points["k"] <= 5].groupby("recoder", sort=False):
        risk = block["linking_expected"]
        text = f"{_NAMES[str(recoder)]}: linking risk above 10 % for k = 2 and 5, every ε"
        judged.append(_judged(text, (risk > 0.1).all(), _span(risk, "{:.1%}")))
    return judged


def of_durations(found: pd.DataFrame) -> list[Judged]:
    """Judge Fig. 7 and 8 of one dataset.

    Args:
        found: of `durations.durations`.
    """
    judged = []
    ratio = found["k_seconds"] / found["k_epsilon_seconds"]
    ola, mondrian = (ratio[found["recoder"] == name] for name in ("ola", "mondrian"))
    if len(mondrian):
        text = "Mondrian: (k, ε)-anonymity takes longer"
        judged.append(_judged(text, (mondrian < 1).all(), f"{_span(1 / mondrian, '{:.2f}')} times as long"))
    if len(ola):
        judged.append(
            _judged("OLA: (k, ε)-anonymity is faster", (ola > 1).all(), f"{_span(ola, '{:.1f}')} times")
        )
        judged.append(
            _judged("OLA: 14 to 32 times faster", ola.between(14, 32).all(), f"{_span(ola, '{:.1f}')} times")
        )
    return judged


def _span(values: pd.Series, form: str) -> str:
    """Write the smallest and the largest of some numbers."""
    low, high = form.format(float(np.min(values))), form.format(float(np.max(values)))
    return low if low == high else f"{low} to {high}"
