"""Limits on linking are judged on the mean over the noise: equal for all draws, and the mean that it says."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence import expectation as module
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.expectation import Expectation, expectation, mean_linking_risk
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.stages.pipeline import perturbed, run, shuffled, suppressed
from anon_pipeline.stages.private import Chain, Means, Staged

ATTACKS = {
    "attacker_success": 1,
    "assignment_risk": 1,
    "expected_linking_risk": 1,
    "linkage": {"exact": 1, "threshold": 1, "similarity": 0.8, "probabilistic": 1},
}


def people(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "town": rng.choice(["Cork", "Galway", "Sligo"], n),
            "height": rng.normal(170, 12, n).round(),
            "weight": rng.normal(70, 15, n).round(),
            "illness": rng.choice(["flu", "gout", "none"], n, p=[0.6, 0.1, 0.3]),
        }
    )


def policy_of(
    *, noisy: int = 1, epsilon: float = 4, confidence: float | None = None, k: int = 5, **gate: Any
) -> Policy:
    perturb = {"role": "perturb", "unit": "cm", "resolution": 1}
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": perturb,
                "weight": perturb if noisy == 2 else {"role": "insensitive"},
                "illness": {"role": "sensitive", "distance": "equal"},
            },
            "anonymize": {"k": k, "suppression_limit": 0.2},
            "perturb": {"epsilon": epsilon},
            "suppress": {"confidence": confidence},
            "gate": gate,
        }
    )


def chain(policy: Policy, frame: pd.DataFrame, seed: int = 0) -> Chain:
    return run(policy, frame, Means(Path(), None, seeded_entropy(seed)))


def drawn(policy: Policy, recoded: Staged, seed: int) -> Staged:
    """Draw other noise for the same recoded table."""
    entropy = seeded_entropy(seed)
    return shuffled(policy, perturbed(policy, recoded, entropy=entropy), entropy=entropy)


def left(policy: Policy, staged: Staged, recoded: Staged) -> pd.DataFrame | None:
    """Go on from drawn noise to the release; None where nobody is left."""
    try:
        return suppressed(policy, staged, recoded).frame
    except InfeasibleError:
        return None


def again(policy: Policy, recoded: Staged, seed: int) -> pd.DataFrame | None:
    """Draw other noise for the same recoded table, and go on to the release."""
    return left(policy, drawn(policy, recoded, seed), recoded)


def on_linking(report: GateReport) -> dict[str, tuple[Status, float | None]]:
    names = ("linking_risk", "attacker_success", "assignment_risk", "expected_linking_risk", "linkage")
    chosen = [v for v in report.verdicts if v.limit.startswith(names)]
    return {v.limit: (v.status, v.value) for v in chosen}


@pytest.mark.parametrize(("noisy", "confidence"), [(1, None), (1, 0.9), (2, None), (2, 0.9)])
def test_the_verdicts_are_equal_for_different_draws_and_orders_of_the_same_input(
    noisy: int, confidence: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SIMULATED_RECORDS", 2**13)  # equal, however exact they are
    policy = policy_of(
        noisy=noisy, confidence=confidence, linking_risk=0.2, t_closeness={"illness": 0.5}, attacks=ATTACKS
    )
    recoded = chain(policy, people()).k_anonymized
    rng, found, realized = np.random.default_rng(0), [], set()
    for seed in range(3):
        release = again(policy, recoded, seed)
        order = rng.permutation(len(recoded.frame))
        report = evaluate(release, policy, originals=recoded.frame.iloc[order])
        found.append(on_linking(report))
        realized |= {v.realized for v in report.verdicts if v.limit == "linking_risk"}
    assert found == [found[0]] * 3
    assert len(found[0]) == 7
    assert len(realized) > 1  # the draws do differ


def test_the_numbers_of_the_classes_do_not_matter() -> None:
    policy = policy_of(noisy=2, confidence=0.9, linking_risk=0.2)
    made = chain(policy, people())
    named = made.k_anonymized.frame
    most = int(named[CLASS].max())
    turned = named.assign(**{CLASS: np.where(named[CLASS] >= 0, most - named[CLASS], -1)})
    reports = [evaluate(made.suppressed.frame, policy, originals=table) for table in (named, turned)]
    assert on_linking(reports[0]) == on_linking(reports[1])


Draws = tuple[Chain, list[Staged]]


@pytest.fixture(
    scope="module",
    params=[(1, 2, {}), (1, 20, {"t_closeness": {"illness": 0.3}}), (2, 8, {})],
)
def draws(request: pytest.FixtureRequest) -> tuple[Callable[..., Policy], Draws]:
    """What makes the policy of a confidence, and 120 draws of noise, of which the confidence is no part."""
    noisy, epsilon, gate = request.param
    policy = partial(policy_of, noisy=noisy, epsilon=epsilon, **gate)
    made = chain(policy(), people(60))
    return policy, (made, [drawn(policy(), made.k_anonymized, seed) for seed in range(1, 121)])


@pytest.mark.parametrize("confidence", [None, 0.7, 0.99])
def test_the_mean_is_that_of_many_releases(
    draws: tuple[Callable[..., Policy], Draws], confidence: float | None
) -> None:
    policy, (made, noise) = draws[0](confidence=confidence), draws[1]
    linked, released = [], []
    for staged in noise:
        release = left(policy, staged, made.k_anonymized)
        if release is not None:
            risk = linking_risk(evidence_from(release, policy, originals=made.k_anonymized.frame), policy)
            linked.append(risk.linked)
            released.append(risk.released)
    mean = sum(linked) / sum(released)
    error = float(np.std(np.array(linked) - mean * np.array(released), ddof=1)) * 120**0.5 / sum(released)
    whole = chain(policy, people(60))
    evidence = evidence_from(whole.suppressed.frame, policy, originals=whole.k_anonymized.frame)
    found = mean_linking_risk(evidence, policy)
    assert found.draws == 0 or found.standard_error < 0.01
    assert mean - 4 * error <= found.judged <= mean + 4 * error + 0.02 * mean + 6 * found.standard_error


def test_one_column_without_confidence_and_few_records_of_two_are_exact() -> None:
    for noisy in (1, 2):
        policy = policy_of(noisy=noisy, k=2, linking_risk=1)
        frame = pd.DataFrame(
            {"town": ["Cork"] * 2, "height": [170.0, 171], "weight": [70.0, 71], "illness": ["flu"] * 2}
        )
        made = chain(policy, frame)
        evidence = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
        found = mean_linking_risk(evidence, policy)
        assert (found.standard_error, found.draws) == (0.0, 0)
        q = np.exp(-4 / noisy)
        below = q / (1 + q)  # of each column: the noise is beyond the middle of 0 and 1
        one = 1 - below
        if noisy == 1:
            assert found.mean == pytest.approx(one, abs=1e-12)


def test_the_upper_bound_of_one_column_is_above_the_simulated_mean_and_near_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = 0
    for seed in range(6):
        for confidence in (0.99, 0.999):
            policy = policy_of(confidence=confidence, epsilon=2 + 3 * seed, k=8)
            made = chain(policy, people(150, seed))
            evidence = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
            bound = mean_linking_risk(evidence, policy)
            simulated = expectation(evidence, policy, lambda e, p: linking_risk(e, p).risk, together=True)
            assert bound.draws == 0 or bound == simulated
            if bound.draws == 0:
                used += 1
                assert bound.mean >= simulated.mean - 4 * simulated.standard_error
                assert bound.mean <= simulated.mean * 1.011 + 4 * simulated.standard_error
    assert used


def linking_verdict(report: GateReport) -> Verdict:
    return next(verdict for verdict in report.verdicts if verdict.limit == "linking_risk")


def test_a_simulated_value_is_judged_three_standard_errors_above_its_mean() -> None:
    assert Expectation(0.2, 0.01, 8).judged == pytest.approx(0.23)
    assert Expectation(0.99, 0.01, 8).judged == 1.0
    policy = policy_of(noisy=2, confidence=0.9, linking_risk=1)
    made = chain(policy, people())
    evidence = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
    found = mean_linking_risk(evidence, policy)
    assert found.standard_error > 0
    verdict = linking_verdict(evaluate(made.suppressed.frame, policy, originals=made.k_anonymized.frame))
    assert verdict.value == found.judged == found.mean + 3 * found.standard_error


def test_a_draw_that_links_nobody_is_not_taken_for_certainty() -> None:
    policy = policy_of(noisy=2, confidence=0.9)
    made = chain(policy, people())
    evidence = evidence_from(made.suppressed.frame, policy, originals=made.k_anonymized.frame)

    def nobody(drawn: Evidence, under: Policy) -> float:
        return 0.0

    found = expectation(evidence, policy, nobody)
    assert found.mean == 0
    assert found.judged > 0


def test_two_people_cannot_pass_a_limit_of_zero_by_any_draw() -> None:
    """The case that gave both values away: k = 2, ε = 1, linking_risk: 0, tried until it passed."""
    frame = pd.DataFrame(
        {"town": ["Cork"] * 2, "height": [160.0, 180], "weight": [70.0, 71], "illness": ["flu"] * 2}
    )
    policy = policy_of(k=2, epsilon=1, linking_risk=0)
    recoded = chain(policy, frame).k_anonymized
    releases = [again(policy, recoded, seed) for seed in range(40)]
    reports = [evaluate(release, policy, originals=recoded.frame) for release in releases]
    verdicts = [next(v for v in report.verdicts if v.limit == "linking_risk") for report in reports]
    assert any(verdict.realized == 0 for verdict in verdicts)  # by these the old gate let it pass
    assert {verdict.status for verdict in verdicts} == {Status.REFUSED}
    assert len({verdict.value for verdict in verdicts}) == 1


def test_a_policy_may_judge_what_was_realized_and_says_so() -> None:
    expected = policy_of(linking_risk=0.5, attacks={"assignment_risk": 0.9, "linkage": {"exact": 0.9}})
    realized = policy_of(
        linking_risk=0.5, linking="realized", attacks={"assignment_risk": 0.9, "linkage": {"exact": 0.9}}
    )
    made = chain(expected, people())
    told = [
        {v.limit: v for v in evaluate(made.suppressed.frame, p, originals=made.k_anonymized.frame).verdicts}
        for p in (expected, realized)
    ]
    for limit in ("linking_risk", "assignment_risk", "linkage.exact"):
        assert told[1][limit].realized is None
        assert told[1][limit].value == told[0][limit].realized
        assert told[1][limit].value != told[0][limit].value
    said = [line for line in guarantee(realized) if line.startswith("The gate looked at the drawn noise")]
    assert said == [
        "The gate looked at the drawn noise: linking_risk, assignment_risk, linkage.exact, "
        "known_columns.illness, known_columns.weight, known_columns.illness + weight held of the noise "
        "of this release, and that it was accepted tells more of the original values than ε says."
    ]
    assert not [line for line in guarantee(expected) if "looked at the drawn noise" in line]
    (alone,) = [line for line in guarantee(policy_of(linking="realized")) if "looked at" in line]
    assert "linking_risk, known_columns.illness" in alone  # what everybody is asked for


def test_what_was_realized_is_shown_beside() -> None:
    policy = policy_of(linking_risk=0.5)
    made = chain(policy, people())
    report = evaluate(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
    verdict = linking_verdict(report)
    assert verdict.measured == f"{verdict.value:.6g}, realized {verdict.realized:.6g}"
    assert verdict.as_text() == "linking_risk (at most 0.5) passed"
    assert not [item for item in report.to_json()["verdicts"] if "realized" in item]


def test_on_a_file_alone_they_stay_unmeasured() -> None:
    policy = policy_of(linking_risk=0.5, attacks=ATTACKS)
    table = chain(policy, people()).suppressed.frame.drop(columns=[RECORD, CLASS])
    found = on_linking(evaluate(table, policy))
    assert set(found.values()) == {(Status.UNMEASURED, None)}


def test_where_no_draw_leaves_a_record_everybody_counts_as_linked(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = policy_of(noisy=2, confidence=0.9, linking_risk=0.99)
    made = chain(policy, people())
    monkeypatch.setattr(module.DrawingTable, "draw_release", lambda self, entropy: None)
    verdict = linking_verdict(evaluate(made.suppressed.frame, policy, originals=made.k_anonymized.frame))
    assert (verdict.status, verdict.value) == (Status.REFUSED, 1.0)
    strict = policy_of(noisy=2, t_closeness={"illness": 0.0}, linking_risk=0.99)  # no class keeps it
    verdict = linking_verdict(evaluate(made.suppressed.frame, strict, originals=made.k_anonymized.frame))
    assert (verdict.status, verdict.value) == (Status.REFUSED, 1.0)
