"""What a band and the advice after a refusal tell of one record to an attacker who knows all others.

Both are step functions of the originals. Where a step lies between the candidates for the unknown record, it
rules some of them out; anywhere else it tells nothing. The worst case is made on purpose: ε, or a bound, is
set after a look at the originals so that a step lies in the middle of the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.base.audience import Audience
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.known_attack import known_attack
from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.verdicts import band_of
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest.numbers import all_numbers
from anon_pipeline.stages.private import Staged
from anon_pipeline.tuning.advise import advise
from anon_pipeline.tuning.expect import expect
from anon_pipeline.tuning.recode_input import input_to_recode, recode_input
from tests.adversarial.test_audiences import View, attack, nothing_gained, tables_of, view_of

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
HEIGHTS = np.arange(120, 200, 4)
"""The candidates for the unknown height: 20, each equally likely."""
EDGE = 0.2
"""Of two bands."""


def policy_with(small_policy: Small, epsilon: float) -> Policy:
    known = {"known_columns": [{"columns": ["note"], "risk": 1}]}
    return small_policy(
        perturb={"epsilon": epsilon}, suppress=None, gate={"linking_risk": 1.0, "attacks": known}
    )


def released_of(originals: pd.DataFrame) -> pd.DataFrame:
    """Return the release, the same for every candidate, whatever was drawn."""
    return originals.iloc[:-1].assign(height=170.0).reset_index(drop=True)


def view_at(small_policy: Small, epsilon: float, originals: pd.DataFrame) -> View:
    """Return the share that is linked by who knows the note, and all that is told of a release."""
    policy = policy_with(small_policy, epsilon)
    return view_of(policy, originals, "known_columns.note", released_of(originals))


def share_at(small_policy: Small, epsilon: float, originals: pd.DataFrame) -> float:
    """Return the share alone."""
    policy = policy_with(small_policy, epsilon)
    evidence = evidence_from(released_of(originals), policy, originals=originals)
    return known_attack(evidence, policy).over_noise(["note"]).judged


def candidates(seed: int) -> list[pd.DataFrame]:
    """Return 300 records in classes of 20, one more that is suppressed, once for each candidate."""
    known, random = tables_of(15, 20, seed)
    known["note"] = random.choice(["a", "b"], len(known))
    return [known.assign(height=[float(one), *known["height"][1:]]) for one in HEIGHTS]


def epsilon_at_edge(small_policy: Small, tables: list[pd.DataFrame]) -> float:
    """Return an ε at which the shares of half of the candidates are above the edge of two bands."""
    shares = [share_at(small_policy, 2.4, one) for one in tables]
    median, low, high = tables[int(np.argsort(shares)[len(shares) // 2])], 0.5, 8.0
    while high - low > 0.01:
        middle = round((low + high) / 2, 3)
        if share_at(small_policy, middle, median) > EDGE:
            high = middle
        else:
            low = middle
    near = [round(low + 0.002 * step, 3) for step in range(-5, 10)]  # shares are simulated: they jitter in ε
    return min(near, key=lambda one: abs(share_at(small_policy, one, median) - EDGE))


def test_a_band_tells_a_bit_where_its_edge_lies_between_the_candidates(small_policy: Small) -> None:
    """Which band it is halves the candidates at best: the chance of 1 in 20 becomes 2 in 20."""
    tables: list[list[View]] = []
    for seed in range(10):
        heights = candidates(seed)
        epsilon = epsilon_at_edge(small_policy, heights)
        shares = [share_at(small_policy, epsilon, one) for one in heights]
        tables.append([(share, band_of(share)) for share in shares])
    exact, told = attack(tables)
    assert exact.interval[0] > 5 * exact.chance
    assert told.interval[0] > told.chance
    assert told.right / told.trials <= 2 * told.chance + 1e-9


def test_a_band_tells_nothing_where_no_edge_is_near(small_policy: Small) -> None:
    tables: list[list[View]] = []
    for seed in range(10):
        epsilon = round(0.5 * 32 ** (seed / 9), 2)  # from 0.5 to 16, none chosen by the data
        tables.append([view_at(small_policy, epsilon, one) for one in candidates(100 + seed)])
    exact, told = attack(tables)
    assert exact.interval[0] > 5 * exact.chance
    assert nothing_gained(told)


def risk_at(policy: Policy, before: Staged) -> float:
    """Return the linking risk that advice is computed from."""
    table = recode_input(policy, before)
    return expect(policy, table, entropy=seeded_entropy(0)).linking_released


def advice_at(small_policy: Small, bound: float, before: Staged) -> str:
    """Return the advice after a refusal by the linking risk."""
    policy = demanding(small_policy, 4, bound)
    lines = advise(policy, lambda: before, ["linking_risk"], hierarchies=Path())
    assert "is expected to pass" in lines[0]
    return "\n".join(lines)


def demanding(small_policy: Small, epsilon: float, bound: float) -> Policy:
    return small_policy(
        perturb={"epsilon": epsilon}, gate={"k": None, "suppression": None, "linking_risk": bound}
    )


def test_advice_tells_a_bit_where_a_change_just_passes_and_else_nothing(
    small_policy: Small, small_people: People
) -> None:
    """The change of half the ε passes for some candidates only, where the bound was set for that."""
    edge: list[list[View]] = []
    usual: list[list[View]] = []
    for seed in range(10):
        known = small_people(40, seed=seed)
        half, others = demanding(small_policy, 2, 1.0), known["height"][1:]
        heights = [input_to_recode(half, known.assign(height=[one, *others])) for one in HEIGHTS]
        risks = [risk_at(half, one) for one in heights]
        for tables, bound in (
            (edge, float(np.median(risks))),
            (usual, math.ceil(max(risks) * 20) / 20),  # in steps of 0.05, as people write them
        ):
            told = [advice_at(small_policy, bound, one) for one in heights]
            tables.append(list(zip(risks, told, strict=True)))
    exact, seen = attack(edge)
    assert exact.interval[0] > 5 * exact.chance
    assert seen.interval[0] > seen.chance
    assert seen.right / seen.trials <= 2 * seen.chance + 1e-9
    assert nothing_gained(attack(usual)[1])


def test_what_is_measured_here_is_what_is_declared() -> None:
    """Were a band of more limits published, or advice to more readers, this page would lack an attack."""
    advice = [number for _, name, number in all_numbers() if "advice" in name]
    assert {number.to for number in advice} == {Audience.OPERATOR}
    assert [limit.name for limit in LIMITS if limit.published.banded] == ["known_columns"]
