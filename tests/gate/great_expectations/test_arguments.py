"""The suite judges attacks as the gate does, by the same measures; suites of earlier versions are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import great_expectations as gx
import numpy as np
import pandas as pd
import pytest
from great_expectations.core import ExpectationSuite

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.gate import GateReport, evaluate, limits_of
from anon_pipeline.gate.great_expectations import (
    ExpectReleaseToHideInPopulation,
    ExpectReleaseToWithstandAttack,
    SuiteResult,
    gate_batch,
    suite_for,
    validate,
)
from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, document
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.limits.table import limit_of
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.load import policy_from
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means

Release = Callable[..., Any]
Measured = Callable[[pd.DataFrame, ReleaseExpectation], float | None]
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
CANARY = "CANARY-7f3a"
NOISY = ("attacker_success", "assignment_risk", "expected_linking_risk")
FILES = ("prosecutor_risk", "marketer_risk", "sample_uniques", "minimal_uniques")

"""Limits that no table shows alone: they have no expectation."""


def limits(share: float, *, noisy: int = 1) -> dict[str, Any]:
    """Return every limit on an attack that needs no population, at one share."""
    match = [{"region": 1, "age": 1}, *([{"height": 0.9}] if noisy else [])]
    linkage = dict.fromkeys(("exact", "threshold", "rules", "probabilistic"), share)
    attacks: dict[str, Any] = {
        **(dict.fromkeys(NOISY, share) if noisy else {}),
        **({"averaging": {"releases": 3, "risk": share}} if noisy == 1 else {}),
        "linkage": {**linkage, "similarity": 0.8, "match": match},
        "homogeneity": {"illness": share, "town": share},
        "skewness": {"pay": 1 + 3 * share},
        "similarity": dict.fromkeys(("pay", "grade", "place", "town"), share),
        **dict.fromkeys(FILES, share),
    }
    return {"attacks": attacks}


def judge(
    policy: Policy,
    tables: tuple[pd.DataFrame, pd.DataFrame],
    folder: Path = Path(),
    population: Population | None = None,
) -> tuple[SuiteResult, GateReport]:
    """Ask both doors about the same release."""
    known: dict[str, Any] = {"hierarchies": folder, "population": population}
    batch = gate_batch(*tables, policy, **known)
    report = evaluate(tables[0], policy, originals=tables[1], **known)
    return validate(batch, policy, hierarchies=folder), report


def same(result: SuiteResult, report: GateReport) -> dict[str, bool]:
    """Compare the doors limit by limit; return which were kept. Sums of floats may differ by their order."""
    verdicts = {v.limit: v for v in report.verdicts if limit_of(v.limit).expectation_name}
    assert [line.limit for line in result.lines] == list(verdicts)
    for line in result.lines:
        verdict = verdicts[line.limit]
        assert line.error is None, line
        assert line.observed == pytest.approx(verdict.value, rel=1e-12), line
        assert line.success == verdict.status.publishable, line
    return {line.limit: line.success for line in result.lines}


@pytest.mark.parametrize("noisy", [0, 1, 2])
@pytest.mark.parametrize("share", [0.0, 0.15, 0.4, 1.0])
def test_every_attack_is_judged_as_the_gate_judges_it(
    release: Release, folder: Path, noisy: int, share: float
) -> None:
    made = release(int(share * 100), limits(share, noisy=noisy), noisy=noisy)
    kept = same(*judge(made.policy, (made.released, made.originals), folder))
    assert list(kept) == [name for name in limits_of(made.policy) if limit_of(name).expectation_name]
    if share == 1:
        assert {name for name in kept if not kept[name] and not name.startswith("similarity")} <= {"k"}


def test_limits_are_kept_exactly_at_the_measured_value_and_broken_just_beyond(
    release: Release, folder: Path
) -> None:
    made = release(5, limits(0.5), n=90)
    _, report = judge(made.policy, (made.released, made.originals), folder)
    at = {verdict.limit: float(verdict.value) for verdict in report.verdicts if verdict.value is not None}
    for name in (*NOISY, *FILES, "linkage.exact", "linkage.probabilistic", "homogeneity.town"):
        kind, _, of = name.partition(".")
        for bound, kept in ((at[name], True), (at[name] - 1e-9, at[name] < 1e-9)):
            attacks = {kind: {of: max(bound, 0.0)} if of else max(bound, 0.0)}
            under = made.rehashed({"attacks": attacks})
            assert same(*judge(under.policy, (made.released, made.originals), folder))[name] is kept, name


@pytest.fixture
def workers(small_policy: Small, small_people: People) -> tuple[Policy, Chain]:
    """A whole chain with a number and a category that are noisy, and limits on attacks."""
    attacks = limits(1.0)["attacks"] | {"homogeneity": {"illness": 1}, "skewness": {}, "similarity": {}}
    attacks["linkage"] |= {"match": [{"height": 1}]}
    attacks["population"] = {"path": "register.csv", "journalist_risk": 1, "marketer_risk": 1}
    smokes = {"role": "perturb", "mechanism": "randomized_response", "values": [0, 1]}
    policy = small_policy(columns={"smokes": smokes}, gate={"attacks": attacks})
    people = small_people()
    people["smokes"] = np.random.default_rng(1).choice([0, 1], len(people))
    return policy, run(policy, people, Means(Path(), None, seeded_entropy(3)))


@pytest.fixture
def register(small_people: People) -> Population:
    people = pd.concat([small_people(400, seed) for seed in (0, 1)], ignore_index=True)
    return Population(people[["age", "city"]], "0" * 64)


def test_a_whole_chain_with_categories_and_a_population(
    workers: tuple[Policy, Chain], register: Population
) -> None:
    policy, chain = workers
    tables = chain.suppressed.frame, chain.k_anonymized.frame
    result, report = judge(policy, tables, population=register)
    assert set(same(result, report).values()) == {True}
    batch = gate_batch(*tables, policy, population=register)
    own = tables[1].set_index(RECORD).index.get_indexer(tables[0][RECORD])
    assert batch["smokes"].iloc[own].tolist() == tables[0]["smokes"].tolist()
    assert batch.loc[~batch["_released"], "smokes"].isna().all()
    assert (batch.loc[~batch["_released"], "_population"] == -1).all()
    found = {line.limit: line.observed for line in result.lines}
    assert found["population.journalist_risk"] == 1 / batch.loc[batch["_released"], "_population"].min()
    tight = {"path": "register.csv", **dict.fromkeys(("journalist_risk", "marketer_risk"), 0.001)}
    document = policy.model_dump(mode="json", exclude_none=True)
    document["gate"]["attacks"] |= {"population": tight, "sample_uniques": 0.0}
    refused = same(*judge(policy_from(document), tables, population=register))
    assert {name for name, kept in refused.items() if not kept} == {
        *("population.journalist_risk", "population.marketer_risk", "sample_uniques")
    }


def test_without_the_population_its_limits_are_not_measured(workers: tuple[Policy, Chain]) -> None:
    policy, chain = workers
    batch = gate_batch(chain.suppressed.frame, chain.k_anonymized.frame, policy)
    lines = {line.limit: line for line in validate(batch, policy).lines}
    for name in ("population.journalist_risk", "population.marketer_risk"):
        assert (lines[name].success, lines[name].error) == (False, "InputError")
        assert lines[name].reason == "columns must be in the batch, not there: _population"
    assert all(line.success for name, line in lines.items() if not name.startswith("population"))


def test_a_population_outside_the_hierarchies_makes_no_batch(
    workers: tuple[Policy, Chain], register: Population
) -> None:
    policy, chain = workers
    strange = Population(register.frame.astype(object).assign(age=CANARY), "0" * 64)
    with pytest.raises(InputError, match="population: age") as caught:
        gate_batch(chain.suppressed.frame, chain.k_anonymized.frame, policy, population=strange)
    assert CANARY not in str(caught.value)


def test_arguments_are_the_policy_and_not_where_anything_is(workers: tuple[Policy, Chain]) -> None:
    policy, _ = workers
    suite = suite_for(policy, hierarchies=Path("some/where"))
    assert "register.csv" not in str(suite.to_json_dict()) + repr(suite)
    by_name = {each.meta["limit"]: each for each in suite.expectations}
    assert by_name["assignment_risk"].hierarchies == str(Path("some/where"))
    carried = by_name["population.marketer_risk"].policy
    assert carried["perturb"]["epsilon"] == 2
    assert list(carried["columns"]) == ["age", "city", "height", "smokes", "income", "illness", "note"]


def test_results_have_no_value_of_the_data(
    workers: tuple[Policy, Chain], register: Population, capfd: pytest.CaptureFixture[str]
) -> None:
    policy, chain = workers
    batch = gate_batch(chain.suppressed.frame, chain.k_anonymized.frame, policy, population=register)
    for column in ("height", "_original_height", "age", "_population", "_class_id", "_released"):
        result = validate(batch.assign(**{column: CANARY}), policy)
        assert not result.success
        assert CANARY not in repr(result) + "".join(result.failures())
    assert capfd.readouterr() == ("", "")


def test_gaps_are_refused_by_count(release: Release, folder: Path) -> None:
    made = release(8, {"attacks": {"skewness": {"grade": 2}, "attacker_success": 1}})
    batch = gate_batch(made.released, made.originals, made.policy, hierarchies=folder)
    at = int(np.flatnonzero(batch["_released"])[0])
    batch.loc[at, "grade"] = None
    batch.loc[at, "height"] = np.nan
    reasons = {line.limit: line.reason for line in validate(batch, made.policy, hierarchies=folder).lines}
    said = "must have a value where it is measured, got 1 missing"
    assert set(reasons.values()) == {f"height: {said}\ngrade: {said}"}


# --- by hand


def paper() -> pd.DataFrame:
    """Two classes: three of four originals released, and two; noise that moves one to a neighbor's."""
    return pd.DataFrame(
        {
            "zip": ["a"] * 4 + ["b"] * 2,
            "ill": ["x", "x", "x", "y", "x", "y"],
            "_class_id": [3] * 4 + [8] * 2,
            "_released": [True, True, True, False, True, True],
            "height": [160.0, 171.0, 169.0, np.nan, 150.0, 158.0],
            "_original_height": [160.0, 170.0, 180.0, 190.0, 150.0, 160.0],
            "_population": [30, 30, 30, -1, 2, 2],
        }
    )


COLUMNS: dict[str, Any] = {"height": {"role": "perturb", "resolution": 1}, "ill": {"role": "sensitive"}}


def wanted(limit: str, attacks: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for a limit on attacks of a policy, judged by the noise that was drawn."""
    gate = {"attacks": attacks, "linking": "realized"}
    policy = document({"zip": GENERALIZED, **COLUMNS}, gate=gate, perturb={"epsilon": 1})
    return {"policy": policy, "limit_name": limit, "released": "_released"}


def test_attacks_worked_out_on_paper(measured: Measured) -> None:
    def attacked(attack: str, attacks: dict[str, Any]) -> float | None:
        return measured(paper(), ExpectReleaseToWithstandAttack(**wanted(attack, attacks)))

    assert attacked("attacker_success", {"attacker_success": 1}) == 4 / 5  # not 169 of 180
    assert attacked("homogeneity.ill", {"homogeneity": {"ill": 1}}) == 3 / 5
    # y is a third of the input and half of class b
    assert attacked("skewness.ill", {"skewness": {"ill": 9}}) == pytest.approx(3 / 2)
    assert attacked("linkage.exact", {"linkage": {"exact": 1}}) == 2 / 5
    assert attacked("prosecutor_risk", {"prosecutor_risk": 1}) == 1 / 2


def hidden(risk: str, share: float = 1) -> ExpectReleaseToHideInPopulation:
    attacks = {"population": {"path": "x", risk: share}}
    return ExpectReleaseToHideInPopulation(**wanted(f"population.{risk}", attacks))


def test_who_knows_the_population_worked_out_on_paper(measured: Measured) -> None:
    assert measured(paper(), hidden("journalist_risk")) == 1 / 2
    assert measured(paper(), hidden("marketer_risk")) == pytest.approx((3 / 30 + 2 / 2) / 5)
    few = paper().assign(_population=[1, 1, 1, -1, 2, 2])  # at least the three who were released
    assert measured(few, hidden("journalist_risk")) == 1 / 2
    for spoilt in ([30, 30, 31, -1, 2, 2], [30, 30, 30, -1, -1, -1], [0.5] * 6):
        with pytest.raises(InputError, match="_population: must be"):
            measured(paper().assign(_population=spoilt), hidden("journalist_risk"))


def test_great_expectations_judges_them_and_shows_one_number() -> None:
    source = gx.get_context(mode="ephemeral").data_sources.add_pandas("attacks")
    whole = source.add_dataframe_asset("a").add_batch_definition_whole_dataframe("b")
    batch = whole.get_batch({"dataframe": paper()})
    asked = [
        ExpectReleaseToWithstandAttack(**wanted("attacker_success", {"attacker_success": 0.8})),
        ExpectReleaseToWithstandAttack(**wanted("attacker_success", {"attacker_success": 0.79})),
        hidden("journalist_risk", 0.5),
        hidden("journalist_risk", 0.49),
    ]
    results = [batch.validate(expectation) for expectation in asked]
    assert [each.success for each in results] == [True, False, True, False]
    assert [dict(each.result) for each in results] == [
        {"observed_value": value} for value in (0.8, 0.8, 0.5, 0.5)
    ]


@pytest.mark.parametrize(
    ("limit", "attacks", "message"),
    [
        (
            "marketer_risk",
            {"attacker_success": 1},
            r"must be a limit in the policy \(attacker_success, homogeneity\.ill, known_columns\.ill\), got "
            "marketer_risk",
        ),
        (
            "attacker_success",
            {},
            r"must be a limit in the policy \(homogeneity\.ill, known_columns\.ill\), got attacker_success",
        ),
        ("attacker_success", {"attacker_success": 2}, "attacker_success"),
        ("attacker_success", {"atacker_success": 1}, "atacker_success"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_the_rules_of_a_policy(
    limit: str, attacks: dict[str, Any], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        ExpectReleaseToWithstandAttack(**wanted(limit, attacks))


# --- suites that were stored before arguments for any table were left to k, t, l and suppression


def stored(kind: str, **kwargs: Any) -> ExpectationSuite:
    """Read a suite of one expectation as it was stored."""
    return ExpectationSuite(name="s", expectations=[{"type": kind, "kwargs": kwargs, "meta": {}}])


ATTACK: dict[str, Any] = {
    "attack": "expected_linking_risk",
    "attacks": {"expected_linking_risk": 1},
    "columns": COLUMNS,
    "perturb": {"epsilon": 1},
    "quasi_identifiers": ["zip"],
    "released": "_released",
    "stages": {"k": 3, "confidence": 0.9, "gate": {"linking": "expected"}},
}
MOVED = "must be left out of expect_.*, which takes policy and limit_name"


def test_a_stored_attack_is_read_with_a_warning_and_judged_as_the_policy_of_its_arguments(
    measured: Measured,
) -> None:
    with pytest.warns(DeprecationWarning, match=f"attack, attacks, .*{MOVED}: see suite_for"):
        (expectation,) = stored("expect_release_to_withstand_attack", **ATTACK).expectations
    assert isinstance(expectation, ExpectReleaseToWithstandAttack)
    sections = {"suppress": {"confidence": 0.9}, "perturb": {"epsilon": 1}}
    gate = {"attacks": {"expected_linking_risk": 1}, "linking": "expected"}
    same = document({"zip": GENERALIZED, **COLUMNS}, k=3, gate=gate, **sections)
    assert (expectation.policy, expectation.limit_name) == (same, "expected_linking_risk")
    now = ExpectReleaseToWithstandAttack(
        policy=same, limit_name="expected_linking_risk", released="_released"
    )
    assert measured(paper(), expectation) == measured(paper(), now) != 0
    plain = {name: value for name, value in ATTACK.items() if name not in ("stages", "perturb")}
    plain |= {"attack": "prosecutor_risk", "attacks": {"prosecutor_risk": 1}, "columns": {}}
    with pytest.warns(DeprecationWarning, match=MOVED):
        (expectation,) = stored("expect_release_to_withstand_attack", **plain).expectations
    assert measured(paper().drop(columns="height"), expectation) == 1 / 2


def test_a_stored_suite_of_a_policy_that_counted_its_releases_is_read_with_a_warning() -> None:
    gate = {"k": 4, "cross_release_k": 2}
    policy = document({"zip": GENERALIZED, "who": {"role": "identifier"}}, gate=gate)
    policy |= {"record_key": "who", "deidentify": {"key_env": "UNUSED"}}
    kwargs = {"policy": policy, "limit_name": "cross_release_k", "released": "_released"}
    kind = "expect_releases_together_to_be_k_anonymous"
    with pytest.warns(DeprecationWarning, match=f"class_columns: {MOVED}"):
        again = stored(kind, **kwargs, class_columns=["_class_in_0", "_class_in_1"])
    assert again.expectations == stored(kind, **kwargs).expectations


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("expect_release_linking_risk_to_be_at_most", ["released_columns", "limit"]),
        ("expect_release_to_be_confidently_k_anonymous", ["k", "confidence", "epsilons"]),
        ("expect_release_to_hide_in_population", ["population_column", "risk", "limit"]),
        ("expect_releases_together_to_be_k_anonymous", ["class_columns", "k"]),
        ("expect_release_to_keep_published_noise", ["published_columns"]),
        ("expect_release_to_withstand_attack", ["attack", "quasi_identifiers"]),
    ],
)
def test_other_stored_arguments_are_refused_with_what_to_write(kind: str, arguments: list[str]) -> None:
    said = f"{', '.join(arguments)}: must be left out of {kind}.*suite_for.*gate_batch"
    with pytest.raises(Exception, match=said):
        stored(kind, **dict.fromkeys(arguments, 1))
