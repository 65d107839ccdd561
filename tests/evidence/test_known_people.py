"""People linked by known columns, over the noise: against exact sums and many releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.encode.codes import CLASS
from anon_pipeline.evidence import known_attack as module
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.known_attack import KnownAttack, known_attack
from anon_pipeline.evidence.known_people import in_order
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import pmf
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.pipeline import perturbed, run, shuffled, suppressed
from anon_pipeline.stages.private import Chain, Means, Staged

KEY = b"0123456789abcdef0123456789abcdef"
SETS = (("illness",), ("ward",), ("ward", "illness"))


def visits(persons: int = 60, most: int = 3, seed: int = 0) -> pd.DataFrame:
    """Return visits of people who have one to ``most`` each, in one town each, about as heavy each time."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), rng.integers(1, most + 1, persons))
    n = len(who)
    return pd.DataFrame(
        {
            "name": [f"person {one}" for one in who],
            "town": np.array(["Cork", "Galway", "Sligo"])[who % 3],
            "weight": (rng.normal(70, 12, persons)[who] + rng.normal(0, 1, n)).round(),
            "illness": rng.choice(["flu", "gout", "none"], n, p=[0.6, 0.1, 0.3]),
            "ward": np.array(["a", "b"])[who % 2],
        }
    )


def policy_of(
    *,
    person: bool = True,
    noise: bool = True,
    epsilon: float = 8,
    confidence: float | None = None,
    rows: int = 3,
    mechanism: str = "discrete_laplace",
    **gate: Any,
) -> Policy:
    drop: dict[str, Any] = {"role": "identifier", "action": "drop"}
    sections: dict[str, Any] = {"person": "name", "deidentify": {"key_env": "UNUSED"}} if person else {}
    if noise:
        sections |= {"suppress": {"confidence": confidence}}
        sections |= {"perturb": {"epsilon": epsilon, "mechanism": mechanism}}
        sections["perturb"] |= {"without_guarantee": True} if mechanism == "uniform" else {}
        sections |= {"rows_per_person": rows} if person else {}
    return policy_from(
        {
            "name": "visits",
            "source": {"path": "visits.csv"},
            "columns": {
                "name": drop,
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "weight": {"role": "perturb", "unit": "kg", "resolution": 1} if noise else drop,
                "illness": {"role": "sensitive", "distance": "equal"},
                "ward": {"role": "insensitive"},
            },
            "anonymize": {"k": 5, "suppression_limit": 0.2},
            "gate": gate,
            **sections,
        }
    )


def chain(policy: Policy, frame: pd.DataFrame) -> Chain:
    return run(policy, frame, Means(Path(), KEY, seeded_entropy(0)))


def again(policy: Policy, recoded: Staged, seed: int) -> pd.DataFrame | None:
    entropy = seeded_entropy(seed)
    staged = shuffled(policy, perturbed(policy, recoded, entropy=entropy), entropy=entropy)
    try:
        return suppressed(policy, staged, recoded).frame
    except InfeasibleError:
        return None


def evidence(policy: Policy, made: Chain, release: pd.DataFrame | None = None) -> Evidence:
    shown = made.suppressed.frame if release is None else release
    return evidence_from(shown, policy, originals=made.k_anonymized.frame)


def exact_share(given: Evidence, policy: Policy, attack: KnownAttack, columns: Sequence[str]) -> float:
    """Enumerate all outputs of the records of each person, in plain loops; nobody is left out.

    Whether somebody is linked depends on nothing but the outputs of his own records.
    """
    behind, (noise,) = given.originals, attack.hidden.law.drawn
    assert behind is not None and behind.people is not None
    known = behind.frame[list(columns)].astype(str).agg(" ".join, axis=1)
    keys, x = list(zip(behind.labels.tolist(), known, strict=True)), behind.grid[:, 0]
    wide = {label: int(np.ptp(x[behind.labels == label])) for label in set(behind.labels.tolist())}
    tables, cells = {}, {key: [i for i, one in enumerate(keys) if one == key] for key in set(keys)}
    for key, rows in cells.items():
        outputs = np.arange(x[rows].min() - 400, x[rows].max() + 401)
        chances = {i: pmf(noise, outputs - x[i], np.full(len(outputs), wide[key[0]])) for i in rows}
        sums: dict[int, Any] = {}
        for i in rows:
            sums[behind.people[i]] = sums.get(behind.people[i], 0) + chances[i]
        top = np.max(list(sums.values()), axis=0) * (1 - 1e-9)
        tied = [frozenset(p for p in sums if sums[p][j] >= top[j]) for j in range(len(outputs))]
        for i in rows:
            of = [(key, one) for one in tied]
            own: dict[Any, float] = {}  # by the lot that decides: its chance; None: the guess is wrong
            for lot, likely in zip(of, chances[i], strict=True):
                name = lot if behind.people[i] in lot[1] else None
                own[name] = own.get(name, 0.0) + float(likely)
            tables[i] = own
    linked = []
    for person in set(behind.people.tolist()):
        mixed: dict[frozenset[Any], float] = {frozenset(): 1.0}  # chance of each set of lots
        for i in np.flatnonzero(behind.people == person).tolist():
            after: dict[frozenset[Any], float] = {}
            for lots, before in mixed.items():
                for lot, likely in tables[i].items():
                    joined = lots if lot is None else lots | {lot}
                    after[joined] = after.get(joined, 0.0) + before * likely
            mixed = after
        missed = sum(c * float(np.prod([1 - 1 / len(s) for _, s in lots])) for lots, c in mixed.items())
        linked.append(1 - missed)
    return float(np.mean(linked))


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "uniform"])
@pytest.mark.parametrize("epsilon", [2, 20])
def test_the_mean_is_the_sum_over_all_outputs(mechanism: str, epsilon: float) -> None:
    policy = policy_of(mechanism=mechanism, epsilon=epsilon)
    made = chain(policy, visits(20, most=3))
    given = evidence(policy, made)
    attack = known_attack(given, policy)
    for columns in SETS:
        found, exact = attack.over_noise(columns), exact_share(given, policy, attack, columns)
        assert found.draws == 8
        assert abs(found.mean - exact) < 5 * found.standard_error + 1e-9
        assert found.standard_error < 0.01


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_it_is_equal_for_different_draws_and_orders_of_the_same_input(confidence: float | None) -> None:
    policy = policy_of(confidence=confidence)
    made, found = chain(policy, visits()), []
    for seed in range(2):
        release = again(policy, made.k_anonymized, seed)
        order = np.random.default_rng(seed).permutation(len(made.k_anonymized.frame))
        originals = made.k_anonymized.frame.iloc[order]
        attack = known_attack(evidence_from(release, policy, originals=originals), policy)
        found.append([attack.over_noise(columns) for columns in SETS])
    assert found[0] == found[1]


@pytest.mark.parametrize("pairs", [2**21, 2**9])
def test_the_mean_is_that_of_many_releases(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few pairs, only some people are looked at: the mean stays, its error grows."""
    policy = policy_of(confidence=0.9)
    made = chain(policy, visits(90))
    shares = []
    for seed in range(1, 101):
        release = again(policy, made.k_anonymized, seed)
        if release is not None:
            given = evidence(policy, made, release)
            attack = known_attack(given, policy) if not shares else attack  # noqa: F821 - of the same table
            people = given.people
            assert people is not None
            shares.append((attack.realized_share(given, policy, ["illness"]), len(np.unique(people))))
    share, weights = np.array(shares).T
    mean, spread = share @ weights / weights.sum(), share.std(ddof=1) / len(share) ** 0.5
    monkeypatch.setattr(module, "_PAIRS_OF_PEOPLE", pairs)
    found = known_attack(given, policy).over_noise(["illness"])
    assert abs(found.mean - mean) < 4 * (spread + found.standard_error)
    assert (found.standard_error < 0.006) == (pairs > 2**9)


def test_what_is_not_compared_is_bounded_and_never_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little noise is told apart in large classes: each has its bound, above what is linked."""
    policy = policy_of(epsilon=0.002, rows=2)
    made = chain(policy, visits(3000, most=2))
    given = evidence(policy, made)
    attack = known_attack(given, policy)
    monkeypatch.setattr("anon_pipeline.evidence.known_people.CLOSE", 0.0)
    compared = known_attack(given, policy).over_noise(["ward"])
    monkeypatch.undo()
    bounded = attack.over_noise(["ward"])
    assert bounded.standard_error == pytest.approx(1 / (8 * 3000))
    assert compared.mean - 3 * compared.standard_error < bounded.mean < 0.01


def test_without_noise_each_cell_names_one_of_those_with_the_most_records() -> None:
    policy, frame = policy_of(noise=False), visits()
    made = chain(policy, frame)
    given = evidence(policy, made)
    found = known_attack(given, policy).over_noise(["illness"])
    missed = pd.Series(1.0, index=frame["name"].unique())
    for _, cell in frame.groupby([made.k_anonymized.frame[CLASS].to_numpy(), "illness"]):
        counts = cell["name"].value_counts()
        named = counts.index[counts == counts.max()]
        missed[named] *= 1 - 1 / len(named)
    assert (found.standard_error, found.draws) == (0, 0)
    assert found.mean == pytest.approx(float((1 - missed).mean()))
    assert known_attack(given, policy).realized_share(given, policy, ["illness"]) == pytest.approx(found.mean)


@pytest.mark.parametrize("noise", [False, True])
def test_with_one_record_each_people_are_linked_as_records(noise: bool) -> None:
    frame = visits(120, most=1)
    found = []
    for person in (False, True):
        policy = policy_of(person=person, noise=noise, rows=1)
        given = evidence(policy, chain(policy, frame))
        attack = known_attack(given, policy)
        found.append([attack.over_noise(columns) for columns in SETS])
    for records, people in zip(*found, strict=True):
        assert abs(records.mean - people.mean) < 4 * (records.standard_error + people.standard_error) + 1e-9


def test_ten_records_of_two_people_are_two_people() -> None:
    """Five records each in every cell: who knows the ward names the person with 1/2, the record with 1/10."""
    frame = visits(60, most=1).assign(town="Cork", ward=[f"ward {i // 2}" for i in range(60)])
    many = pd.concat([frame] * 5, ignore_index=True)
    shares = {}
    for person in (False, True):
        policy = policy_of(person=person, noise=False)
        given = evidence(policy, chain(policy, many))
        shares[person] = known_attack(given, policy).over_noise(["ward"]).mean
    assert shares == {False: pytest.approx(1 / 10), True: pytest.approx(1 / 2)}


def test_the_gate_refuses_what_only_links_people() -> None:
    frame = pd.concat([visits(120, most=1).assign(ward=["a", "b"] * 60)] * 3, ignore_index=True)
    known = {"attacks": {"known_columns": [{"columns": ["ward"], "risk": 0.25}]}}
    found = {}
    for person in (False, True):
        policy = policy_of(person=person, epsilon=30 if person else 10, **known)
        made = chain(policy, frame)
        report = evaluate(made.suppressed.frame, policy, originals=made.k_anonymized.frame)
        (found[person],) = [v for v in report.verdicts if v.limit == "known_columns.ward"]
    assert (found[False].status, found[True].status) == (Status.PASSED, Status.REFUSED)


@pytest.mark.parametrize("person", [False, True])
def test_of_a_single_draw_the_error_is_not_known(person: bool) -> None:
    """Where no other draw leaves a record."""
    policy = policy_of(person=person)
    attack = known_attack(evidence(policy, chain(policy, visits())), policy)
    found = replace(attack, draws=attack.draws[:1]).over_noise(["ward"])
    assert (found.standard_error, found.judged, found.draws) == (1.0, 1.0, 1)


def test_people_are_numbered_by_their_first_record() -> None:
    assert in_order(np.array([5, 1, 5, 0])).tolist() == [0, 1, 0, 2]
