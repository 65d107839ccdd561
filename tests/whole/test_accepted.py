"""What looking at the noise costs: the enumeration, a simulation of the gate, and the page that shows it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import Noise, draw
from anon_pipeline.policy import Policy, policy_from
from benchmarks.accepted import CASES, Case, accepted, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attacks.md"


def test_the_page_shows_the_table() -> None:
    assert "\n".join(table()) in PAGE.read_text(encoding="utf-8")


def test_a_limit_of_zero_on_two_people_tells_both_values() -> None:
    for epsilon in (1, 2, 4):
        row = accepted(Case((0, 10), Fraction(epsilon), 0, (-10, 20)))
        assert row.after == pytest.approx(1, abs=1e-12)
        assert row.before < 0.99
        assert row.chance > 0


def test_what_is_accepted_whatever_the_noise_is_tells_nothing() -> None:
    for values in ((0, 10), (0, 5, 10)):
        row = accepted(Case(values, Fraction(1), 1, (-10, 20)))
        assert row.chance == pytest.approx(1)
        assert row.after == pytest.approx(row.before)


def policy_of(case: Case) -> Policy:
    height = {"role": "perturb", "resolution": 1, "output_bounds": list(case.bounds)}
    return policy_from(
        {
            "name": "class",
            "source": {"path": "class.csv"},
            "columns": {"town": {"role": "generalize", "hierarchy": {"suppress": True}}, "height": height},
            "anonymize": {"k": len(case.values)},
            "perturb": {"epsilon": float(case.epsilon)},
            "gate": {"linking_risk": case.limit},
        }
    )


@pytest.mark.parametrize("case", [CASES[0], CASES[8], CASES[12]])
def test_the_enumeration_is_what_the_gate_measures(case: Case) -> None:
    policy, m, n = policy_of(case), len(case.values), 400
    originals = pd.DataFrame(
        {RECORD: range(m), CLASS: 0, "town": "*", "height": np.array(case.values, float)}
    )
    noise = Noise("discrete_laplace", case.epsilon)
    wide = np.full(n * m, case.values[-1] - case.values[0])
    drawn = draw(noise, wide, entropy=seeded_entropy(5)).reshape(n, m)
    shares = []
    for row in drawn:
        released = originals.assign(height=np.clip(originals["height"] + row, *case.bounds))
        shares.append(linking_risk(evidence_from(released, policy, originals=originals), policy).risk)
    found = accepted(case)
    kept = np.array(shares) <= case.limit + 1e-9
    assert abs(kept.mean() - found.chance) < 4 * (found.chance / n) ** 0.5
    assert abs(np.mean(shares) - found.expected) < 4 * np.std(shares) / n**0.5
    evidence = evidence_from(originals, policy, originals=originals)
    assert mean_linking_risk(evidence, policy).mean == pytest.approx(found.expected, abs=1e-9)
