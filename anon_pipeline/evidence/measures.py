"""What the gate and the suppression measure on a release, one pure function per limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import narrow_integers, slices_of
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.encode.codes import code_sensitive_of
from anon_pipeline.encode.grids import grid_units, noises
from anon_pipeline.evidence.attacked_columns import attacked_columns
from anon_pipeline.evidence.evidence import Evidence, Originals
from anon_pipeline.perturb.grid import quantize
from anon_pipeline.perturb.mechanisms import Noise, clamp_inputs, radius, sensitivities
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity
from anon_pipeline.risk import linking, sizes
from anon_pipeline.risk.class_table import SortedClasses
from anon_pipeline.risk.confidence import ConfidenceTable, confidence_table
from anon_pipeline.risk.informed_linking import linked_shares
from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE, distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.linking import LinkingRisk
from anon_pipeline.risk.people import (
    PeopleTable,
    linked_share,
    linked_to_people,
    people_diversity,
    people_table,
    people_with_gaps,
)
from anon_pipeline.risk.suppression import ClassLimit
from anon_pipeline.risk.t_closeness import t_closeness

ClassMeasure = Callable[[NDArray[np.int64], NDArray[np.int64], int], NDArray[np.float64]]
"""From positions (r',) of released records, their classes (r',), 0 … m−1, and m to a number each, (m,)."""


def require_originals(evidence: Evidence) -> Originals:
    """Return the originals.

    Raises:
        InputError: this is a file alone.
    """
    if evidence.originals is None:
        raise InputError(
            "this limit must be measured against the originals, which a file alone does not have"
        )
    return evidence.originals


def class_t_closeness(evidence: Evidence, policy: Policy, name: str) -> NDArray[np.float64]:
    """Measure the distance of every released class to the whole input, for one sensitive column, (m,).

    Records without a value of the column count in neither.

    Raises:
        InputError: this is a file alone: the whole input is not in it.
    """
    classes = evidence.classes
    measured = _t_closeness_of(evidence, policy, name)
    return measured(np.arange(len(classes.labels)), classes.labels, len(classes.sizes))


def _t_closeness_of(evidence: Evidence, policy: Policy, name: str) -> ClassMeasure:
    """Code a sensitive column once, and return what measures classes of some of the released records."""
    originals = require_originals(evidence)
    column = policy.sensitive[name]
    codes, hierarchy = code_sensitive_of(originals.frame, name, column, folder=evidence.hierarchies)
    whole = np.bincount(codes[codes >= 0], minlength=0 if hierarchy is None else hierarchy.leaves)
    lookups, own = None if hierarchy is None else hierarchy.lookups, narrow_integers(codes)[originals.own]
    return lambda rows, labels, m: t_closeness(
        own[rows], labels, whole=whole, m=m, distance=column.distance, lookups=lookups
    )


def is_t_close(distances: NDArray[np.float64], t: float) -> NDArray[np.bool_]:
    """Tell which classes are t-close, (m,); sums of floats are given 1e-12."""
    return distances <= t + 1e-12


def class_l_diversity(
    evidence: Evidence, policy: Policy, name: str, limit: LDiversity
) -> NDArray[np.float64]:
    """Measure the diversity of every released class in one sensitive column, (m,).

    Returns:
        Distinct values, exp(entropy), or the recursive ratio r₁/(r_l + …), by the limit's kind.
    """
    classes = evidence.classes
    measured = _l_diversity_of(evidence, policy, name, limit)
    return measured(np.arange(len(classes.labels)), classes.labels, len(classes.sizes))


def _l_diversity_of(evidence: Evidence, policy: Policy, name: str, limit: LDiversity) -> ClassMeasure:
    """Code a sensitive column once, and return what measures classes of some of the released records."""
    codes = narrow_integers(
        code_sensitive_of(evidence.released, name, policy.sensitive[name], folder=evidence.hierarchies)[0]
    )
    if (people := evidence.people) is not None:
        return lambda rows, labels, m: people_diversity(
            codes[rows], labels, people[rows], m=m, kind=limit.kind, l=limit.l
        )
    if limit.kind == "recursive":
        return lambda rows, labels, m: recursive_ratio(codes[rows], labels, l=int(limit.l), m=m)
    measured = distinct_l if limit.kind == "distinct" else entropy_l
    return lambda rows, labels, m: measured(codes[rows], labels, m=m).astype(np.float64)


def is_l_diverse(values: NDArray[np.float64], limit: LDiversity) -> NDArray[np.bool_]:
    """Tell which classes are l-diverse, (m,), from what `class_l_diversity` measured."""
    if limit.kind == "recursive":
        return values < (limit.c if limit.c is not None else math.inf)
    return values >= limit.l - ENTROPY_TOLERANCE


def class_limits(evidence: Evidence, policy: Policy) -> dict[str, ClassLimit]:
    """Return the gate's limits that every class must keep by itself, as `suppress` asks for them.

    Each sensitive column is coded once, however often its limits are asked.
    """
    return {
        f"{kind}.{name}": import_entry(CLASS_LIMITS[kind].breaks)(evidence, policy, name, wanted)
        for kind, limits in policy.class_limits.items()
        for name, wanted in limits.items()
    }


def breaks_t_closeness(evidence: Evidence, policy: Policy, name: str, t: float) -> ClassLimit:
    """Return a function that finds classes farther than t from the whole input in one sensitive column."""
    measured = _t_closeness_of(evidence, policy, name)
    return lambda rows, labels, m: ~is_t_close(measured(rows, labels, m), t)


def breaks_l_diversity(evidence: Evidence, policy: Policy, name: str, limit: LDiversity) -> ClassLimit:
    """Return a function that finds classes that are not diverse enough in one sensitive column."""
    measured = _l_diversity_of(evidence, policy, name, limit)
    return lambda rows, labels, m: ~is_l_diverse(measured(rows, labels, m), limit)


def linking_risk(evidence: Evidence, policy: Policy) -> LinkingRisk:
    """Measure how many released records are linked to their own original.

    Where columns are changed as a whole, by the attacker who links most: by the nearest original in some of
    the columns (`attacked_columns`), or by what the method tells of moves (`risk.informed_linking`).
    """
    originals = require_originals(evidence)
    released = grid_units(evidence.released, policy)
    if policy.whole_columns:
        informed, found = max(_informed_shares(originals, released)), _nearest_originals(originals, released)
        most = max(found, key=lambda one: one.risk)
        success = max(informed, *(one.attacker_success for one in found))
        return replace(most, risk=max(most.risk, informed), attacker_success=success)
    return linking.linking_risk(
        released, originals.own, originals.grid, labels=originals.labels, sort=sorted_originals(originals)
    )


def _nearest_originals(originals: Originals, released: NDArray[np.float64]) -> list[LinkingRisk]:
    """Return whom the nearest original links: in the column that tells most, in two, and so on."""
    return [
        linking.linking_risk(
            released[:, some], originals.own, originals.grid[:, some], labels=originals.labels
        )
        for some in attacked_columns(originals, released)
    ]


def _informed_shares(originals: Originals, released: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the share of records, or people, that each attacker links who knows how columns are changed."""
    rows = np.where((originals.labels >= 0)[:, None], originals.grid, 0.0)
    return linked_shares(
        originals.informed.table(rows, originals.labels, originals.people), released, originals.own
    )


def sorted_originals(
    originals: Originals,
) -> Callable[[NDArray[np.float64], NDArray[np.integer]], SortedClasses]:
    """Return what sorts their grid by class; records of no class may lack a value, and get 0."""

    def sort(grid: NDArray[np.float64], labels: NDArray[np.integer]) -> SortedClasses:
        """Sort the records of each class, or remember that."""
        return originals.tables.sorted_classes(np.where((labels >= 0)[:, None], grid, 0.0), labels)

    return sort


def exact_originals(originals: Originals) -> NDArray[np.int64]:
    """Return the originals on the grid, (n, p); records of no class may lack a value, and get 0."""
    found = np.empty(originals.grid.shape, np.int64)
    for part in slices_of(len(found)):
        found[part] = quantize(np.where((originals.labels[part] >= 0)[:, None], originals.grid[part], 0.0))
    return found


def linking_risk_share(evidence: Evidence, policy: Policy) -> float:
    """Return the largest of `linking_shares`."""
    return max(linking_shares(evidence, policy))


def linking_shares(evidence: Evidence, policy: Policy) -> tuple[float, ...]:
    """Return the share of the released records that each attacker links; of the people with a record that is.

    There are several attackers where columns are changed as a whole, see `linking_risk`; as many for each
    release. Where people are counted, a record is linked if any original of its person is among the nearest.
    """
    people, behind = evidence.people, require_originals(evidence)
    if not policy.whole_columns and (people is None or not policy.perturbed):
        return (linking_risk(evidence, policy).risk,)
    released = grid_units(evidence.released, policy)
    informed = _informed_shares(behind, released) if policy.whole_columns else ()
    if people is None:
        return (*informed, *(one.risk for one in _nearest_originals(behind, released)))
    rows = np.where((behind.labels >= 0)[:, None], behind.grid, 0.0)
    everybody, every = cast("NDArray[np.int64]", behind.people), np.arange(released.shape[1])
    sets = attacked_columns(behind, released) if policy.whole_columns else iter([every])
    shares = (
        linked_share(
            linked_to_people(
                released[:, some], behind.own, rows[:, some], labels=behind.labels, people=everybody
            ),
            people,
        )
        for some in sets
    )
    return (*informed, *shares)


def confident_originals(
    evidence: Evidence, policy: Policy, *, cap: int, drawn: Sequence[Noise] | None = None
) -> NDArray[np.int64]:
    """Count the originals within the confidence interval of each released record, (r,), up to ``cap``.

    Where people are counted, the people of whom an original is there.

    Args:
        policy: with ``suppress.confidence``.
        cap: counts stop there.
        drawn: (p,) what each column's noise is drawn under; None: the policy's.
    Source:
        [KE V-C], ℓ; [methods 7].
    """
    originals = require_originals(evidence)
    released = grid_units(evidence.released, policy)
    return confidence_counter(originals, policy, drawn).counts(
        released, originals.labels[originals.own], cap=cap
    )


def confidence_counter(
    originals: Originals, policy: Policy, drawn: Sequence[Noise] | None = None
) -> ConfidenceTable | PeopleTable:
    """Return what counts the originals within the confidence interval of any values released of them.

    Raises:
        InputError: the policy has no ``suppress.confidence``.
    """
    confidence = policy.suppress.confidence
    if confidence is None:
        raise InputError("suppress.confidence must be given to count the originals within its interval")
    exact = exact_originals(originals)
    drawn, classes = noises(policy) if drawn is None else drawn, compact_labels(originals.labels)
    exact, radius = class_intervals(drawn, exact, classes, confidence=confidence)
    values = exact.astype(np.float64)
    del exact
    labels, people = originals.labels, originals.people
    if people is not None:
        return people_table(values, labels=labels, radius=radius, people=people)
    return confidence_table(values, labels=labels, radius=radius, sort=originals.tables.sorted_classes)


def class_intervals(
    drawn: Sequence[Noise], exact: NDArray[np.int64], classes: EquivalenceClasses, *, confidence: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return what the noise was added to, (n, p), and how far from it a released value lies, (m, p).

    Args:
        drawn: (p,) what each column's noise is drawn under.
        exact: (n, p) original values in grid units.
        classes: of the n records; suppressed ones are in none.
        confidence: that the released value lies within the radius, in (0, 1).
    """
    diameters = class_diameters(exact, classes)
    if any(noise.inputs is not None for noise in drawn):
        exact = np.stack([clamp_inputs(noise, exact[:, j]) for j, noise in enumerate(drawn)], axis=1)
    reach = [
        radius(noise, sensitivities(noise, diameters[:, j]), confidence) for j, noise in enumerate(drawn)
    ]
    return exact, np.stack(reach, axis=1)


def compact_labels(labels: NDArray[np.int64]) -> EquivalenceClasses:
    """Return the classes of labels that are numbered without gaps; −1 is in none."""
    return EquivalenceClasses(labels, np.bincount(labels[labels >= 0]).astype(np.int64))


def suppression(evidence: Evidence) -> float:
    """Return the share of the input that is not released, in [0, 1]; of people who lack a record."""
    originals = require_originals(evidence)
    if originals.people is not None:
        return people_with_gaps(originals.own, originals.people) / (int(originals.people.max()) + 1)
    return sizes.suppression(len(evidence.released), len(originals.frame))
