"""Columns of categories from the policy to a verified release: facts, gate, memory, words, refusals."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import power_divergence

from anon_pipeline import Locations, anonymize, cli, make_release
from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.categories import category_codes, category_noises
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.encode.grids import epsilon_shares, noises
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.gate.great_expectations import gate_batch, validate
from anon_pipeline.perturb.category_law import pmf
from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.report.rows import noise_rows
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.history.memory import Memory, noise_terms
from anon_pipeline.stages.private import Means
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune
from anon_pipeline.utility.trial import measure_trial

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]

TREE = {"health": ["nurse", "doctor"], "other": ["cook", "clerk", "smith"]}
JOB: dict[str, Any] = {"role": "perturb", "mechanism": "exponential", "hierarchy": {"tree": TREE}}
SMOKES: dict[str, Any] = {
    "role": "perturb",
    "mechanism": "randomized_response",
    "values": [0, 1],
    "weight": 2,
}
BY_SHARES: dict[str, Any] = {**SMOKES, "mechanism": "pram", "shares": {0: 7, 1: 3}}
BOTH = {"job": JOB, "smokes": SMOKES}
JOBS = ["nurse", "doctor", "cook", "clerk", "smith"]
ALONE: dict[str, Any] = {"columns": {"height": None, **BOTH}, "suppress": None}


def workers(people: pd.DataFrame, *, numbers: bool = True) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    made = people.assign(job=rng.choice(JOBS, len(people)), smokes=rng.choice([0, 1], len(people)))
    return made if numbers else made.drop(columns="height")


def means(entropy=None) -> Means:
    return Means(Path(), None, entropy or system_entropy())


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": BOTH, "gate": {"confidence_k": 3, "linking_risk": 1.0, "suppression": 0.9}},
        {**ALONE, "gate": {"suppression": 0.9}},
    ],
    ids=["beside numbers", "alone"],
)
def test_a_whole_release_passes_its_gate(small_policy: Small, small_people: People, changes: Any) -> None:
    policy = small_policy(**changes)
    people = workers(small_people(), numbers="height" in policy.columns)
    chain = pipeline.run(policy, people, means())
    originals, released = chain.k_anonymized.frame, chain.suppressed.frame
    report = evaluate(released, policy, chain.suppressed.facts, originals=originals)
    assert report.passed, report
    assert validate(gate_batch(released, originals, policy), policy).success
    assert set(released["job"]) <= set(JOBS)
    assert set(released["smokes"]) == {"0", "1"}
    behind = originals.set_index(RECORD).loc[released[RECORD]]
    for name in BOTH:
        assert (behind[name].to_numpy() != released[name].to_numpy()).mean() > 0.1


def test_each_column_is_drawn_under_its_own_law(small_policy: Small, small_people: People) -> None:
    policy = small_policy(**ALONE, perturb={"epsilon": 6}, gate={"suppression": 0.9})
    assert [float(share) for share in epsilon_shares(policy)] == [2, 4]
    people = workers(small_people(20_000), numbers=False)
    recoded = pipeline.run(policy, people, means(seeded_entropy(1))).k_anonymized
    noisy = pipeline.perturbed(policy, recoded, entropy=seeded_entropy(2)).frame
    before = category_codes(recoded.frame.set_index(RECORD).loc[noisy[RECORD]], policy)
    after = category_codes(noisy, policy)
    for j, noise in enumerate(category_noises(policy).values()):
        law = pmf(noise)
        observed = np.zeros_like(law)
        np.add.at(observed, (before[:, j], after[:, j]), 1)
        expected = law * observed.sum(axis=1, keepdims=True)
        test = power_divergence(observed.ravel(), expected.ravel(), ddof=len(law) - 1)
        assert test.pvalue > 1e-3


def test_numbers_keep_their_share_and_order_beside_categories(small_policy: Small) -> None:
    arm = {"role": "perturb", "resolution": 1, "mechanism": "staircase"}
    policy = small_policy(columns={**BOTH, "arm": arm}, perturb={"epsilon": 10})
    assert list(policy.noisy) == ["height", "arm", "job", "smokes"]
    assert [float(share) for share in epsilon_shares(policy)] == [2, 2, 2, 4]
    assert [float(noise.epsilon) for noise in noises(policy)] == [2, 2]
    assert [float(noise.epsilon) for noise in category_noises(policy).values()] == [2, 4]


def test_the_facts_say_what_the_policy_decides_and_no_value(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(columns=BOTH)
    facts = pipeline.run(policy, workers(small_people()), means()).suppressed.facts
    checked_facts(policy, json.loads(json.dumps(facts)))
    job = facts["perturbed"]["columns"]["job"]
    noise = category_noises(policy)["job"]
    assert (job["mechanism"], job["epsilon"], job["values"]) == ("exponential", 0.5, 5)
    kept = pmf(noise).diagonal()
    assert (job["least_kept"], job["most_kept"]) == pytest.approx((kept.min(), kept.max()), rel=1e-5)
    assert not any(f'"{value}"' in json.dumps(facts) for value in JOBS)
    for field, value in [
        ("values", 6),
        ("least_kept", 0.5),
        ("mechanism", "randomized_response"),
        ("more", 1),
    ]:
        forged = json.loads(json.dumps(facts))
        forged["perturbed"]["columns"]["job"][field] = value
        with pytest.raises(InputError, match="columns"):
            checked_facts(policy, forged)


def test_the_report_has_the_same_titles_for_numbers_and_categories(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(columns=BOTH)
    rows = dict(noise_rows(pipeline.run(policy, workers(small_people()), means()).suppressed.facts))
    assert len({tuple(row) for row in rows.values()}) == 1
    assert (rows["height"]["resolution"], rows["job"]["resolution"]) == ("1", "–")
    assert (rows["height"]["values that it may have"], rows["job"]["values that it may have"]) == ("–", "5")


def test_without_numbers_no_mechanism_of_numbers_is_told(small_policy: Small, small_people: People) -> None:
    policy = small_policy(**ALONE, gate={"suppression": 0.9})
    people = workers(small_people(), numbers=False)
    facts = pipeline.run(policy, people, means()).suppressed.facts["perturbed"]
    assert (facts["mechanism"], facts["passed_through"], facts["epsilon"]) == (None, False, 2)


@pytest.mark.parametrize("written", [("parquet", SMOKES), ("csv", SMOKES), ("csv", BY_SHARES)])
def test_a_release_is_published_verified_and_checked(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    written: tuple[str, dict[str, Any]],
) -> None:
    form, smokes = written
    columns = {"job": JOB, "smokes": smokes}
    policy = small_policy(columns=columns, publish={"format": form}, budget={"epsilon": 2})
    people = workers(small_people())
    people.to_csv(tmp_path / "people.csv", index=False)
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    make_release(policy, Locations.of(tmp_path, {}))
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["epsilon"] == 2
    assert manifest["guarantee"] == guarantee(policy)
    assert not any(job in json.dumps(manifest) for job in JOBS)
    pages = list((tmp_path / "out").glob("*.html"))
    assert all("least chance to be released as it is" in page.read_text(encoding="utf-8") for page in pages)
    assert pages
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ["verify", "out", "--policy", "policy.yaml"],
        ["check", f"out/{manifest['files'][0]['name']}", "--policy", "policy.yaml", "--allow-unmeasured"],
    ):
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        assert not exit_.value.code, capsys.readouterr()


def test_the_contract_refuses_a_released_value_that_is_not_public(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(columns=BOTH)
    chain = pipeline.run(policy, workers(small_people()), means())
    frame = chain.suppressed.frame.drop(columns=[n for n in chain.suppressed.frame if n.startswith("_")])
    assert evaluate(frame, policy, chain.suppressed.facts).verdicts[0].status is Status.PASSED
    report = evaluate(frame.assign(job="CANARY-7f3a"), policy, chain.suppressed.facts)
    assert report.verdicts[0].status is Status.REFUSED
    assert report.verdicts[0].reason == "job: must be of the policy's domain"


def test_data_outside_of_the_domain_is_refused_by_column_and_count(
    small_policy: Small, small_people: People
) -> None:
    people = workers(small_people())
    people.loc[:2, "job"] = "CANARY-7f3a"
    people["smokes"] = people["smokes"].astype(object)
    people.loc[5:6, "smokes"] = None
    with pytest.raises(InputError) as caught:
        pipeline.run(small_policy(columns=BOTH), people, means())
    assert list(caught.value.problems) == [
        "job: every value must be of the policy's domain, got 3 records with others",
        "smokes: must have a value in every record, got 2 missing. Set missing: suppress to suppress those "
        "records.",
    ]


def test_missing_values_are_suppressed_where_the_policy_says_so(
    small_policy: Small, small_people: People
) -> None:
    people = workers(small_people()).astype({"smokes": object})
    people.loc[:4, "smokes"] = None
    policy = small_policy(columns={"smokes": {**SMOKES, "missing": "suppress"}})
    release = anonymize(policy, people.drop(columns="job"))
    assert release.facts["k_anonymized"]["suppressed_incomplete"] == 5
    assert set(release.frame["smokes"]) == {"0", "1"}


STICKY: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "perturb": {"republish": "sticky"},
    "suppress": None,
    "gate": {"suppression": None},
}


def by_note(release: Any, name: str) -> pd.Series:
    return release.frame.set_index("note")[name].sort_index()


@pytest.fixture
def sticky(small_policy: Small, monkeypatch: pytest.MonkeyPatch, traced: None) -> Callable[..., Policy]:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    declared = {"height": {"sensitivity": "declared", "input_bounds": [145, 195]}}
    return lambda **columns: small_policy(**STICKY, columns={**BOTH, **declared, **columns})


def test_published_categories_stay_while_the_original_does(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, people = sticky(), workers(small_people()).assign(note=lambda frame: frame["person"])
    first = anonymize(policy, people, memory=Memory.empty())
    second = anonymize(policy, people.sample(frac=1, random_state=1), memory=first.memory)
    assert second.report.passed, second.report
    for name in ("height", *BOTH):
        pd.testing.assert_series_equal(by_note(second, name), by_note(first, name))
    spent = second.facts["perturbed"]["composition"]
    assert (spent["values_reused"], spent["values_drawn"], spent["epsilon_spent"]) == (720, 0, "0")
    people.loc[7, "smokes"] = 1 - people.loc[7, "smokes"]
    third = anonymize(policy, people, memory=second.memory)
    spent = third.facts["perturbed"]["composition"]
    assert (spent["values_drawn"], spent["epsilon_spent"]) == (1, "1")
    pd.testing.assert_series_equal(by_note(third, "job"), by_note(first, "job"))
    checked_facts(policy, json.loads(json.dumps(third.facts)))


def test_another_domain_mechanism_or_share_is_drawn_anew(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, people = sticky(), workers(small_people()).assign(note=lambda frame: frame["person"])
    first = anonymize(policy, people, memory=Memory.empty())
    moved = {"health": ["nurse", "doctor", "cook"], "other": ["clerk", "smith"]}
    for changes in (
        {"hierarchy": {"tree": moved}},
        {"mechanism": "randomized_response"},
        {"hierarchy": {"tree": {**TREE, "more": ["judge"]}}},
    ):
        other = sticky(job={**JOB, **changes})
        assert noise_terms(other)["job"] != noise_terms(policy)["job"]
        assert {n: noise_terms(other)[n] for n in ("height", "smokes")} == {
            n: noise_terms(policy)[n] for n in ("height", "smokes")
        }
        made = anonymize(other, people, memory=first.memory)
        assert made.facts["perturbed"]["composition"]["values_drawn"] == 240
        assert made.facts["perturbed"]["composition"]["epsilon_spent"] == "1/2"


def test_the_gate_and_the_suite_see_a_category_that_should_have_stayed(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, people = sticky(), workers(small_people()).assign(note=lambda frame: frame["person"])
    first = anonymize(policy, people, memory=Memory.empty())
    entropy, key = system_entropy(), b"0123456789abcdef"
    chain = pipeline.run(policy, people, Means(Path(), key, entropy, memory=first.memory))
    originals, frame = chain.k_anonymized.frame, chain.suppressed.frame
    for changed, status in [
        (frame, Status.PASSED),
        (frame.assign(job=np.roll(frame["job"], 1)), Status.REFUSED),
    ]:
        report = evaluate(changed, policy, chain.suppressed.facts, originals=originals, memory=first.memory)
        (verdict,) = (verdict for verdict in report.verdicts if verdict.limit == "sticky")
        assert verdict.status is status
        batch = gate_batch(changed, originals, policy, memory=first.memory)
        lines = {line.limit: line for line in validate(batch, policy).lines}
        assert lines["sticky"].success == (status is Status.PASSED)
        assert lines["sticky"].observed == verdict.value


def test_unique_records_are_found_by_categories_too(small_policy: Small, small_people: People) -> None:
    attacks = {"sample_uniques": 1.0}
    people = workers(small_people())
    shares = []
    for columns in ({}, BOTH):
        policy = small_policy(columns=columns, gate={"attacks": attacks}, perturb={"epsilon": 100})
        chain = pipeline.run(policy, people if columns else small_people(), means())
        report = evaluate(
            chain.suppressed.frame, policy, chain.suppressed.facts, originals=chain.k_anonymized.frame
        )
        shares += [v.value for v in report.verdicts if v.limit.endswith("sample_uniques")]
    assert shares[1] > shares[0] + 0.2


def test_utility_is_measured_beside_categories(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(columns=BOTH)
    workers(small_people()).to_csv(tmp_path / "people.csv", index=False)
    found = measure_trial(policy, Locations.of(tmp_path, {}))
    assert list(found.noise) == ["height"]
    assert found.moments.columns == 3  # age, height, income


def test_categories_take_a_share_of_epsilon_and_add_to_the_loss(
    small_policy: Small, small_people: People
) -> None:
    """Height is left with a quarter of ε, whatever the categories lose beside it."""
    grid, people = Grid(k=(3,), epsilon=(1.0, 4.0)), workers(small_people())
    beside = tune(small_policy(columns=BOTH), people, grid)
    numbers = tune(small_policy(perturb={"epsilon": 0.5}), small_people(), Grid(k=(3,), epsilon=(0.25, 1.0)))
    for both, number in zip(beside.points, numbers.points, strict=True):
        assert set(both.expected.kept) == set(both.expected.linked_categories) == {"job", "smokes"}
        assert all(0 < kept < 1 for kept in both.expected.kept.values())
        assert both.expected.loss > number.expected.loss
        without = replace(both.expected, kept={}, linked_categories={}, loss=number.expected.loss)
        assert without == number.expected
    alone = small_policy(**ALONE, gate={"suppression": 0.9})
    found = tune(alone, people.drop(columns="height"), grid)
    assert [point.expected.error for point in found.points] == [None, None]


def test_the_guarantee_says_what_is_promised_of_categories(small_policy: Small) -> None:
    lines = guarantee(small_policy(columns=BOTH))
    (chosen,) = (line for line in lines if "exponential mechanism" in line)
    assert "job. Whatever the class, what is drawn for one row is at most e^0.5 (1.6) times" in chosen
    assert "(ε-local differential privacy of this column, ε = 0.5)" in chosen
    (response,) = (line for line in lines if "randomized response" in line)
    assert "smokes" in response
    assert "at most e^1 (2.7) times as likely for one value as for any other" in response
    assert "Together these columns spend ε = 2: in one row the factors multiply." in lines
    assert (
        "What is measured of linking does not use job, smokes: who knows such a value of a person may link "
        "more." in lines
    )
    assert any("confidence interval of height." in line for line in lines)


def test_other_shares_draw_what_was_published_anew(small_policy: Small) -> None:
    one, other = (
        small_policy(columns={"height": None, "smokes": {**BY_SHARES, "shares": shares}}, suppress=None)
        for shares in ({0: 7, 1: 3}, {0: 1, 1: 1})
    )
    assert next(iter(category_noises(one).values())).draw_weights == (7, 3)
    assert "drawn by public shares" in json.dumps(guarantee(one))
    assert noise_terms(one)["smokes"] != noise_terms(other)["smokes"]
