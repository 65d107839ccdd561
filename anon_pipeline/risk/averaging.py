"""The averaging attack: noise drawn anew in each release cancels out over releases of the same records."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import ANOTHER_DRAW, InputError
from anon_pipeline.perturb import discrete_laplace_law
from anon_pipeline.perturb.mechanisms import Noise, clamp_inputs, pmf, radius
from anon_pipeline.risk.histograms import class_histograms

_ALMOST = 1 - 1e-13  # of the noise of one release
_MOST = 2**26  # numbers transformed, over all distinct scales


def averaging_risk(
    originals: NDArray[np.int64],
    labels: NDArray[np.integer],
    *,
    scales: NDArray[np.float64],
    releases: int,
    noise: Noise | None = None,
) -> float:
    """Compute the linking risk that the mean of several releases will have, for one column.

    Args:
        originals: (n,) one column, in grid units.
        labels: (n,) class of each original, 0 … m−1; −1 for a record of no class.
        scales: (m,) scale b of the discrete Laplace noise of each class, in grid units, ≥ 0; with ``noise``,
            the sensitivity of each class, in whole grid units.
        releases: how often noise is drawn, t ≥ 1. Outputs are taken as not clamped.
        noise: what is drawn under, if another mechanism.
    Returns:
        Mean probability of being linked (a tie counts), in [0, 1], to 1e-9; for t = 1 it is
        `expected_linking_risk`.
    Raises:
        ValueError: no release, no record in a class, or a number of scales that is not that of classes.
        InputError: noise too wide for its law to be computed.
    Source:
        [methods 8.1], with the law of a sum of t independent noises: the t-fold convolution, by Fourier.
    """
    if releases < 1:
        raise ValueError(f"releases must be at least one, got {releases}. There is nothing to average.")
    inside = labels >= 0
    values = np.asarray(originals[inside], np.int64)
    shift = int(values.min(initial=0))
    found = class_histograms(values - shift, labels[inside], m=len(scales))
    x = found.codes + shift
    moved = np.zeros_like(x) if noise is None else x - clamp_inputs(noise, x)
    gaps = np.diff(found.codes)
    gaps[found.classes[1:] != found.classes[:-1]] = -1
    below, above = np.append(-1, gaps), np.append(gaps, -1)
    own, linked = np.asarray(scales, np.float64)[found.classes], np.ones(len(found.codes))
    for gap, away in ((below, -moved), (above, moved)):
        linked -= _beyond(gap, away, own, releases, noise)
    return float(np.dot(np.clip(linked, 0.0, 1.0), found.counts) / found.counts.sum())


def _beyond(
    gaps: NDArray[np.int64],
    away: NDArray[np.int64],
    scale: NDArray[np.float64],
    releases: int,
    noise: Noise | None,
) -> NDArray[np.float64]:
    """Return P(sum of the noise > t·(gap/2 + away)): the mean is nearer to a neighbor; 0 without one (−1).

    ``away``: how much further from the neighbor than the value itself the noise begins.
    """
    steps = (gaps + 2 * away) * releases // 2
    beyond = np.where((gaps >= 0) & (steps < 0), 1.0, 0.0)  # without noise
    noisy = (gaps >= 0) & (scale > 0)
    distinct, place = np.unique(scale[noisy], return_inverse=True)
    reach = _reach(distinct, releases, noise)
    if float(reach.astype(np.float64).sum()) * 4 > _MOST:
        raise InputError(
            f"averaging needs noise of up to {_MOST // 4} grid units over all distinct scales, got "
            f"{float(reach.sum()):.3g}. Use a coarser resolution ({ANOTHER_DRAW})."
        )
    wanted, found = steps[noisy], np.zeros(int(noisy.sum()))
    order = np.argsort(place, kind="stable")
    bounds = np.searchsorted(place[order], np.arange(len(distinct) + 1))
    for i, b in enumerate(distinct.tolist()):
        here = order[bounds[i] : bounds[i + 1]]
        tail = _tail(b, int(reach[i]), releases, noise)
        up = wanted[here]
        mirrored = np.where(up < 0, -1 - up, up)
        found[here] = tail[np.minimum(mirrored, len(tail) - 1)]
        found[here] = np.where(up < 0, 1 - found[here], found[here])
    beyond[noisy] = found
    return beyond


def _reach(distinct: NDArray[np.float64], releases: int, noise: Noise | None) -> NDArray[np.int64]:
    """Return the sum beyond which almost nothing lies."""
    if noise is None:
        return np.ceil(distinct * (36 + 6 * releases)).astype(np.int64) + 1
    return np.ceil(radius(noise, distinct.astype(np.int64), _ALMOST) * releases).astype(np.int64) + 1


def _tail(b: float, reach: int, releases: int, noise: Noise | None) -> NDArray[np.float64]:
    """Return P(sum > s) for s = 0 … reach; the sum is symmetric, and beyond the reach almost nothing lies."""
    length = 2 ** math.ceil(math.log2(2 * reach + 2))
    z = np.arange(length, dtype=np.int64)
    near = np.minimum(z, length - z)
    law = discrete_laplace_law.pmf(near, b) if noise is None else pmf(noise, near, int(b))
    total = np.fft.irfft(np.fft.rfft(law) ** releases, length)[: reach + 1]
    tail = np.maximum(total, 0.0)[::-1].cumsum()[::-1]
    return np.append(tail[1:], 0.0)
