"""What must come out of the figures, and by how much it does.

Belongs here: the claims of the paper that we promise to reproduce, each with its worst number. Does not
belong here: measuring (`figures`), printing (`paper`).

Where a closed form exists, claims about order (falls, rises) are judged on it: it has no sampling error.
Claims about size are judged on both, the closed form and the mean of the runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy import stats

FAR: Final = 3.0
"""Standard errors between the expected value and the mean of the runs from which on a point is marked."""

_ODDS = 1e-3  # how seldom chance may make the agreement claim fail


@dataclass(frozen=True, slots=True)
class Claim:
    """One promise.

    text: what must hold.
    holds: whether it does.
    worst: the number that comes nearest to breaking it, with where it is.
    """

    text: str
    holds: bool
    worst: str


def claims(points: pd.DataFrame) -> list[Claim]:
    """Judge all claims.

    Args:
        points: of `figures.figures`; a claim about points that are not there is left out.
    """
    ola, mondrian = points["recoder"] == "ola", points["recoder"] == "mondrian"
    small, epsilon, k = points["epsilon"] <= 2, points["epsilon"], points["k"]
    error, linking = ["error", "error_expected"], ["linking", "linking_expected"]
    found = [
        _below("error < 5 % for ε ≥ 8", points[epsilon >= 8], error, 0.05),
        _ordered("linking risk falls with k", points, along="k", sign=-1),
        _ordered("linking risk rises with ε", points, along="epsilon", sign=1),
        _below("linking risk < 5 % with OLA, k ≥ 20, every ε", points[ola & (k >= 20)], linking, 0.05),
        _below(
            "linking risk < 5 % with Mondrian, k ≥ 10, ε ≤ 2",
            points[mondrian & (k >= 10) & small],
            linking,
            0.05,
        ),
        _below("extra suppression < 2 % for ε ≤ 2", points[small], ["extra"], 0.02),
        agreement(points),
    ]
    return [claim for claim in found if claim is not None]


def _where(point: pd.Series) -> str:
    return f"{point['recoder']}, k = {point['k']}, ε = {point['epsilon']:g}"


def _below(text: str, points: pd.DataFrame, columns: Sequence[str], limit: float) -> Claim | None:
    """Judge that the largest of some columns is below a limit."""
    if points.empty:
        return None
    largest = points[list(columns)].max(axis=1, skipna=False).to_numpy()
    worst = int(np.argmax(largest))  # of a NaN, if there is one
    return Claim(text, bool((largest < limit).all()), f"{largest[worst]:.2%} at {_where(points.iloc[worst])}")


def _ordered(text: str, points: pd.DataFrame, *, along: str, sign: int) -> Claim | None:
    """Judge that the expected linking risk moves one way along k or ε, all else equal."""
    other = "epsilon" if along == "k" else "k"
    ordered = points.sort_values(["recoder", other, along])
    same = ordered[["recoder", other]].eq(ordered[["recoder", other]].shift()).all(axis=1).to_numpy()
    steps = sign * ordered["linking_expected"].diff().to_numpy()[same]
    if not len(steps):
        return None
    least = int(np.argmin(steps))
    return Claim(
        f"{text} (closed form)",
        bool((steps > 0).all()),
        f"smallest step {steps[least]:.3%} up to {_where(ordered[same].iloc[least])}",
    )


def deviations(points: pd.DataFrame) -> pd.DataFrame:
    """Return how many standard errors the runs are away from the closed form.

    Args:
        points: of `figures.figures`.
    Returns:
        Columns error and linking, the index of ``points``.
    """
    return pd.DataFrame(
        {
            name: (points[name] - points[f"{name}_expected"]) / points[f"{name}_se"]
            for name in ("error", "linking")
        }
    )


def agreement(points: pd.DataFrame) -> Claim:
    """Judge that no more points are marked than chance explains.

    The number of marks is compared with its binomial law (a mean of r runs deviates by Student's t with
    r − 1 degrees of freedom), and all deviations together with zero mean: a bias that is too small to mark a
    single point would show there.

    Args:
        points: of `figures.figures`.
    """
    away = deviations(points)
    runs = int(points["runs"].min())
    few, marks = _marks(away, runs)
    fair, bias = _bias(away, runs)
    worst = away.abs().max(axis=1).to_numpy()
    return Claim(
        f"expected and realized agree within sampling error ({runs} runs)",
        few and fair,
        f"{marks}, the largest {worst.max():.1f} at {_where(points.iloc[int(worst.argmax())])}; {bias}",
    )


def _marks(away: pd.DataFrame, runs: int) -> tuple[bool, str]:
    """Compare the number of marked points with its binomial law under chance alone."""
    chance = 2 * stats.t.sf(FAR, runs - 1)
    marks = int((away.abs() > FAR).sum().sum())
    few = bool(stats.binom.sf(marks - 1, away.size, chance) > _ODDS)
    expected = f"chance: {chance * away.size:.1f}"
    return few, f"{marks} of {away.size} beyond {FAR:g} standard errors ({expected})"


def _bias(away: pd.DataFrame, runs: int) -> tuple[bool, str]:
    """Add up each column's deviations, as normal scores, and compare the sum with its own spread."""
    shares = np.clip(stats.t.cdf(away.to_numpy(), runs - 1), 1e-15, 1 - 1e-15)
    sums = stats.norm.ppf(shares).sum(axis=0) / np.sqrt(len(away))
    fair = bool((2 * stats.norm.sf(np.abs(sums)) > _ODDS).all())
    told = ", ".join(f"{name} {value:+.1f} σ" for name, value in zip(away.columns, sums, strict=True))
    return fair, f"all together: {told}"
