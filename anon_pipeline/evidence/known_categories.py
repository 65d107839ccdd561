"""What an attacker who knows the original of a drawn category links, on average and as it was drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.categories import category_domains, category_noises
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence.evidence import Evidence, people_in
from anon_pipeline.evidence.expectation import Expectation
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.perturb.category_law import CategoryNoise, Domain, pmf
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.noisy_categories import expected_category_linking, right_category_guesses

_NEVER = -1e300  # stands for the logarithm of 0, of which no difference can be taken


def expected_of_category(evidence: Evidence, policy: Policy, name: str) -> Expectation:
    """Return the share of the records that is correctly linked by class and original value, over all draws.

    It is exact: Σ_y max P(y | x) of each class, over the values x that it has. Where people are counted, it
    is a bound: no more people are linked than records.

    Args:
        evidence: with originals; all records in classes count, whichever were released.
        name: a column of drawn categories.
    Raises:
        InputError: a file alone.
    """
    behind = require_originals(evidence)
    return Expectation(
        _expected_share(behind.frame[name], behind.labels, behind.people, _noise(policy, name))
    )


def foreseen_of_category(frame: Table, policy: Policy, name: str) -> float:
    """Return the expected share before the draw; it does not depend on the drawn values.

    Args:
        frame: (n, columns) the table of `k_anonymized`.
        name: as in `expected_of_category`.
    """
    labels = frame[CLASS].to_numpy(np.int64)
    return _expected_share(frame[name], labels, people_in(frame, policy), _noise(policy, name))


def _expected_share(
    values: pd.Series, labels: NDArray[np.int64], people: NDArray[np.int64] | None, noise: CategoryNoise
) -> float:
    inside = labels >= 0
    if not inside.any():
        return 1.0
    linked = expected_category_linking(_codes(values, noise.domain), labels, noise) * int(inside.sum())
    return _of_people(linked, people, inside)


def realized_of_category(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the released records that is correctly linked by the values that were drawn.

    Args:
        evidence: with originals. name: as in `expected_of_category`.
    Raises:
        InputError: a file alone.
    """
    behind, noise = require_originals(evidence), _noise(policy, name)
    right = right_category_guesses(
        _codes(behind.frame[name], noise.domain),
        behind.labels,
        behind.own,
        _codes(evidence.released[name], noise.domain),
        noise,
    )
    released = np.zeros(len(behind.labels), np.bool_)
    released[behind.own] = True
    return _of_people(float(right.sum()), behind.people, released)


def _noise(policy: Policy, name: str) -> CategoryNoise:
    return category_noises(policy)[name]


def _codes(values: pd.Series, domain: Domain) -> NDArray[np.int64]:
    return pd.Index(domain.values).get_indexer(pd.Index(values.astype(object))).astype(np.int64)


def codes_of(frame: Table, policy: Policy) -> NDArray[np.int64]:
    """Return the columns of categories as codes of their domains, (n, c); −1 for no value of it."""
    found = [_codes(frame[name], domain) for name, domain in category_domains(policy).items()]
    return np.stack(found, axis=1) if found else np.empty((len(frame), 0), np.int64)


def category_laws(policy: Policy) -> dict[str, NDArray[np.float64]]:
    """Return ln P(value | original) of each column of drawn categories, (D, D), by codes."""
    with np.errstate(divide="ignore"):
        laws = {name: np.log(pmf(noise)) for name, noise in category_noises(policy).items()}
    return {name: np.maximum(law, _NEVER) for name, law in laws.items()}


def draw_codes(
    codes: NDArray[np.int64], likely: Sequence[NDArray[np.float64]], random: np.random.Generator
) -> NDArray[np.int64]:
    """Draw what would be released of categories, (n, c), to simulate an attack; a release is drawn elsewhere.

    Args:
        codes: (n, c) originals. likely: as of `category_laws`.
    """
    drawn = np.empty_like(codes)
    for column, law in enumerate(likely):
        points = random.random(len(codes))
        for code in np.unique(codes[:, column]).tolist():
            here = codes[:, column] == code
            ends = np.cumsum(np.exp(law[code]))
            drawn[here, column] = np.searchsorted(ends[:-1] / ends[-1], points[here], side="right")
    return drawn


def _of_people(linked: float, people: NDArray[np.int64] | None, records: NDArray[np.bool_]) -> float:
    """Return linked records as a share of records, or of those whose they are."""
    whole = int(records.sum()) if people is None else len(np.unique(people[records]))
    return min(linked / whole, 1.0)
