"""On random releases, every limit of the table says the same as an expectation and in the gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anon_pipeline.gate import evaluate
from anon_pipeline.gate.great_expectations import gate_batch, suite_for
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.sources.population import Population

OTHERS = {"cross_release_k", "sticky", "rare_values", "rare_together"}  # need a memory, or other columns
Release = Callable[..., Any]
Judged = Callable[[pd.DataFrame, Sequence[ReleaseExpectation]], list[Verdict]]


def _limits(share: float, k: int, noisy: int, linking: str) -> dict[str, Any]:
    """Return every limit of the table that needs no memory."""
    match = [{"region": 1, "age": 1}, *([{"height": 0.9}] if noisy else [])]
    names = ("attacker_success", "assignment_risk", "expected_linking_risk") if noisy else ()
    kinds = ("exact", "threshold", "rules", "probabilistic")
    files = ("prosecutor_risk", "marketer_risk", "sample_uniques", "minimal_uniques")
    attacks: dict[str, Any] = {
        **dict.fromkeys((*names, *files), share),
        **({"averaging": {"releases": 3, "risk": share}} if noisy == 1 else {}),
        "linkage": {**dict.fromkeys(kinds, share), "similarity": 0.8, "match": match},
        "homogeneity": {"illness": share, "town": share},
        "skewness": {"pay": 1 + 3 * share},
        "similarity": dict.fromkeys(("pay", "grade", "place", "town"), share),
        "population": {"path": "register.csv", "journalist_risk": share, "marketer_risk": share},
    }
    return {
        "k": k,
        "t_closeness": dict.fromkeys(("pay", "grade", "illness", "place", "town"), share),
        "l_diversity": {
            "pay": {"kind": "entropy", "l": 1 + 5 * share},
            "illness": {"kind": "distinct", "l": 1 + k % 3},
            "place": {"kind": "recursive", "l": 1 + k % 4, "c": 0.1 + 3 * share},
        },
        "suppression": share,
        "attacks": attacks,
        **({"linking_risk": share, "confidence_k": k, "linking": linking} if noisy else {}),
    }


@settings(max_examples=30, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    made=st.fixed_dictionaries(
        {
            "seed": st.integers(0, 10**6),
            "noisy": st.integers(0, 2),
            "kept": st.sampled_from([0.3, 0.8, 1.0]),
            "noise": st.sampled_from([0, 3, 40]),
        }
    ),
    share=st.floats(0, 1),
    k=st.integers(2, 12),
    linking=st.sampled_from(["expected", "realized"]),
)
def test_every_limit_says_the_same_in_the_gate_and_as_an_expectation(
    release: Release,
    judged_suite: Judged,
    folder: Path,
    *,
    made: dict[str, Any],
    share: float,
    k: int,
    linking: str,
) -> None:
    found = release(gate=_limits(share, k, made["noisy"], linking), n=40, **made)
    random = np.random.default_rng(made["seed"])
    persons = {"region": random.choice(["north", "south"], 80), "age": random.integers(20, 60, 80)}
    known: dict[str, Any] = {
        "hierarchies": folder,
        "population": Population(pd.DataFrame(persons), "0" * 64),
    }
    report = evaluate(found.released, found.policy, originals=found.originals, **known)
    verdicts = {verdict.limit: verdict for verdict in report.verdicts}
    batch = gate_batch(found.released, found.originals, found.policy, **known)
    suite = suite_for(found.policy, hierarchies=folder)
    for expectation, judged in zip(suite.expectations, judged_suite(batch, suite.expectations), strict=True):
        verdict = verdicts.pop(expectation.limit_name)
        assert (judged.status, judged.sense, judged.bound) == (verdict.status, verdict.sense, verdict.bound)
        for one, other in ((judged.value, verdict.value), (judged.realized, verdict.realized)):
            # rows are in another order, and so are the summands of some means
            assert one == (None if other is None else pytest.approx(other, rel=1e-12)), judged
    assert not [name for name in verdicts if limit_of(name).expectation_name]
    if made["noisy"] == 1:
        kinds = {expectation.limit_name.partition(".")[0] for expectation in suite.expectations}
        assert kinds == {limit.name for limit in LIMITS if limit.expectation_name} - OTHERS
