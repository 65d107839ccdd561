"""Noise that is not drawn twice: which noisy values were published already and stay.

Decision: docs/adr/0012-sticky-spends-what-changed.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.encode.categories import noisy_units
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.encode.grids import epsilon_shares
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.later_rules import broken_since
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.history.memory import Memory, noise_terms, normalize_persons, protected_values


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """Noisy values that were published before, in the order of `Policy.noisy`.

    noisy: (n, p) grid units, or codes of a domain; without meaning where ``known`` is False.
    known: (n, p) whether the record's value was published under equal original value and terms.
    booked: (n, p) whether the ε of that is booked, too; only where it is known.
    """

    noisy: NDArray[np.int64] = field(repr=False)
    known: NDArray[np.bool_] = field(repr=False)
    booked: NDArray[np.bool_] = field(repr=False)


def recall(memory: Memory, policy: Policy, frame: Table, originals: NDArray[np.int64]) -> Recalled:
    """Look up what was published of each record's value, whatever class it is in.

    The scale of noise that stays is public. So one draw hides the value in every class, and another class is
    no reason for another draw, which would cost ε anew. Noise that is scaled to a class is never found.

    Args:
        memory: what was published.
        policy: names the columns; its ε shares, resolutions and bounds must be those of then.
        frame: (n, columns) with the people.
        originals: (n, p) original values in grid units or codes, see `noisy_units`.
    """
    noisy, release = np.zeros(originals.shape, np.int64), np.full(originals.shape, -1, np.int64)
    known = np.zeros(originals.shape, np.bool_)
    memory, persons = normalize_persons(memory, frame[PERSON])
    wanted, hidden = pd.DataFrame({"person": persons}), protected_values(policy, originals)
    lasting = policy.lasting
    for j, (name, under) in enumerate(noise_terms(policy).items()):
        if name not in lasting:
            continue
        rows = (memory.values["column"] == name) & (memory.values["terms"] == under)
        stored = memory.values.loc[rows, [*wanted.columns, "original", "noisy", "release"]]
        stored = stored.reset_index(drop=True)
        place = wanted.assign(original=hidden[:, j]).merge(
            stored.drop(columns=["noisy", "release"]).assign(place=np.arange(len(stored))),
            how="left",
            validate="1:1",
        )["place"]
        known[:, j] = place.notna()
        found = place.dropna().to_numpy(np.int64)
        noisy[known[:, j], j] = stored["noisy"].to_numpy(np.int64)[found]
        release[known[:, j], j] = stored["release"].to_numpy(np.int64)[found]
    return Recalled(noisy, known, release >= 0)


def largest_spent(drawn: NDArray[np.bool_], shares: Sequence[Fraction]) -> Fraction:
    """Return the largest ε that any record spends, when only some of its columns get fresh noise.

    Args:
        drawn: (n, p) whether the value's noise is fresh.
        shares: (p,) the columns' shares of a record's ε.
    """
    patterns = np.unique(drawn, axis=0) if drawn.size else np.empty((0, len(shares)), np.bool_)
    spent = [sum((s for s, d in zip(shares, row, strict=True) if d), Fraction(0)) for row in patterns]
    return max(spent, default=Fraction(0))


def sticky_noise(
    policy: Policy, frame: Table, originals: NDArray[np.int64], *, memory: Memory | None
) -> Recalled:
    """Return the noise that stays: what `recall` finds if the policy is sticky, else none.

    Args:
        originals: (n, p) original values in grid units or codes, see `noisy_units`.
        memory: what was published; None without ``record_key``.
    Raises:
        InputError: ``record_key`` without a memory, or a memory without it; or one that must know somebody
            of the table and does not, see `memory.normalize_persons`: before noise is drawn.
        PolicyError: noise that may not stay, in a policy that was read to verify what it has made.
    """
    if (policy.record_key is None) != (memory is None):
        raise InputError("the memory of what was published must be given with record_key, and only with it")
    if memory is not None:
        normalize_persons(memory, frame[PERSON])
    if memory is None or policy.perturb is None or policy.perturb.republish == "fresh":
        none = np.zeros(originals.shape, np.bool_)
        return Recalled(np.zeros_like(originals), none, none)
    if broken := broken_since({"columns": policy.columns, "perturb": policy.perturb}):
        raise PolicyError(broken)
    return recall(memory, policy, frame, originals)


def epsilon_to_book(policy: Policy, stays: Recalled) -> Fraction:
    """Return the ε that a release is booked with, before its noise is drawn: of what is not booked yet."""
    if policy.perturb is None or policy.noise_epsilon is None:
        return Fraction(0)
    if policy.perturb.republish == "fresh":
        return exact_fraction(policy.noise_epsilon)
    return largest_spent(~stays.booked, epsilon_shares(policy))


def composition(policy: Policy, stays: Recalled, *, memory: Memory | None) -> dict[str, Any] | None:
    """Say what a release's noise adds to those before it: counts and ε; None without ``record_key``."""
    if memory is None:
        return None
    return {
        "releases_before": len(memory.releases),
        "values_reused": int(stays.known.sum()),
        "values_drawn": int((~stays.known).sum()),
        "epsilon_spent": str(epsilon_to_book(policy, stays)),
    }


def count_redrawn(noisy: NDArray[np.int64], known: NDArray[np.bool_], released: NDArray[np.int64]) -> int:
    """Count the values that were published and are released as others.

    Args:
        noisy: (r, p) as they were published, grid units; without meaning where ``known`` is False.
        known: (r, p) whether they were.
        released: (r, p) grid units.
    """
    return int((known & (noisy != released)).sum())


def spent_since(memory: Memory, policy: Policy, originals: Table, *, records: pd.Series) -> Fraction:
    """Return the largest ε that a record of a sticky release spends beyond what was published by now.

    Args:
        memory: what was published, perhaps by another run since the noise was drawn.
        originals: (n, columns) the table of `k_anonymized`.
        records: (r,) ids of the records to be released.
    """
    behind = unpack_table(originals).set_index(RECORD).loc[records].reset_index()
    known = recall(memory, policy, behind, noisy_units(behind, policy)).known
    return largest_spent(~known, epsilon_shares(policy))
