"""What attackers of each kind get right on a release, one pure function per limit of ``gate.attacks``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import code_sensitive_of
from anon_pipeline.encode.grids import grid_units, noises
from anon_pipeline.encode.noise import output_bounds
from anon_pipeline.evidence.attacked_columns import median_shifts
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.measures import (
    compact_labels,
    exact_originals,
    linking_risk,
    require_originals,
)
from anon_pipeline.perturb.mechanisms import sensitivities
from anon_pipeline.perturb.noise import class_diameters
from anon_pipeline.policy.attacks import Averaging
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk import expected_linking, uniques
from anon_pipeline.risk.assignment import one_to_one_risk
from anon_pipeline.risk.attributes import (
    class_homogeneity,
    class_similarity,
    class_skewness,
    count_open_classes,
)
from anon_pipeline.risk.averaging import averaging_risk
from anon_pipeline.risk.common_values import one_in_common
from anon_pipeline.risk.expected_linking import NoiseLaw
from anon_pipeline.risk.people import most_of_one
from anon_pipeline.risk.posterior import posterior_risk

_SIMULATED = 2**21  # records whose noise is simulated, all draws together, but for 8 draws at least


def _exact(evidence: Evidence) -> NDArray[np.int64]:
    """Return the originals on the grid, (n, p)."""
    return exact_originals(require_originals(evidence))


def noise_law(evidence: Evidence, policy: Policy) -> NoiseLaw:
    """Return the law of the noise of each class and perturb column."""
    behind = require_originals(evidence)
    moved = np.zeros(0)
    if policy.whole_columns:
        moved = median_shifts(grid_units(evidence.released, policy), behind.grid[behind.own])
    diameters = class_diameters(_exact(evidence), compact_labels(behind.labels))
    return law_by_diameters(diameters, policy, moved=moved)


def law_by_diameters(diameters: NDArray[np.int64], policy: Policy, *, moved: NDArray[np.float64]) -> NoiseLaw:
    """Return the law of the noise of classes whose diameters are known, (m, p).

    Args:
        moved: (p,) median of |y − x| of each column, in grid units, in some release: attackers assume it of
            columns that are changed as a whole. Not looked at without such columns.
    """
    drawn = noises(policy)
    found = [
        np.full_like(diameters[:, j], max(round(float(moved[j])), 1))
        if noise.whole_column
        else sensitivities(noise, diameters[:, j])
        for j, noise in enumerate(drawn)
    ]
    wide = np.stack(found, axis=1) if found else np.empty((len(diameters), 0))
    return NoiseLaw(wide.astype(np.float64), output_bounds(policy), drawn)


def assignment_risk(evidence: Evidence, policy: Policy) -> float:
    """Return the share linked by the nearest, the one-to-one or the most probable original, in [0, 1].

    Whichever links more.

    Raises:
        InputError: this is a file alone, or a class is too large to assign several columns.
    """
    originals = require_originals(evidence)
    rows = np.where((originals.labels >= 0)[:, None], originals.grid, 0.0)
    released = grid_units(evidence.released, policy)
    one_to_one = one_to_one_risk(released, originals.own, rows, labels=originals.labels).risk
    law = noise_law(evidence, policy)
    probable = posterior_risk(released, originals.own, rows, labels=originals.labels, law=law).risk
    return max(one_to_one, probable, linking_risk(evidence, policy).risk)


def expected_linking_risk(evidence: Evidence, policy: Policy) -> float:
    """Return the linking risk that the noise has on average, in [0, 1].

    Of several columns that are too many to enumerate it is simulated, always with the same random numbers,
    and three standard errors are added.
    """
    law = noise_law(evidence, policy)
    labels, random = require_originals(evidence).labels, np.random.default_rng(0)
    draws = min(max(_SIMULATED // len(labels), 8), 64)
    found = expected_linking.expected_linking_risk(_exact(evidence), labels, law, random=random, draws=draws)
    return min(found.risk + 3 * found.standard_error, 1.0)


def averaging(evidence: Evidence, policy: Policy, limit: Averaging) -> float:
    """Return the linking risk that the mean of several releases has on average, in [0, 1]."""
    law, labels = noise_law(evidence, policy), require_originals(evidence).labels
    return averaging_risk(
        _exact(evidence)[:, 0], labels, scales=law.scales[:, 0], releases=limit.releases, noise=law.drawn[0]
    )


def homogeneity(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the records in classes with a single value of a sensitive column, in [0, 1].

    Of the people in such classes, of all in all classes, where these are counted.
    """
    codes, _ = code_sensitive_of(evidence.released, name, policy.sensitive[name], folder=evidence.hierarchies)
    sizes = evidence.class_sizes
    return count_open_classes(
        class_homogeneity(codes, evidence.classes.labels, m=len(sizes)) >= 1, sizes
    ).share


def person_homogeneity(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the people of whom all classes together leave one value, in [0, 1].

    Of all people with a released record: those with records in two classes or more, all with one value of a
    sensitive column, which is the only one that occurs in all of these classes.

    Raises:
        InputError: this is a file alone, or the policy does not say whose records they are.
    """
    people = _people_of(evidence)
    codes, _ = code_sensitive_of(evidence.released, name, policy.sensitive[name], folder=evidence.hierarchies)
    classes = evidence.classes
    return float(one_in_common(codes, classes.labels, people, m=len(classes.sizes)).mean())


def dominance(evidence: Evidence) -> float:
    """Return the share of the people in classes of which one person has more than half of the records.

    Raises:
        InputError: this is a file alone, or the policy does not say whose records they are.
    """
    people, classes = _people_of(evidence), evidence.classes
    most = most_of_one(classes.labels, people, m=len(classes.sizes))
    return count_open_classes(2 * most > classes.sizes, evidence.class_sizes).share


def _people_of(evidence: Evidence) -> NDArray[np.int64]:
    require_originals(evidence)
    if evidence.people is None:
        raise InputError("this limit must be measured on people, which the policy does not name (person)")
    return evidence.people


def skewness(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return how many times as frequent as in the whole input a value is in a class, at most."""
    originals, classes = require_originals(evidence), evidence.classes
    codes, _ = code_sensitive_of(originals.frame, name, policy.sensitive[name], folder=evidence.hierarchies)
    whole = np.bincount(codes[codes >= 0])
    gains = class_skewness(codes[originals.own], classes.labels, whole=whole, m=len(classes.sizes))
    return float(gains.max())


def similarity(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the distance of the two most different values of the class where it is least, in [0, 1]."""
    originals, column, classes = require_originals(evidence), policy.sensitive[name], evidence.classes
    codes, hierarchy = code_sensitive_of(originals.frame, name, column, folder=evidence.hierarchies)
    spreads = class_similarity(
        codes[originals.own],
        classes.labels,
        m=len(classes.sizes),
        distance=column.distance,
        lookups=None if hierarchy is None else hierarchy.lookups,
        occurring=np.bincount(codes[codes >= 0]),
    )
    return float(spreads.min())


def quasi_codes(evidence: Evidence, policy: Policy) -> NDArray[np.int64]:
    """Return the released quasi-identifiers, generalized ones first, as codes in order of value, (r, q)."""
    names = [*policy.generalized, *policy.noisy]
    codes = [pd.factorize(evidence.released[name], sort=True, use_na_sentinel=False)[0] for name in names]
    return np.stack(codes, axis=1).astype(np.int64)


def sample_uniques(evidence: Evidence, policy: Policy) -> float:
    """Return the share of the records that no other equals in all quasi-identifiers, in [0, 1]."""
    return uniques.sample_uniques(quasi_codes(evidence, policy)).share


def minimal_uniques(evidence: Evidence, policy: Policy) -> float:
    """Return the share of the records with a minimal unique of up to three quasi-identifiers, in [0, 1]."""
    return uniques.minimal_uniques(quasi_codes(evidence, policy)).share
