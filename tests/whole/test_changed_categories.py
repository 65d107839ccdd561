"""Releases with categories that are changed as a whole: made, judged, published and verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import anonymize, make_release
from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.expectation import mean_linking_risk
from anon_pipeline.evidence.known_table import known_table
from anon_pipeline.evidence.usefulness import kept_share
from anon_pipeline.gate import Status
from anon_pipeline.limits.changes import compare_policies
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.perturb.whole_column import change, class_swapping
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.protection import Effect
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Drawn, Means
from anon_pipeline.tuning.grid import Grid
from anon_pipeline.tuning.tune import tune
from anon_pipeline.tuning.variants import variants_of

People = Callable[..., pd.DataFrame]
JOBS = ["baker", "clerk", "miner", "nurse", "smith"]
SWAPPED: dict[str, Any] = {"role": "perturb", "mechanism": "class_swapping", "values": JOBS}
NUMBER: dict[str, Any] = {"role": "perturb", "resolution": 1000}


def policy_of(job: dict[str, Any] = SWAPPED, *, gate: Any = None, columns: Any = None, **more: Any) -> Policy:
    dropped = {"role": "identifier", "action": "drop"}
    return policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "person": {"role": "identifier"},
                "age": {"role": "generalize", "hierarchy": {"intervals": [10, 20, 40]}},
                "city": {"role": "generalize", "hierarchy": {"suppress": True}},
                **dict.fromkeys(("height", "income", "note"), dropped),
                "illness": {"role": "sensitive"},
                "job": job,
                **(columns or {}),
            },
            "anonymize": {"k": 5},
            "perturb": {"epsilon": 1, "without_guarantee": True},
            "gate": gate or {},
            **more,
        }
    )


def with_jobs(people: pd.DataFrame, *, shares: Any = None) -> pd.DataFrame:
    return people.assign(job=np.random.default_rng(1).choice(JOBS, len(people), p=shares))


def chain_of(policy: Policy, frame: pd.DataFrame) -> Chain:
    """Run the stages with a key of noise that is always the same."""
    key = NoiseKey(b"s" * 32, seeded=True)
    return run(
        policy, frame, Means(Path(), None, seeded_entropy(1), opens=lambda epsilon, digest: Drawn(key))
    )


def verdict_of(policy: Policy, frame: pd.DataFrame, limit: str) -> Verdict:
    return next(one for one in anonymize(policy, frame).report.verdicts if one.limit == limit)


def test_a_release_is_published_and_verified(small_people: People, tmp_path: Path) -> None:
    people, policy = with_jobs(small_people()), policy_of()
    people.to_csv(tmp_path / "people.csv", index=False)
    made = make_release(policy, Locations.of(tmp_path, {}))
    said = made.manifest["facts"]["perturbed"]
    assert said["columns"] == {"job": {"mechanism": "class_swapping", "amount": None, "values": 5}}
    assert said["epsilon"] is None and made.manifest["epsilon"] is None
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    measured = {one.limit: one for one in made.report.verdicts}
    linked = measured["known_columns.job"]
    assert str(linked.status) == "passed" and linked.value is not None and 0 < linked.value < 0.4
    assert str(measured["accepted.perturb.without_guarantee"].status) == "warned"
    page = made.report_path.read_text("utf-8")
    assert "job is changed by a method that promises nothing" in page


def test_each_class_has_exactly_its_values_in_another_order(small_people: People) -> None:
    found = chain_of(policy_of(), with_jobs(small_people()))
    before = pd.DataFrame(found.k_anonymized.frame).set_index(RECORD)
    after = pd.DataFrame(found.suppressed.frame).set_index(RECORD)
    before = before.loc[after.index]
    for _, rows in before.groupby(CLASS):
        assert Counter(rows["job"]) == Counter(after.loc[rows.index, "job"])
    assert 0.1 < (before["job"] == after["job"]).mean() < 0.5


def test_the_same_key_makes_the_same_release_in_any_order(small_people: People) -> None:
    policy, people = policy_of(), with_jobs(small_people())

    def released(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
        table = pd.DataFrame(chain_of(policy, frame).suppressed.frame[policy.released])
        return sorted(map(tuple, table.to_numpy().tolist()))

    assert released(people) == released(people.sample(frac=1, random_state=0).reset_index(drop=True))


def test_missing_values_are_an_error_or_leave_their_records_out(small_people: People) -> None:
    people = with_jobs(small_people())
    people.loc[[3, 7], "job"] = None
    with pytest.raises(InputError, match="job: must have a value in every record, got 2 missing"):
        anonymize(policy_of(), people)
    chain = chain_of(policy_of({**SWAPPED, "missing": "suppress"}), people)
    table = pd.DataFrame(chain.k_anonymized.frame)
    assert (table.loc[table["job"].isna(), CLASS] == -1).all()
    assert pd.DataFrame(chain.suppressed.frame)["job"].isin(JOBS).all()


def test_a_value_that_is_not_declared_is_refused_and_not_quoted(small_people: People) -> None:
    people = with_jobs(small_people())
    people.loc[5, "job"] = "astronaut"
    with pytest.raises(InputError, match="job: every value must be of the policy's domain, got 1") as caught:
        anonymize(policy_of(), people)
    assert "astronaut" not in str(caught.value)


def test_a_column_of_one_value_is_released_and_verified(small_people: People, tmp_path: Path) -> None:
    people, policy = small_people().assign(job="nurse"), policy_of()
    people.to_csv(tmp_path / "people.csv", index=False)
    made = make_release(policy, Locations.of(tmp_path, {}))
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    assert set(pd.read_parquet(made.path)["job"]) == {"nurse"}
    linked = next(one for one in made.report.verdicts if one.limit == "known_columns.job").value
    table = pd.read_parquet(made.path)
    assert linked == pytest.approx(table.groupby(["age", "city"]).ngroups / len(table), abs=1e-3)


@pytest.mark.parametrize("linking", ["expected", "realized"])
def test_the_gate_measures_a_random_order_as_one_in_the_class(small_people: People, linking: str) -> None:
    policy, people = policy_of(gate={"linking": linking}), with_jobs(small_people(2_000))
    made = anonymize(policy, people)
    value = next(one.value for one in made.report.verdicts if one.limit == "known_columns.job")
    table = pd.DataFrame(made.frame)
    alone = table.groupby(["age", "city"]).ngroups / len(table)
    assert value == pytest.approx(alone, rel=0.35)


def test_the_gate_refuses_what_was_not_swapped(small_people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"job {at}" for at in range(40)]
    policy = policy_of({**SWAPPED, "values": many}, anonymize={"k": 20})
    people = small_people(2_000).assign(job=np.random.default_rng(3).choice(many, 2_000))
    assert str(verdict_of(policy, people, "known_columns.job").status) == "passed"
    monkeypatch.setattr(class_swapping, "swap_within_classes", lambda columns: columns.values)
    change.import_entry.cache_clear()  # else the function of before is taken
    try:
        found = verdict_of(policy, people, "known_columns.job")
    finally:
        change.import_entry.cache_clear()
    assert str(found.status) == "refused" and found.bound is not None and found.value > found.bound


def test_a_swapped_column_does_not_hide_what_others_tell(small_people: People) -> None:
    """Attackers who simulate the change leave it out, and link as many as without it."""
    people = with_jobs(small_people(1_200))
    people["income"] = np.random.default_rng(2).integers(0, 1_000, len(people)) * 1000
    number = {**NUMBER, "mechanism": "rank_swapping", "amount": 0.01}
    bound = {"attacks": {"known_columns": [{"columns": ["note"], "risk": 1.0}]}, "linking_risk": 1.0}
    columns = {"income": number, "note": {"role": "insensitive"}}
    policy = policy_of(columns=columns, gate=bound)
    values = {one.limit: one.value or 0 for one in anonymize(policy, people).report.verdicts}
    assert values["known_columns.note"] > 0.5
    assert values["known_columns.job"] > 0.9 * values["linking_risk"]


def test_people_with_several_records_are_counted(
    small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "k" * 64)
    people = with_jobs(small_people(400))
    people["person"] = [f"person {at // 2}" for at in range(len(people))]
    person = {"person": "person", "rows_per_person": 2, "deidentify": {"key_env": "KEY"}}
    policy = policy_of(columns={"person": {"role": "identifier", "action": "drop"}}, **person)
    verdicts = anonymize(policy, people).report.verdicts
    value = next(one.value for one in verdicts if one.limit == "known_columns.job")
    assert value is not None and 0 < value < 0.5


def test_what_is_kept_is_what_a_random_order_keeps(small_people: People) -> None:
    """Σ n_v²/n over the classes: a value is somebody's of the class, also its own record's."""
    policy = policy_of()
    found = chain_of(policy, with_jobs(small_people(600), shares=[0.6, 0.2, 0.1, 0.05, 0.05]))
    table = pd.DataFrame(found.k_anonymized.frame)
    inside = table[table[CLASS] >= 0]
    counts = inside.groupby([CLASS, "job"]).size()
    exact = (counts**2 / inside.groupby(CLASS).size()).sum() / len(inside)
    evidence = evidence_from(found.suppressed.frame, policy, originals=table)
    assert kept_share(evidence, policy, "job") == pytest.approx(exact, abs=0.03)


def test_noise_of_numbers_is_measured_as_without_the_categories(small_people: People) -> None:
    """A large table is drawn once for all limits, with the categories beside the numbers."""
    people = with_jobs(small_people(9_000))
    policy = policy_of(columns={"income": NUMBER}, suppress={"confidence": 0.9}, gate={"linking_risk": 1.0})
    found = chain_of(policy, people)
    evidence = evidence_from(found.suppressed.frame, policy, originals=found.k_anonymized.frame)
    whole = known_table(evidence, policy).table
    assert whole.noise.values.shape[1] == 2
    risks = [mean_linking_risk(evidence, policy, whole=made) for made in (lambda: whole, None)]
    assert risks[0].mean == pytest.approx(risks[1].mean, rel=0.05)


def test_drawn_values_do_not_depend_on_changed_ones(small_people: People) -> None:
    """Each column has words of its own, so that an order tells nothing of a draw."""
    drawn = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}
    people = with_jobs(small_people())
    tables = []
    for job in (SWAPPED, {**SWAPPED, "mechanism": "randomized_response"}):
        section = {"epsilon": 1} | ({"without_guarantee": True} if job is SWAPPED else {})
        policy = policy_of(job, columns={"note": drawn}, perturb=section)
        tables.append(pd.DataFrame(chain_of(policy, people).suppressed.frame))
    assert all(table["note"].isin(["a", "b"]).all() for table in tables)
    one = pd.crosstab(tables[0]["note"], tables[0]["job"], normalize="columns")
    assert np.ptp(one.to_numpy(), axis=1).max() < 0.4


def test_the_guarantee_promises_nothing_of_them() -> None:
    lines = guarantee(policy_of())
    (said,) = [line for line in lines if "swapping within classes" in line]
    assert "job" in said and "in every class exactly the values of the members who are released" in said
    assert any("Linking by job was measured for an attacker who knows these values" in line for line in lines)
    assert not any("ε =" in line for line in lines)


def test_beside_noise_that_promises_the_whole_table_is_promised_nothing() -> None:
    columns = {"income": NUMBER}
    lines = guarantee(policy_of(columns=columns))
    assert any("ε-indistinguishable, ε = 1" in line for line in lines)
    assert not any("exchange their rows" in line for line in lines)
    assert any("both releases together tell more of job than one" in line for line in lines)
    left_out = guarantee(policy_of(columns=columns, suppress={"confidence": 0.9}))
    assert not any("in every class exactly the values" in line for line in left_out)
    assert any(line.startswith("Given that a row was released, it is at most") for line in left_out)


def test_tuning_measures_releases_and_names_what_has_no_amount(small_people: People) -> None:
    found = tune(policy_of(), with_jobs(small_people()), Grid(k=(5,)))
    assert found.without_amount == {"job": "class_swapping"}
    assert [one.expected.linking_known is not None for one in found.points] == [True]


def joint_policy(*, together: bool = True, gate: Any = None) -> Policy:
    """Return a policy in which job, income and height are swapped, the first two together or not."""
    swapped = {**NUMBER, "mechanism": "class_swapping"}
    income = {**swapped, "together": together}
    columns = {"income": income, "height": {**swapped, "resolution": 1}}
    return policy_of({**SWAPPED, "together": together}, columns=columns, gate=gate)


def test_values_that_move_together_stay_together_in_a_release_that_is_verified(
    small_people: People, tmp_path: Path
) -> None:
    people, policy = with_jobs(small_people()), joint_policy()
    people.to_csv(tmp_path / "people.csv", index=False)
    made = make_release(policy, Locations.of(tmp_path, {}))
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    joint = ["job", "income"]
    tables = people, pd.read_parquet(made.path)
    own, released = (Counter(table[joint].itertuples(index=False, name=None)) for table in tables)
    assert not released - own  # no pair of values that nobody has
    assert "accepted.columns.income.together" in {one.limit for one in made.report.verdicts}
    said = " ".join(made.manifest["guarantee"])
    assert "The values of income, job move together and stay one person's" in said
    assert made.manifest["facts"]["perturbed"]["columns"]["income"] == {
        "mechanism": "class_swapping",
        "amount": None,
        "resolution": 1000,
    }
    apart = guarantee(joint_policy(together=False))
    assert not any("move together" in line for line in apart)


def test_a_policy_that_lets_values_move_together_is_weaker() -> None:
    apart, joint = joint_policy(together=False), joint_policy()
    assert compare_policies(apart, joint).effect is Effect.WEAKENS
    assert compare_policies(joint, apart).effect is Effect.STRENGTHENS
    assert apart.digest != joint.digest == policy_from(joint.model_dump()).digest


def test_correlations_within_classes_stay_of_what_moves_together(small_people: People) -> None:
    people = with_jobs(small_people(1_000))
    people["income"] = people["job"].map({job: at for at, job in enumerate(JOBS)}) * 10_000
    tables = [
        pd.DataFrame(chain_of(joint_policy(together=one), people).suppressed.frame) for one in (True, False)
    ]
    stays = [(table["job"].map(JOBS.index) * 10_000 == table["income"]).mean() for table in tables]
    assert stays[0] == 1 and stays[1] < 0.5


def test_attackers_who_know_all_of_it_find_one_record_of_a_class(small_people: People) -> None:
    """The row with a person's other values is found no more often: its tuple is anybody's of the class."""
    people = with_jobs(small_people(1_000))
    people["income"] = np.random.default_rng(4).permutation(1_000) * 1000
    found = []
    for together in (True, False):
        policy = joint_policy(together=together, gate={"linking_risk": 1.0})
        made = anonymize(policy, people)
        values = {one.limit: one.value or 0 for one in made.report.verdicts}
        table = pd.DataFrame(made.frame)
        alone = table.groupby(["age", "city"]).ngroups / len(table)
        found.append((values["linking_risk"] / alone, values["known_columns.job"] / alone))
    assert np.array(found) == pytest.approx(1.0, abs=0.6)


def test_who_knows_one_of_them_learns_the_others(small_people: People) -> None:
    """What moving together gives away, as the documents say: the values of one person stay one person's."""
    people = with_jobs(small_people(1_000))
    people["income"] = np.random.default_rng(4).permutation(1_000) * 1000  # everybody has one of their own
    learned = []
    for together in (True, False):
        chain = chain_of(joint_policy(together=together), people)
        before = pd.DataFrame(chain.k_anonymized.frame)
        after = pd.DataFrame(chain.suppressed.frame).set_index("income")["job"]
        known = before[before["income"].isin(after.index)].set_index("income")["job"]
        learned.append((after == known.loc[after.index]).mean())
    assert learned[0] == 1 and learned[1] < 0.5


def test_a_variant_of_another_mechanism_lets_nothing_move_together() -> None:
    policy = joint_policy()
    (variant,) = variants_of(policy, ["columns.income.mechanism=rank_swapping,columns.income.amount=0.1"])[1:]
    assert not variant.problem and variant.policy is not None
    assert variant.policy.joint_columns == () and variant.policy.mechanisms["income"] == "rank_swapping"


def graded(amount: float, **more: Any) -> Policy:
    values = [f"grade {at:02d}" for at in range(30)]
    grade = {"role": "perturb", "mechanism": "rank_swapping", "values": values, "ordered": True}
    return policy_of({**grade, "amount": amount}, **more)


def with_grades(people: pd.DataFrame) -> pd.DataFrame:
    grades = np.random.default_rng(5).binomial(29, 0.5, len(people))
    return people.assign(job=[f"grade {grade:02d}" for grade in grades])


def test_ranks_are_swapped_in_a_release_that_is_verified(small_people: People, tmp_path: Path) -> None:
    people, policy = with_grades(small_people()), graded(0.2)
    people.to_csv(tmp_path / "people.csv", index=False)
    made = make_release(policy, Locations.of(tmp_path, {}))
    said = made.manifest["facts"]["perturbed"]["columns"]
    assert said == {"job": {"mechanism": "rank_swapping", "amount": 0.2, "values": 30}}
    for against in (Against(), Against(policy)):
        assert not verify_release(made.manifest_path.parent, against).with_status(Status.REFUSED)
    assert "rank swapping" in " ".join(made.manifest["guarantee"])


@pytest.mark.parametrize("amount", [0.02, 0.3])
def test_no_released_rank_is_farther_away_than_the_amount(small_people: People, amount: float) -> None:
    found = chain_of(graded(amount), with_grades(small_people(500)))
    before = pd.DataFrame(found.k_anonymized.frame)
    before = before[before[CLASS] >= 0].set_index(RECORD)["job"]
    after = pd.DataFrame(found.suppressed.frame).set_index(RECORD)["job"]
    ranked, n = sorted(before), len(before)
    assert Counter(before) == Counter(after)
    first = np.searchsorted(ranked, before.loc[after.index], side="left")
    last = np.searchsorted(ranked, before.loc[after.index], side="right") - 1
    reach = max(int(amount * n), 1)
    low, high = (np.array(ranked)[np.clip(at, 0, n - 1)] for at in (first - reach, last + reach))
    assert ((low <= after.to_numpy()) & (after.to_numpy() <= high)).all()


def test_small_changes_of_ranks_link_more_than_large_ones(small_people: People) -> None:
    people, found = with_grades(small_people(2_000)), []
    for amount in (0.001, 0.05, 1.0):
        bound = {"attacks": {"known_columns": [{"columns": ["job"], "risk": 0.1}]}}
        policy = graded(amount, anonymize={"k": 10}, gate=bound)
        found.append(verdict_of(policy, people, "known_columns.job"))
    values = [one.value or 0 for one in found]
    assert values[0] > 1.5 * values[2] and values[0] > values[1] > values[2]
    assert [str(one.status) for one in found][::2] == ["refused", "passed"]


def test_a_variant_without_ranks_leaves_the_order_out() -> None:
    domain = "columns.job.mechanism=randomized_response"
    _, drawn, swapped = variants_of(graded(0.1), [domain, "columns.job.mechanism=class_swapping"])
    assert (
        drawn.policy is not None and not drawn.policy.changed_columns and drawn.policy.promised_epsilon == 1
    )
    assert swapped.policy is not None and swapped.policy.changed_columns == {"job": "class_swapping"}
