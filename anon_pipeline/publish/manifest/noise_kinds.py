"""The perturb columns of a policy by the kind of their noise, as guarantees name them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from operator import itemgetter

from anon_pipeline.encode.categories import category_noises
from anon_pipeline.encode.grids import noises
from anon_pipeline.perturb.category_law import CategoryNoise
from anon_pipeline.perturb.mechanisms import Noise
from anon_pipeline.policy.model import Policy


def by_kind(policy: Policy, mechanisms: Iterable[str]) -> dict[tuple[str, str], dict[str, Noise]]:
    """Return the perturb columns with numbers and their noise, sorted, by mechanism and sensitivity.

    Args:
        mechanisms: in the order of the kinds.
    """
    drawn = dict(zip(policy.perturbed, noises(policy), strict=True))
    found: dict[tuple[str, str], dict[str, Noise]] = {}
    for kind in itertools.product(mechanisms, ("class", "declared")):
        columns = {
            name: drawn[name]
            for name, column in sorted(policy.perturbed.items(), key=itemgetter(0))
            if (drawn[name].mechanism, column.sensitivity) == kind
        }
        if columns:
            found[kind] = columns
    return found


def by_choice(policy: Policy, mechanisms: Iterable[str]) -> dict[str, dict[str, CategoryNoise]]:
    """Return the perturb columns with categories, sorted, by mechanism.

    Args:
        mechanisms: in the order of the kinds.
    """
    drawn = sorted(category_noises(policy).items(), key=itemgetter(0))
    found = {kind: {name: noise for name, noise in drawn if noise.mechanism == kind} for kind in mechanisms}
    return {kind: columns for kind, columns in found.items() if columns}
