"""Releases with columns that are changed as a whole: made, judged, published, verified, and said plainly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize, make_release
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.catalog.mechanisms import MECHANISMS
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.evidence.measures import linking_risk
from anon_pipeline.evidence.usefulness import simulated_shifts
from anon_pipeline.gate import Status
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Drawn, Means
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune
from tests.few_simulated import simulate_fewer

AMOUNTS = {
    "rank_swapping": 0.1,
    "class_swapping": None,
    "individual_ranking": 5,
    "rounding": 2000,
    "multiplicative_noise": 0.2,
    "correlated_noise": 0.5,
    "resampling": 3,
    "data_shuffling": None,
    "synthesis": None,
    "class_synthesis": None,
}


def policy_of(kind: str, **gate: Any) -> Policy:
    number = {"role": "perturb", "mechanism": kind, "amount": AMOUNTS[kind]}
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "person": {"role": "identifier"},
                "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20, 40]}},
                "city": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {"role": "generalize", "hierarchy": {"suppress": True}},
                "income": {**number, "resolution": 1000, "unit": "EUR"},
                "illness": {"role": "sensitive"},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 5},
            "perturb": {"epsilon": 1, "without_guarantee": True},
            "gate": {"linking_risk": 1.0, "attacks": {"known_columns": KNOWN}, **gate},
        }
    )


KNOWN = [{"columns": ["note"], "risk": 1.0}]


@pytest.fixture
def _fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate fewer copies: for tests of what is not about how exact the simulation is."""
    simulate_fewer(monkeypatch)


def test_every_such_mechanism_is_tested_here() -> None:
    assert set(AMOUNTS) == {name for name, one in MECHANISMS.items() if one.whole_column is not None}


@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.usefixtures("_fewer")
def test_a_release_is_published_and_verified(
    kind: str, small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    people = small_people()
    people.to_csv(tmp_path / "people.csv", index=False)
    policy = policy_of(kind)
    made = make_release(policy, Locations.of(tmp_path, {}))
    told = made.manifest["facts"]["perturbed"]["columns"]["income"]
    assert told == {"mechanism": kind, "amount": AMOUNTS[kind], "resolution": 1000}
    said = made.manifest["facts"]["perturbed"]
    assert said["epsilon"] is None and said["mechanism"] is None  # no column has any
    assert made.manifest["epsilon"] is None
    assert any("guarantees nothing" in line and "income" in line for line in made.manifest["guarantee"])
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    released = pd.read_parquet(made.path)
    assert (released["income"] != people["income"].iloc[: len(released)]).any()
    assert "changed by a method that promises nothing" in made.report_path.read_text("utf-8")


@pytest.mark.parametrize("kind", AMOUNTS)
def test_the_same_key_makes_the_same_release_in_any_order(
    kind: str, small_people: Callable[..., pd.DataFrame]
) -> None:
    policy, people = policy_of(kind), small_people()

    def released(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
        key = NoiseKey(b"s" * 32, seeded=True)
        means = Means(Path(), None, seeded_entropy(1), opens=lambda epsilon, digest: Drawn(key))
        table = pd.DataFrame(run(policy, frame, means).suppressed.frame[policy.released])
        return sorted(map(tuple, table.to_numpy().tolist()))

    assert released(people) == released(people.sample(frac=1, random_state=0).reset_index(drop=True))


def evidence(policy: Policy, incomes: list[list[int]]) -> Evidence:
    """Return the evidence of classes with these incomes, released as they are."""
    labels = np.repeat(np.arange(len(incomes)), [len(each) for each in incomes])
    n = len(labels)
    table = pd.DataFrame(
        {
            "age": [f"age {label}" for label in labels],
            **dict.fromkeys(("city", "height"), ["*"] * n),
            "income": np.concatenate(incomes) * 1000,
            "illness": ["flu"] * n,
            "note": ["a"] * n,
            RECORD: np.arange(n),
            CLASS: labels,
        }
    )
    return evidence_from(table.drop(columns=CLASS), policy, originals=table)


def test_the_simulated_shift_is_that_of_a_random_order() -> None:
    """Of swapping within a class of values x the mean of |y − x| is the mean over all pairs."""
    policy, random = policy_of("class_swapping"), np.random.default_rng(0)
    incomes = [random.integers(0, 1_000, 40).tolist() for _ in range(50)]
    found = simulated_shifts(evidence(policy, incomes), policy)[:, 0].mean()
    exact = np.mean([np.abs(np.subtract.outer(each, each)).mean() for each in incomes])
    assert found == pytest.approx(exact, rel=0.03)


def test_the_mean_linking_risk_of_a_random_order_is_one_in_the_class() -> None:
    policy = policy_of("class_swapping")
    incomes = [list(range(0, 10 * size, 10)) for size in (5, 8, 20, 40)] * 10
    found = mean_linking_risk(evidence(policy, incomes), policy)
    assert found.mean == pytest.approx(4 / (5 + 8 + 20 + 40), abs=4 * found.standard_error + 1e-3)
    assert found.standard_error > 0


@pytest.mark.parametrize("kind", ["rounding", "individual_ranking"])
def test_the_gate_refuses_what_links_too_many(kind: str, small_people: Callable[..., pd.DataFrame]) -> None:
    """Small changes hide nobody: the gate finds it, though the mechanism has no distribution."""
    policy = policy_of(kind, linking_risk=0.05)
    verdict = {each.limit: each for each in anonymize(policy, small_people()).report.verdicts}["linking_risk"]
    assert str(verdict.status) == "refused" and verdict.value is not None and verdict.value > 0.05


def test_what_the_gate_expects_is_what_releases_show() -> None:
    """Of a mechanism without chance the mean over all releases is that of the one."""
    policy = policy_of("rounding")
    random = np.random.default_rng(1)
    before = evidence(policy, [random.integers(0, 60, 12).tolist() for _ in range(30)])
    income = before.released["income"].to_numpy()
    assert before.originals is not None
    rounded = pd.DataFrame(before.released).assign(income=(2 * income + 2000) // 4000 * 2000)
    table = pd.DataFrame(before.originals.frame)
    after = evidence_from(rounded.assign(**{RECORD: table[RECORD]}), policy, originals=table)
    assert mean_linking_risk(before, policy).mean == pytest.approx(linking_risk(after, policy).risk)


@pytest.mark.usefixtures("_fewer")
def test_tuning_has_no_distribution_and_measures_releases(small_people: Callable[..., pd.DataFrame]) -> None:
    points = tune(policy_of("rank_swapping"), small_people(), Grid(k=(5,))).points
    assert len(points) >= 8 and all(one.expected.standard_error[0] > 0 for one in points)


def test_the_guarantee_says_what_swapping_within_classes_keeps() -> None:
    lines = guarantee(policy_of("class_swapping"))
    assert any("in every class exactly the values of the members" in line for line in lines)
    assert not any("ε =" in line for line in lines)


@pytest.mark.usefixtures("_fewer")
def test_a_column_that_is_constant_in_its_class_does_not_blind_attackers() -> None:
    """What tells nothing of a record must not outweigh what does."""
    random, n = np.random.default_rng(0), 600
    people = pd.DataFrame(
        {
            "person": [f"p{at}" for at in range(n)],
            "age": (age := random.integers(20, 80, n)),
            "city": "Cork",
            "height": 170.0,
            "income": random.choice(np.arange(20, 70), n) * 1000,
            "illness": "flu",
            "note": random.choice([f"n{at}" for at in range(20)], n),
        }
    )
    found = []
    for kind in (None, "multiplicative_noise", "correlated_noise", "rank_swapping"):
        attributes = policy_of("rounding").model_dump()
        attributes["anonymize"]["recoder"], levels = "fixed", {"age": 1, "city": 0, "height": 0}
        attributes["anonymize"]["levels"] = levels
        frame = people
        if kind is not None:
            amount = {"mechanism": kind, "amount": AMOUNTS[kind]}
            attributes["columns"]["allowance"] = {"role": "perturb", "resolution": 1, **amount}
            frame = people.assign(allowance=age // 10 * 1000)
        verdicts = anonymize(policy_from(attributes), frame).report.verdicts
        found.append(next(each.value for each in verdicts if each.limit == "known_columns.note") or 0)
    assert found[0] > 0.5 and min(found[1:]) > 0.9 * found[0]


def test_bounds_take_the_sentence_on_what_swapping_keeps_away() -> None:
    attributes = policy_of("class_swapping").model_dump()
    attributes["columns"]["income"]["output_bounds"] = [20_000, 30_000]
    assert not any("exactly the values" in line for line in guarantee(policy_from(attributes)))


def test_a_mix_says_which_columns_nothing_limits() -> None:
    attributes = policy_of("rank_swapping").model_dump()
    attributes["columns"]["height"] = {"role": "perturb", "resolution": 1}
    lines = guarantee(policy_from(attributes))
    assert any("ε values add up" in line for line in lines)
    assert any("both releases together tell more of income than one" in line for line in lines)


def test_a_refusal_advises_what_changes_something(
    small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(GateRefused) as caught:
        make_release(policy_of("rounding", linking_risk=0.01), Locations.of(tmp_path, {}))
    said = " ".join(caught.value.advice)
    assert "take a larger amount" in said and "tune" not in said and "confidence" not in said


@pytest.mark.usefixtures("_fewer")
def test_swapped_columns_do_not_hide_what_a_rounded_one_tells() -> None:
    """An attacker who knows the method leaves swapped columns out; the gate must, too."""
    random, n = np.random.default_rng(0), 800
    number = {"role": "perturb", "resolution": 1}
    swapped = {f"swapped_{at}": {**number, "mechanism": "class_swapping"} for at in range(4)}
    attributes = policy_of("rounding").model_dump(exclude_defaults=True)
    attributes["columns"] |= swapped
    attributes["columns"]["income"] |= {"resolution": 1, "amount": 2}
    attributes["anonymize"] |= {"recoder": "fixed", "levels": {"age": 1, "city": 0, "height": 0}}
    attributes["gate"]["attacks"] |= {"attacker_success": 1.0}
    people = pd.DataFrame(
        {
            "person": [f"p{at}" for at in range(n)],
            "age": random.integers(20, 60, n),
            **dict.fromkeys(("city", "height"), "x"),
            "income": random.integers(0, 60, n),
            "illness": "flu",
            "note": "a",
            **{name: random.integers(0, 100_000, n) for name in swapped},
        }
    )
    alone = policy_from(
        {**attributes, "columns": {k: v for k, v in attributes["columns"].items() if k not in swapped}}
    )
    for changes in ({}, {"linking": "realized"}):
        found = []
        for policy in (alone, policy_from({**attributes, "gate": {**attributes["gate"], **changes}})):
            frame = people[[*policy.columns]]
            values = {each.limit: each.value or 0 for each in anonymize(policy, frame).report.verdicts}
            found.append((values["linking_risk"], values["attacker_success"]))
        assert found[1][0] >= 0.95 * found[0][0] and found[1][1] >= 0.95 * found[0][1]


def test_extreme_values_are_advised_on_although_the_column_is_swapped(
    small_people: Callable[..., pd.DataFrame],
) -> None:
    people = small_people()
    people.loc[0, "income"] = 10_000_000
    verdicts = {each.limit: each for each in anonymize(policy_of("class_swapping"), people).report.verdicts}
    assert str(verdicts["outlying.income"].status) == "warned"


def test_an_epsilon_that_nothing_uses_is_judged_by_nothing(small_people: Callable[..., pd.DataFrame]) -> None:
    attributes = policy_of("class_swapping").model_dump() | {
        "perturb": {"epsilon": 1_000, "without_guarantee": True}
    }
    verdicts = anonymize(policy_from(attributes), small_people()).report.verdicts
    assert not any(each.limit == "accepted.perturb.epsilon" for each in verdicts)


@pytest.mark.usefixtures("_fewer")
def test_one_far_value_does_not_blind_attackers(small_people: Callable[..., pd.DataFrame]) -> None:
    """What a column tells is weighed by its median shift: a single huge one would make it tell nothing."""
    attributes = policy_of("rank_swapping").model_dump()
    attributes["columns"]["income"]["amount"] = 0.01
    swapped = {"role": "perturb", "resolution": 1, "mechanism": "class_swapping"}
    attributes["columns"]["height"] = swapped
    people = small_people()
    people["income"] = np.random.default_rng(0).permutation(len(people)) * 1000
    people["note"] = np.arange(len(people)) % 3
    people["note"] = people["note"].astype(str)
    far = people.copy()
    far.loc[0, "income"] = 10**12
    shares = []
    for frame in (people, far):
        verdicts = anonymize(policy_from(attributes), frame).report.verdicts
        shares.append(next(each.value for each in verdicts if each.limit == "known_columns.note") or 0)
    assert shares[0] > 0.5 and shares[1] > 0.95 * shares[0]


def test_drawn_categories_name_no_mechanism_of_numbers() -> None:
    attributes = policy_of("class_swapping").model_dump(exclude_defaults=True)
    attributes["columns"]["note"] = {
        "role": "perturb",
        "mechanism": "randomized_response",
        "values": ["a", "b"],
    }
    attributes["gate"] = {"linking_risk": 1.0}
    policy = policy_from(attributes)
    assert policy.mechanism_of_numbers is None and policy.noise_epsilon == 1
