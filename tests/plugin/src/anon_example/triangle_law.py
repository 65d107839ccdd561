"""The law of the sum of two independent uniform numbers on −w … w; N = 2w + 1."""

import numpy as np


def _rest(m, width):
    """Return how many values are above m, up to 2w."""
    return np.maximum(2 * np.asarray(width, float) - np.asarray(m, float), 0.0)


def _n(width):
    return 2 * np.asarray(width, float) + 1


def pmf(z, width):
    """P(Z = z) = (N − |z|)/N²."""
    return np.maximum(_n(width) - np.abs(np.asarray(z, float)), 0.0) / _n(width) ** 2


def beyond(m, width):
    """P(|Z| > m) = r(r + 1)/N² with r = 2w − m, for m ≥ 0."""
    r = _rest(m, width)
    return r * (r + 1) / _n(width) ** 2


def cdf(z, width):
    """P(Z ≤ z), by symmetry."""
    z = np.floor(np.asarray(z, float))
    return np.where(z >= 0, 1 - beyond(np.abs(z), width) / 2, beyond(np.abs(z + 1), width) / 2)


def excess(m, width):
    """E max(Z − m, 0) = r(r + 1)(r + 2)/(6N²), for m ≥ 0."""
    r = _rest(m, width)
    return r * (r + 1) * (r + 2) / (6 * _n(width) ** 2)


def mean_absolute(width):
    """E|Z|, twice the excess over 0."""
    return 2 * excess(0, width)


def variance(width):
    """Twice that of one uniform number, w(w + 1)/3."""
    w = np.asarray(width, float)
    return 2 * w * (w + 1) / 3
