"""Noise per equivalence class on every perturb column of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import ANOTHER_DRAW, InputError
from anon_pipeline.base.threads import side_by_side
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.grid import LARGEST
from anon_pipeline.perturb.keys import NoiseKey, Source, Words, by_element, fresh_key
from anon_pipeline.perturb.mechanisms import Noise, clamp_inputs, draw, parameters, sensitivities
from anon_pipeline.perturb.whole_column.change import change_columns

Bounds = Sequence[tuple[int, int] | None]


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    """A table after noise.

    values: (n, p) grid units. Rows of suppressed records (label −1) hold the original values, without any
        noise: they must never be released or measured.
    diameters: (m, p) largest minus smallest original value of each class, grid units; where it is the
        sensitivity, the scale of the noise comes from it.
    """

    values: NDArray[np.int64] = field(repr=False)
    diameters: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What is known of the noise of n records before any is drawn, to draw it once or several times.

    values: (n, p) original values in grid units, in any signed type that holds them.
    labels: (n,) class of each record, 0 … m−1; −1 for a record of no class.
    wanted: (m, p) of the noise of each class, as `parameters` says.
    noises, bounds: of the columns.
    diameters: (m, p) of each class.
    copies: equally long pieces of the table, which columns are changed by themselves in.
    """

    values: NDArray[np.signedinteger] = field(repr=False)
    labels: NDArray[np.signedinteger] = field(repr=False)
    wanted: NDArray[np.int64] = field(repr=False)
    noises: Sequence[Noise]
    bounds: Bounds
    diameters: NDArray[np.int64] = field(repr=False)
    copies: int = 1

    def draw_values(self, entropy: Source) -> NDArray[np.int64]:
        """Draw the noise of every record once, and return the noisy values, (n, p); see `add_noise`."""
        noisy = np.empty(self.values.shape, np.int64)
        for part, values in self.draw_blocks(entropy, slices_of(len(self.values))):
            noisy[part] = values
        return noisy

    def draw_blocks(
        self, entropy: Source, blocks: Iterable[slice]
    ) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """Draw the noise block by block, and yield each block with its noisy values, (b, p).

        What is drawn of a record does not depend on the blocks.

        Args:
            blocks: of the n records, each record once.
        """
        if isinstance(entropy, Entropy):
            key, places = fresh_key(entropy), None
        else:
            words = by_element(entropy, len(self.values))
            key, places = words.key, words.places
        changed = self._change_columns(key, places)
        for part in blocks:
            own = np.arange(part.start, part.stop, dtype=np.int64) if places is None else places[part]
            yield part, self._draw_block(part, Words(key, own), changed)

    def _change_columns(
        self, key: NoiseKey, places: NDArray[np.int64] | None
    ) -> dict[int, NDArray[np.int64]]:
        """Return what is released of the columns whose mechanisms look at whole columns, (n,) each."""
        if not any(noise.whole_column for noise in self.noises):
            return {}
        every = np.arange(len(self.values), dtype=np.int64) if places is None else places
        return change_columns(
            self.values, self.labels, noises=self.noises, words=Words(key, every), copies=self.copies
        )

    def _draw_block(
        self, part: slice, words: Words, changed: Mapping[int, NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """Draw the noise of the records of a block, by their words, and return the noisy values, (b, p)."""
        labels, noisy = self.labels[part], self.values[part].astype(np.int64)
        kept = labels >= 0
        mine, labels = Words(words.key, words.places[kept]), labels[kept]

        def draw_column(column: int) -> None:
            """Draw the noise of one column and write its released values."""
            noise = self.noises[column]
            if column in changed:
                found = changed[column][part][kept]
            else:
                found = draw(noise, self.wanted[labels, column], entropy=mine.of_column(column))
                found = clamp_inputs(noise, noisy[kept, column]) + found
            noisy[kept, column] = _clamp(found, self.bounds[column])

        side_by_side([partial(draw_column, column) for column in range(len(self.noises))], records=len(noisy))
        return noisy


def class_diameters(values: NDArray[np.int64], classes: EquivalenceClasses) -> NDArray[np.int64]:
    """Return the largest minus the smallest value of each class and column, (m, p).

    Args:
        values: (n, p) grid units.
        classes: of the n records; suppressed ones count in no class.
    Source:
        [methods 5].
    """
    shape = (values.shape[1], len(classes.sizes))
    low, high = np.full(shape, np.iinfo(np.int64).max), np.full(shape, np.iinfo(np.int64).min)
    for part in slices_of(len(values)):
        kept = np.flatnonzero(classes.labels[part] >= 0)
        labels = classes.labels[part][kept]
        for j, column in enumerate(values[part].take(kept, axis=0).T):
            np.minimum.at(low[j], labels, column)
            np.maximum.at(high[j], labels, column)
    return np.ascontiguousarray((high - low).T)


def add_noise(
    values: NDArray[np.int64],
    classes: EquivalenceClasses,
    *,
    noises: Sequence[Noise],
    entropy: Source,
    bounds: Bounds | None = None,
    names: Sequence[str] | None = None,
) -> Perturbed:
    """Add each column's noise to every record.

    Args:
        values: (n, p) original values in grid units, within ±2^52.
        noises: (p,) what each column's noise is drawn under.
        entropy: source of the n records' random words; of a draw the same for all columns.
        bounds: (p,) public lowest and highest released value, grid units; None where there is none. The
            noisy value is moved to the nearer bound: a function of the output alone, it costs no ε.
        names: (p,) of the columns, for messages; default: their positions.
    Returns:
        The noisy table and the classes' diameters.
    Raises:
        InputError: values or scales too large to draw exactly, bounds upside down; every culprit, by the
            position of its column.
        ValueError: not one noise (or bound) per column.
    Source:
        [KE IV]; [methods 5].
    """
    prepared = prepare_noise(values, classes, noises=noises, bounds=bounds, names=names)
    return Perturbed(prepared.draw_values(entropy), prepared.diameters)


def prepare_noise(
    values: NDArray[np.int64],
    classes: EquivalenceClasses,
    *,
    noises: Sequence[Noise],
    bounds: Bounds | None = None,
    names: Sequence[str] | None = None,
    copies: int = 1,
) -> Drawing:
    """Prepare to add each column's noise to every record; the arguments are those of `add_noise`.

    Args:
        copies: equally long pieces of the table, each with classes of its own: one table, several times.
    """
    limits: Bounds = [None] * values.shape[1] if bounds is None else bounds
    if not len(noises) == len(limits) == values.shape[1]:
        raise ValueError(f"{values.shape[1]} columns need as many noises and bounds.")
    called = [f"perturb column {j}" for j in range(len(limits))] if names is None else names
    _check(values, limits, called)
    diameters = class_diameters(values, classes)
    wanted = np.empty_like(diameters)
    problems: list[str] = []
    for column, noise in enumerate(noises):
        try:
            wanted[:, column] = parameters(noise, sensitivities(noise, diameters[:, column]))
        except InputError as error:
            problems += [f"{called[column]}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(problems)
    return Drawing(values, classes.labels, wanted, noises, limits, diameters, copies)


def _clamp(values: NDArray[np.int64], limit: tuple[int, int] | None) -> NDArray[np.int64]:
    """Move values beyond a public bound onto it."""
    return values if limit is None else np.clip(values, *limit)


def _check(values: NDArray[np.int64], limits: Bounds, names: Sequence[str]) -> None:
    """Refuse values whose differences or sums could overflow, and bounds upside down."""
    problems = []
    for column, limit in enumerate(limits):
        beyond = int(((values[:, column] > LARGEST) | (values[:, column] < -LARGEST)).sum())
        if beyond:
            problems.append(
                f"{names[column]}: values must be within 2^52 grid units of 0, got {beyond} that are "
                f"not. Use a coarser resolution ({ANOTHER_DRAW})."
            )
        if limit is not None and limit[0] > limit[1]:
            problems.append(
                f"{names[column]}: bounds must be [lowest, highest], got {list(limit)}. Swap them."
            )
    if problems:
        raise InputError(problems)
