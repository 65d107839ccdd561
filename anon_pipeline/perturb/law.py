"""What every mechanism of numbers offers: its parameter, its sampler, its law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb.keys import Source

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]


class Drawn(Protocol):
    """What noise is drawn under, see `mechanisms.Noise`."""

    @property
    def epsilon(self) -> Fraction: ...  # noqa: D102
    @property
    def delta(self) -> Fraction | None: ...  # noqa: D102


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """One mechanism.

    closed: module with its law in closed form: ``pmf(z, *shape)``, ``cdf(z, *shape)``, ``beyond(m, *shape)``,
        ``excess(m, *shape)``, ``mean_absolute(*shape)``, ``variance(*shape)``.
    parameters: takes the column's ε and δ and the sensitivities, (m,); returns the whole numbers that
        ``draw`` takes.
    draw: takes ε and δ and the parameter of each element, (n,); returns its noise, (n,) grid units.
    scale: takes ε and δ and sensitivities of any shape; returns the noise's scale in grid units.
    shape: the arguments by which the closed form knows the noise; default: its scale.
    radius: how far an original may lie from its released value with a confidence, where that has a closed
        form; else it is found by ``closed.beyond``.
    log_odds: takes whole z and scales; returns ln P(noise = z) but for a term of the scale alone, where
        that is cheaper than the logarithm of ``closed.pmf``.
    """

    closed: ModuleType
    parameters: Callable[[Drawn, Integers], Integers]
    draw: Callable[[Drawn, Integers, Source], Integers]
    scale: Callable[[Drawn, ArrayLike], Reals]
    shape: Callable[[Drawn, ArrayLike], tuple[ArrayLike, ...]]
    radius: Callable[[Reals, float], Reals] | None = None
    log_odds: Callable[[ArrayLike, ArrayLike], Reals] | None = None
