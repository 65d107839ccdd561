"""What to expect of a recoding under the noise of a policy: error, linking, suppression, loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.encode.grids import noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.known_categories import expected_of_category
from anon_pipeline.evidence.measures import class_intervals
from anon_pipeline.evidence.usefulness import kept_share
from anon_pipeline.perturb import mechanisms
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.error import expected_relative_shift, shift_over_spread
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.perturb.noise import Drawing, prepare_noise
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.confidence import ConfidenceTable, confidence_table
from anon_pipeline.risk.people import PeopleTable, linked_share, linked_to_people, people_table
from anon_pipeline.risk.suppression import suppress_unconfident
from anon_pipeline.risk.survival import Line, Outputs, expected_kept, fates
from anon_pipeline.tuning.recode_input import Recoded
from anon_pipeline.tuning.results import Expected

_DRAWN = 2**17  # records whose noise is drawn, all draws together, but for 8 draws at least and 64 at most
_WORK = 2.0**27  # steps that a bound may take for one class


class _Release(NamedTuple):
    """Expectations of who is linked and who is released; shares are of the records in classes.

    linking, released: share linked of all, and of those that are released.
    kept: records released.
    kept_at_least: a lower bound of ``kept``; None where it is simulated.
    errors: standard errors of ``released`` and of kept/records, or of ``missing``.
    missing: share of the people of the input of whom a record is not released; None: records are counted.
    """

    linking: float
    released: float
    kept: float
    kept_at_least: float | None
    errors: tuple[float, float] = (0.0, 0.0)
    missing: float | None = None


def expect(policy: Policy, table: Recoded, *, entropy: Entropy) -> Expected:
    """Compute what to expect, before any noise is drawn for a release.

    Args:
        table: recoded by this k and recoder.
        entropy: for several perturb columns, which are simulated; the result depends on it.
    Raises:
        InputError: noise that could not be drawn exactly; by column.
    """
    drawn = noises(policy)
    refuse_whole_columns(policy)
    _refuse_inexact(policy, table, drawn)
    if not drawn:
        found = _without_noise(table)
    elif table.line is not None and table.people is None:
        found = _closed_form(policy, table, table.line, drawn[0])
    else:
        found = _simulate(policy, table, drawn, entropy)
    shifts = _shifts(policy, table, drawn)
    kept = {name: kept_share(table.evidence, policy, name) for name in policy.drawn_categories}
    moved = [*_of_range(table, shifts), *(1.0 - one for one in kept.values())]
    relative, of_range = _relative(table, shifts), _mean_of_range(table, shifts)
    known = [error for error in relative if error is not None]
    n, r = table.records, len(table.originals)
    return Expected(
        error=math.fsum(known) / len(known) if known else None,
        error_of_range=of_range,
        linking=found.linking,
        linking_released=found.released,
        suppression=_share(n, found.kept) if found.missing is None else found.missing,
        suppression_at_most=_at_most(n, found),
        information_loss=table.information_loss,
        loss=_loss(policy, table, moved, found.kept / r),
        standard_error=(found.errors[0], found.errors[1] * (r / n if found.missing is None else 1.0)),
        smallest_class=_smallest(policy, table),
        errors=dict(zip(policy.perturbed, (error or 0.0 for error in relative), strict=True)),
        hidden=table.hidden,
        of_spread={
            name: shift_over_spread(table.originals[:, j].astype(np.float64), shifts[j])
            for j, name in enumerate(policy.perturbed)
        },
        kept=kept,
        linked_categories={name: expected_of_category(table.evidence, policy, name).mean for name in kept},
    )


def refuse_whole_columns(policy: Policy) -> None:
    """Refuse columns that are changed as a whole: what they lose follows from no distribution.

    Raises:
        InputError: names them.
    """
    if policy.changed_columns:
        raise InputError(
            f"{', '.join(policy.changed_columns)}: a mechanism that changes a column as a whole has no "
            "distribution to compute from. Compare releases instead: anon-pipeline compare POLICY --with "
            "KEY=VALUE"
        )


def _refuse_inexact(policy: Policy, table: Recoded, drawn: Sequence[Noise]) -> None:
    """Refuse what no release could be made with."""
    problems: list[str] = []
    for j, (name, noise) in enumerate(zip(policy.perturbed, drawn, strict=True)):
        try:
            mechanisms.parameters(noise, mechanisms.sensitivities(noise, table.diameters[:, j]))
        except (InputError, PolicyError) as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
    if problems:
        raise InputError(problems)


def _share(n: int, kept: float) -> float:
    return min(max((n - kept) / n, 0.0), 1.0)


def _at_most(n: int, found: _Release) -> float | None:
    if found.kept_at_least is None:
        return None
    return _share(n, found.kept_at_least) if found.missing is None else found.missing


def _smallest(policy: Policy, table: Recoded) -> int:
    """Return the least that a released class can have: k, or the smallest one where none loses a record."""
    if policy.suppress.confidence is not None:
        return policy.anonymize.k
    whole = table.evidence.class_sizes[table.spare >= 0]
    return int(whole.min()) if len(whole) else policy.anonymize.k


def _shifts(policy: Policy, table: Recoded, drawn: Sequence[Noise]) -> list[NDArray[np.float64]]:
    """Return E|y − x| of each record for each column, in grid units: public bounds included."""
    labels, bounds = table.classes.labels, output_bounds(policy)
    return [
        mechanisms.shifts(
            noise,
            table.originals[:, j],
            mechanisms.sensitivities(noise, table.diameters[:, j])[labels],
            bounds=bounds[j],
        )
        for j, noise in enumerate(drawn)
    ]


def _relative(table: Recoded, shifts: Sequence[NDArray[np.float64]]) -> list[float | None]:
    """Return the mean of E|y − x|/|x| of each column; None: undefined."""
    return [
        expected_relative_shift(table.originals[:, j].astype(np.float64), table.classes.labels, shifts=own)
        for j, own in enumerate(shifts)
    ]


def _mean_of_range(table: Recoded, shifts: Sequence[NDArray[np.float64]]) -> float | None:
    """Return the mean over columns of the error of the range; None: undefined."""
    ranges = _of_range(table, shifts)
    return math.fsum(ranges) / len(ranges) if ranges and all(map(math.isfinite, ranges)) else None


def _of_range(table: Recoded, shifts: Sequence[NDArray[np.float64]]) -> list[float]:
    """Return the mean |y − x| over the range of each column; inf for noise on a constant column."""
    found = []
    for j, own in enumerate(shifts):
        mean = math.fsum(own.tolist()) / len(table.originals)
        span = float(table.spans[j])
        found.append(mean / span if span > 0 else (math.inf if mean > 0 else 0.0))
    return found


def _loss(policy: Policy, table: Recoded, moved: Sequence[float], kept: float) -> float:
    """Return the share of what the quasi-identifiers say that is lost, in [0, 1]; see `Expected`.

    Args:
        moved: of the columns with noise, the error of the range or the share of replaced categories.
        kept: share of the records in classes that is released.
    """
    noise, generalized = math.fsum(min(one, 1.0) for one in moved), len(policy.generalized)
    lost = generalized * min(max(table.information_loss, 0.0), 1.0) + noise
    return 1.0 - min(kept, 1.0) * (1.0 - lost / (generalized + len(moved)))


def _without_noise(table: Recoded) -> _Release:
    """Without noise nothing is left to chance."""
    stays = table.spare >= 0
    kept, counted = float(table.classes.sizes[stays].sum()), table.evidence.class_sizes
    risk = len(counted) / float(counted.sum())
    released = float(stays.sum()) / float(counted[stays].sum()) if kept else risk
    missing = _missing_share(table, stays[table.classes.labels])
    return _Release(risk, released, kept, kept, missing=missing)


def _missing_share(table: Recoded, keep: NDArray[np.bool_]) -> float | None:
    """Return the share of the people who lack a record; None where records are counted."""
    if table.people is None:
        return None
    return len(np.union1d(table.gaps, table.people[~keep])) / table.population


def _closed_form(policy: Policy, table: Recoded, column: Line, noise: Noise) -> _Release:
    """Compute exactly who is linked and who stays.

    Of what leaves after the records by confidence: classes that fall below k are exact; whether a class yet
    breaks t or l depends on whom it loses, so that those are bounded (`recoded.spare_records`). For the
    linking of what is released, all records of a class share its chance to be left out.
    """
    k, confidence = policy.anonymize.k, policy.suppress.confidence
    sensitivity = mechanisms.sensitivities(noise, table.diameters[:, 0])
    radius = None if confidence is None else mechanisms.radius(noise, sensitivity, confidence)
    law = Outputs(partial(mechanisms.cdf, noise), sensitivity, noise.inputs, output_bounds(policy)[0])
    found = fates(column, law, radius=radius, k=k)
    classes, counts = column.found, column.found.counts
    alone = classes.sizes - classes.total(counts * found.lost)
    most = classes.sizes - k
    sure = np.minimum(most, table.spare)
    at_least = expected_kept(classes, found.lost, most_lost=sure, work=_WORK)
    stays = at_least if radius is None else expected_kept(classes, found.lost, most_lost=most)
    chance = np.divide(stays, alone, out=np.zeros_like(stays), where=alone > 0)
    linked = classes.total(counts * (found.linked - found.both)) * chance
    kept, n = math.fsum(stays.tolist()), len(table.originals)
    linking = math.fsum((counts * found.linked).tolist()) / n
    released = min(math.fsum(linked.tolist()) / kept, 1.0) if kept > 0 else linking
    return _Release(linking, released, kept, min(math.fsum(at_least.tolist()), kept))


class _Prepared(NamedTuple):
    """What all draws of one point share.

    noise: of the r records.
    values: (r, p) originals in grid units.
    near: counts the originals, or the people, that a noisy record could stand for; None without confidence.
    """

    noise: Drawing
    values: NDArray[np.float64]
    near: ConfidenceTable | PeopleTable | None


def _simulate(policy: Policy, table: Recoded, drawn: Sequence[Noise], entropy: Entropy) -> _Release:
    """Draw the noise of all columns some times, and do what the pipeline does with it."""
    n = len(table.originals)
    draws = min(max(_DRAWN // n, 8), 64)
    values = table.originals.astype(np.float64)
    noise = prepare_noise(table.originals, table.classes, noises=drawn, bounds=output_bounds(policy))
    prepared = _Prepared(noise, values, _near(policy, table, drawn))
    one = [_draw(policy, table, prepared, entropy) for _ in range(draws)]
    means = np.mean(one, axis=0)
    errors = np.std(one, axis=0, ddof=1) / math.sqrt(draws)
    counted = n if table.people is None else table.population
    rare = policy.anonymize.k / (draws * counted)  # of what no draw may have shown
    of_missing = 2 if table.people is None else 3
    return _Release(
        float(means[0]),
        float(means[1]),
        float(means[2]) * n,
        None,
        (max(float(errors[1]), rare), max(float(errors[of_missing]), rare)),
        None if table.people is None else float(means[3]),
    )


def _draw(
    policy: Policy, table: Recoded, prepared: _Prepared, entropy: Entropy
) -> tuple[float, float, float, float]:
    """Return the share linked of all, of those released, the share released, and missing, of one draw.

    Linked and missing are people where these are counted.
    """
    labels, people, k = table.classes.labels, table.people, policy.anonymize.k
    noisy = prepared.noise.draw_values(entropy).astype(np.float64)
    counts = None if prepared.near is None else prepared.near.counts(noisy, labels, cap=k)
    keep = suppress_unconfident(counts, labels, k=k, limits=table.limits, people=people).keep
    if people is not None:
        rows = np.arange(len(keep))
        near = linked_to_people(noisy, rows, prepared.values, labels=labels, people=people)
        every = linked_share(near, people)
        some = linked_share(near[keep], people[keep]) if keep.any() else every
        return every, some, float(keep.mean()), _missing_share(table, keep) or 0.0
    linked = table.linking.ties(noisy) > 0
    every, left = int(linked.sum()) / len(keep), int(keep.sum())
    return every, int(linked[keep].sum()) / left if left else every, left / len(keep), 1 - left / len(keep)


def _near(policy: Policy, table: Recoded, drawn: Sequence[Noise]) -> ConfidenceTable | PeopleTable | None:
    """Sort what a noisy record could stand for, once for all draws; the originals are sorted already."""
    if policy.suppress.confidence is None:
        return None
    inputs, radius = class_intervals(
        drawn, table.originals, table.classes, confidence=policy.suppress.confidence
    )
    labels, linking = table.classes.labels, table.linking
    if table.people is not None:
        return people_table(inputs.astype(np.float64), labels=labels, radius=radius, people=table.people)
    if np.array_equal(inputs, table.originals):
        reach = np.ascontiguousarray(radius[:, linking.order], np.float64)
        return ConfidenceTable(linking.order, reach, linking.sizes, linking.table)
    return confidence_table(inputs.astype(np.float64), labels=labels, radius=radius)
