"""People with several records: whole releases whose k, confidence, suppression and ε are of people."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline import Locations, anonymize, make_release
from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import GateRefused, InfeasibleError, InputError, PolicyError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.encode.codes import CLASS, PERSON, PRIVATE, RECORD
from anon_pipeline.encode.grids import noises
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.measures import confident_originals, linking_risk_share
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.noise import add_noise
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish.verify.verify import Against, verify_in_detail
from anon_pipeline.stages.persons import ID
from anon_pipeline.stages.pipeline import deidentified, k_anonymized, perturbed, raw, shuffled, suppressed
from tests.cli.projects import Folder
from tests.projects import Project

Small = Callable[..., Policy]
KEY = b"0123456789abcdef"
PERSONS: dict[str, Any] = {"person": "person", "rows_per_person": 3, "deidentify": {"key_env": "PEOPLE_KEY"}}
OF_PEOPLE = [name for name, recoder in RECODERS.items() if recoder.of_people]
ALONE = {"univariate", "tclose_first", "fixed", "given"}  # need columns of their own, levels or classes


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEOPLE_KEY", KEY.decode())


def visits(persons: int = 90, seed: int = 0, most: int = 5) -> pd.DataFrame:
    """People with 1 to ``most`` records each: age and city stay, the rest varies from visit to visit."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, most + 1, persons)
    whose = np.repeat(np.arange(persons), times)
    n = len(whose)
    frame = pd.DataFrame(
        {
            "person": [f"CANARY-{i:04}" for i in whose],
            "age": np.repeat(rng.integers(20, 80, persons), times),
            "city": np.repeat(rng.choice(["Cork", "Dublin", "Galway"], persons), times),
            "height": np.repeat(rng.integers(150, 200, persons), times) + rng.integers(-2, 3, n),
            "income": rng.integers(20, 40, n) * 1000,
            "illness": rng.choice(["asthma", "flu", "gout", "none"], n),
            "note": rng.choice(["a", "b"], n),
        }
    )
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def quiet(policy: Callable[..., Policy], **changes: Any) -> Policy:
    """A policy without noise: k and the recoders alone."""
    bare: dict[str, Any] = {"person": "person", "deidentify": {"key_env": "PEOPLE_KEY"}}
    columns = {"height": {"role": "insensitive", "unit": None, "resolution": None}}
    return policy(**(bare | {"columns": columns, "perturb": None, "suppress": None} | changes))


# k of records is not k of people.


def test_ten_records_of_one_person_are_no_class_of_ten(small_policy: Small) -> None:
    people = visits(60, most=1)
    heavy = people.iloc[[0] * 10].assign(age=91, city="Cork")  # alone in the decade, but for itself
    table = pd.concat([people, heavy.assign(person="CANARY-9999")], ignore_index=True)
    levels = {"age": {"role": "generalize", "hierarchy": {"intervals": [10]}}}
    limits = {"anonymize": {"k": 10, "suppression_limit": 0.0, "recoder": "ola"}, "gate": {"k": 10}}
    columns = {
        "height": {"role": "insensitive", "unit": None, "resolution": None, "round": 50},
        **levels,
        "city": None,
    }
    records = small_policy(columns=columns, perturb=None, suppress=None, **limits)
    counted = quiet(small_policy, columns=columns, **limits)
    few = table[table["age"] >= 90]
    crowd = pd.concat([few, people.assign(age=30)], ignore_index=True).drop(columns="city")
    with pytest.raises(GateRefused, match="values of person repeat as if people had several records"):
        anonymize(records, crowd)
    believed = records.model_copy(update={"one_record_per_person": True})
    released = anonymize(believed, crowd)  # ten records in the class of one person: passed
    assert Counter(released.frame["age"].astype(str))[released.frame["age"].astype(str).iloc[0]] >= 10
    assert len(released.frame["age"].unique()) == 2
    verdicts = {v.limit: v.status for v in released.report.verdicts}
    assert verdicts["repeated_people"] is Status.WARNED
    (reason,) = (v.reason for v in released.report.verdicts if v.limit == "repeated_people")
    assert str(reason).startswith("the policy says one_record_per_person: true, but values of person repeat")
    found = anonymize(counted, crowd)
    assert len(found.frame["age"].unique()) == 1  # the person's class alone is no class
    assert found.facts["k_anonymized"]["smallest_class"] == 61


def test_nothing_is_released_of_fewer_people_than_k(small_policy: Small) -> None:
    table = pd.concat([visits(2, most=1).assign(height=170, note="a")] * 30, ignore_index=True)
    with pytest.raises(InfeasibleError, match=r"number of people \(2\)"):
        anonymize(quiet(small_policy), table)


@pytest.mark.parametrize("recoder", [name for name in OF_PEOPLE if name not in ALONE])
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_every_class_of_every_recoder_has_k_people(
    small_policy: Small, recoder: str, seed: int, k: int
) -> None:
    check_recoder(quiet(small_policy, anonymize={"k": k, "recoder": recoder}, gate={"k": k}), seed, k)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_every_class_of_tclose_first_has_k_people(small_policy: Small, seed: int, k: int) -> None:
    limits = {"k": k, "t_closeness": {"income": 0.4}}
    check_recoder(quiet(small_policy, anonymize={"k": k, "recoder": "tclose_first"}, gate=limits), seed, k)


def check_recoder(policy: Policy, seed: int, k: int) -> None:
    """Hold every class of a recoding against the people in it, counted by the name that they really have."""
    table = visits(40, seed)
    before = raw(policy, table, entropy=seeded_entropy(seed))
    recoded = k_anonymized(policy, deidentified(policy, before, key=KEY))
    names = before.frame.set_index(RECORD)["person"]
    classes = recoded.frame[recoded.frame[CLASS] >= 0]
    people = names.loc[classes[RECORD]].groupby(classes[CLASS].to_numpy()).nunique()
    assert people.min() >= k
    assert recoded.facts["k_anonymized"]["smallest_class"] == people.min()
    gone = names.loc[recoded.frame.loc[recoded.frame[CLASS] < 0, RECORD]].nunique()
    assert gone <= policy.suppressible(names.nunique())


@pytest.mark.parametrize("recoder", [name for name in RECODERS if name not in OF_PEOPLE])
def test_recoders_of_classes_of_records_are_refused_by_name(small_policy: Small, recoder: str) -> None:
    with pytest.raises(PolicyError, match=f"anonymize.recoder: {recoder} makes classes of k records"):
        quiet(small_policy, anonymize={"recoder": recoder}, columns={"city": None})


# Confidence, diversity, suppression and linking of people, by brute force on a release with noise.


@pytest.fixture
def measured(small_policy: Small) -> tuple[Policy, pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    """A release with noise on its way: policy, originals, released table, facts."""
    gate: dict[str, Any] = {"k": 3, "suppression": 1.0, "confidence_k": 3, "linking_risk": 1.0}
    gate["l_diversity"] = {"illness": {"l": 2}}
    policy = small_policy(**PERSONS, perturb={"epsilon": 6}, suppress={"confidence": 0.8}, gate=gate)
    staged = deidentified(policy, raw(policy, visits(), entropy=seeded_entropy(1)), key=KEY)
    recoded = k_anonymized(policy, staged)
    noisy = perturbed(policy, recoded, entropy=seeded_entropy(2))
    last = suppressed(policy, shuffled(policy, noisy, entropy=seeded_entropy(3)), recoded)
    return policy, recoded.frame, last.frame, dict(last.facts)


def test_confidence_counts_people(
    measured: tuple[Policy, pd.DataFrame, pd.DataFrame, dict[str, Any]],
) -> None:
    from anon_pipeline.evidence.measures import class_intervals, compact_labels

    policy, originals, released, _ = measured
    evidence = evidence_from(released, policy, originals=originals)
    found = confident_originals(evidence, policy, cap=100)
    labels = originals[CLASS].to_numpy()
    exact = np.where(labels >= 0, originals["height"], 0).astype(np.int64)[:, None]
    _, reach = class_intervals(noises(policy), exact, compact_labels(labels), confidence=0.8)
    for i, row in enumerate(released.itertuples()):
        own = originals.loc[originals[RECORD] == row._1].iloc[0]
        near = originals[
            (originals[CLASS] == own[CLASS])
            & ((originals["height"] - row.height).abs() <= reach[own[CLASS], 0])
        ]
        assert found[i] == near[PERSON].nunique()
    assert ((found == 0) | (found >= 3)).all()


def test_shares_and_counts_are_those_of_people(
    measured: tuple[Policy, pd.DataFrame, pd.DataFrame, dict[str, Any]],
) -> None:
    policy, originals, released, facts = measured
    report = evaluate(released, policy, facts, originals=originals)
    verdicts = {v.limit: v for v in report.verdicts}
    whole = originals[PERSON].value_counts()
    left = originals.set_index(RECORD).loc[released[RECORD], PERSON].value_counts()
    gaps = int((left.reindex(whole.index, fill_value=0) < whole).sum())
    assert verdicts["suppression"].value == gaps / len(whole)
    assert facts["suppressed"]["people_with_gaps"] == gaps
    assert facts["suppressed"]["released_people"] == len(left)
    assert facts["deidentified"]["people"] == len(whole) == 90
    assert facts["deidentified"]["excess_records"] == len(visits()) - len(originals) > 0
    assert whole.max() == 3
    classes = released.assign(who=originals.set_index(RECORD).loc[released[RECORD], PERSON].to_numpy())
    people = classes.groupby(["age", "city"])["who"].nunique()
    assert verdicts["k"].value == people.min() >= 3
    assert (people < classes.groupby(["age", "city"]).size()).any()
    for _, one in classes.groupby(["age", "city"]):
        holders = one.groupby("illness")["who"].nunique()
        assert min(len(holders), 1 + one["who"].nunique() - holders.max()) >= 2


def test_a_person_is_linked_by_any_record_to_any_record(
    measured: tuple[Policy, pd.DataFrame, pd.DataFrame, dict[str, Any]],
) -> None:
    policy, originals, released, _ = measured
    share = linking_risk_share(evidence_from(released, policy, originals=originals), policy)
    own, linked = originals.set_index(RECORD), set()
    for record, height in zip(released[RECORD], released["height"], strict=True):
        mine = originals[originals[CLASS] == own.loc[record, CLASS]]
        far = (mine["height"] - height).abs()
        if own.loc[record, PERSON] in set(mine.loc[far == far.min(), PERSON]):
            linked.add(own.loc[record, PERSON])
    assert share == len(linked) / own.loc[released[RECORD], PERSON].nunique()


def test_a_file_alone_does_not_say_how_many_people_there_are(
    measured: tuple[Policy, pd.DataFrame, pd.DataFrame, dict[str, Any]],
) -> None:
    policy, _, released, _ = measured
    alone = released.drop(columns=list(PRIVATE), errors="ignore")
    found = {v.limit: v.status for v in evaluate(alone, policy).verdicts}
    assert (found["k"], found["l_diversity.illness"]) == (Status.UNMEASURED, Status.UNMEASURED)
    found = {v.limit: v.status for v in evaluate(alone.drop_duplicates(["age", "city"]), policy).verdicts}
    assert found["k"] is Status.REFUSED


# The ε of a person.


def test_the_noise_of_all_records_of_a_person_tells_the_epsilon_of_the_policy(small_policy: Small) -> None:
    """Three rows at one end of the class, or at the other: all beyond the end are e^ε times as likely."""
    epsilon, people, rows = 1.5, 60_000, 3
    policy = small_policy(**PERSONS, perturb={"epsilon": epsilon}, suppress=None, gate={"k": 3})
    (noise,) = noises(policy)
    assert float(noise.epsilon) == epsilon / rows
    values = np.repeat([0, 10], people * rows)[:, None]
    one = EquivalenceClasses(np.zeros(len(values), np.int64), np.array([len(values)]))
    entropy, bounds = seeded_entropy(11), [None]
    drawn = add_noise(values, one, noises=[noise], entropy=entropy, bounds=bounds, names=["height"]).values
    beyond = (drawn[:, 0].reshape(2, people, rows) <= 0).all(axis=2).sum(axis=1)
    ratio = math.log(beyond[0] / beyond[1])
    error = math.sqrt(sum(1 / count - 1 / people for count in beyond.tolist()))
    assert abs(ratio - epsilon) < 4 * error < 0.25


def test_excess_records_go_by_what_is_in_them_alone(small_policy: Small) -> None:
    policy, table = small_policy(**PERSONS), visits(seed=4)

    def kept(frame: pd.DataFrame, key: bytes = KEY) -> set[tuple[object, ...]]:
        made = deidentified(policy, raw(policy, frame, entropy=seeded_entropy(0)), key=key).frame
        return set(made.drop(columns=[RECORD, PERSON]).itertuples(index=False, name=None))

    first = kept(table)
    assert kept(table.sample(frac=1, random_state=9)) == first  # not the order
    some = table[table["person"] != "CANARY-0003"]
    assert kept(some) <= first  # nobody else's records
    assert kept(table, b"fedcba9876543210") != first  # but the key


# End to end: published, verified, and nobody's id anywhere.


def folder_of(tmp_path: Path, small: Small, **changes: Any) -> tuple[Policy, Path]:
    policy = small(**PERSONS, gate={"linking_risk": 1.0, "suppression": 1.0}, **changes)
    visits(150).to_csv(tmp_path / "people.csv", index=False)
    return policy, tmp_path


def leaks(folder: Path) -> list[str]:
    """Name the files below a folder that hold an id: of a person, or the hash of one."""
    from anon_pipeline.stages.persons import shared_ids

    names = visits(150)["person"]
    needles = [b"CANARY", PERSON.encode(), *(one.encode() for one in shared_ids(names, KEY).unique())]
    return [
        f"{path.name}"
        for path in folder.rglob("*")
        if path.is_file() and path.name != "people.csv" and ".vault" not in path.parts
        if any(needle in path.read_bytes() for needle in needles)
    ]


def test_a_release_of_people_is_published_and_verified(tmp_path: Path, small_policy: Small) -> None:
    policy, folder = folder_of(tmp_path, small_policy)
    reported: list[bytes] = []
    written = make_release(policy, Locations.of(folder, {}), reported=reported.append)
    facts = written.manifest["facts"]
    assert facts["deidentified"]["people"] == 150
    assert facts["deidentified"]["excess_records"] > 0
    assert written.manifest["epsilon"] == 2
    found = verify_in_detail(folder / "out", Against(policy, folder))
    assert not [v.as_text() for v in found.report.verdicts if v.status is Status.REFUSED]
    assert {each.path for each in found.unverified} >= {"facts.deidentified.people"}
    report = next((folder / "out").glob("*.html")).read_text()
    assert "People are counted: all records of one person count as one." in report
    assert "ε of a person" in report
    beyond, kept = facts["deidentified"]["excess_records"], facts["suppressed"]["released_people"]
    assert f"{beyond} records beyond 3 per person (rows_per_person)" in report
    assert f'beyond 3 per person (rows_per_person)</th><td class="n">{beyond}</td>' in report
    gaps = facts["suppressed"]["people_with_gaps"]
    suppressed = next(v for v in written.report.verdicts if v.limit == "suppression").value
    assert suppressed is not None and gaps == round(suppressed * 150) >= 150 - kept
    assert f"At least one record of {gaps} of 150 people" in report
    assert f"of {kept} people" in report and "of 150 people" in report
    assert leaks(folder) == []
    assert not any(name in reported[0].decode() for name in ("CANARY", PERSON))


def test_reports_say_how_many_of_the_people(tmp_path: Path, small_policy: Small) -> None:
    policy, folder = folder_of(tmp_path, small_policy)
    reported: list[bytes] = []
    written = make_release(policy, Locations.of(folder, {}), reported=reported.append)
    public, internal = next((folder / "out").glob("*.html")).read_text(), reported[0].decode()
    released = written.manifest["facts"]["suppressed"]["released_people"]
    rows = re.findall(r'data-of="how many" class="n">(.*?)</td>', public)
    assert rows[0] == "–"  # by the class alone: nobody knows the people of a class
    assert len(rows) > 1
    assert all(f" of {released} people" in row for row in rows[1:])
    assert "People of whom an attacker correctly links at least one record" in internal
    measured = json.loads(next(folder.rglob("gate.json")).read_text())["gate"]["verdicts"]
    (people,) = [v["value"] for v in measured if v["limit"] == "k"]
    chances = re.findall(r'data-of="chance by the class alone" class="n">(.*?)</td>', internal)
    assert max(float(chance.removesuffix(" %")) for chance in chances) == float(f"{100 / people:.4g}")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda facts: facts["suppressed"].update(people_with_gaps=10**4), "facts"),
        (lambda facts: facts["suppressed"].update(released_people=10**4), "facts"),
        (lambda facts: facts["deidentified"].update(people=None), "facts"),
        (lambda facts: facts["deidentified"].update(excess_records=0), "facts"),
        (lambda facts: facts["deidentified"].update(people=149), "recorded gate"),  # or fewer than released
    ],
)
def test_forged_counts_of_people_are_refused(
    tmp_path: Path, small_policy: Small, change: Callable[[Any], None], says: str
) -> None:
    policy, folder = folder_of(tmp_path, small_policy)
    make_release(policy, Locations.of(folder, {}))
    path = folder / "out" / "manifest.json"
    document = json.loads(path.read_text())
    change(document["facts"])
    path.write_text(json.dumps(document))
    found = verify_in_detail(folder / "out", Against(policy, folder)).report
    refused = {v.limit for v in found.verdicts if v.status is Status.REFUSED}
    came, left = (
        document["facts"]["deidentified"]["people"],
        document["facts"]["suppressed"]["released_people"],
    )
    assert ("facts" if came is None or left > came else says) in refused


def test_the_command_line_says_people_and_no_name(folder: Callable[..., Folder]) -> None:
    limits = {"linking_risk": 1.0, "suppression": 1.0}
    made = folder(visits(150), **PERSONS, gate=limits)
    said = []
    for command in (["run"], ["verify", "out", "--policy"]):
        done = made.call(*command, "policy.yaml")
        assert done.code == 0, done.err
        said.append(done.out + done.err)
    assert "CANARY" not in "".join(said)
    assert leaks(made.path) == []


def test_the_command_line_warns_where_records_may_be_of_one_person(folder: Callable[..., Folder]) -> None:
    made = folder(visits(150), gate={"suppression": 1.0}, one_record_per_person=True)
    done = made.call("run", "policy.yaml")
    assert done.code == 0, done.err
    assert "warned" in done.out
    document = json.loads((made.path / "out" / "manifest.json").read_text())
    (verdict,) = (v for v in document["gate"]["verdicts"] if v["limit"] == "repeated_people")
    assert (verdict["status"], verdict["value"], verdict["reason"]) == ("warned", None, None)
    assert "repeated" not in document["facts"]["raw"]  # for the curator
    assert "Records are counted, not people" in "".join(document["guarantee"])
    assert "CANARY" not in done.out + done.err
    checked = made.call("verify", "out", "--json")
    told = {
        one["limit"]: one["status"]
        for one in json.loads(checked.out)["verdicts"]
        if "it warned when the release was made" in (one["reason"] or "")
    }
    assert checked.code == 0
    assert told["gate.repeated_people"] == "unmeasured"
    warned = {one["limit"] for one in document["gate"]["verdicts"] if one["status"] == "warned"}
    assert {limit.removeprefix("gate.") for limit in told} <= warned


def test_the_command_line_refuses_records_of_one_person_before_any_epsilon_is_spent(
    folder: Callable[..., Folder],
) -> None:
    made = folder(visits(150), gate={"suppression": 1.0})
    for command in ("run", "rehearse"):
        done = made.call(command, "policy.yaml")
        assert done.code == 1, done.err
        assert "repeated_people: values of person repeat as if people had several records" in done.err
        assert "No noise was drawn, and no ε was spent." in done.err
        assert "one_record_per_person: true" in done.err
        assert "CANARY" not in done.out + done.err
        as_json = made.call(command, "policy.yaml", "--json")
        document = json.loads(as_json.out)
        assert (as_json.code, document["published"], document["verdicts"]) == (1, False, [])
        assert document["error"].startswith("repeated_people: values of person repeat")
    assert not (made.path / "out").exists()


def test_dagster_refuses_records_of_one_person_before_any_epsilon_is_spent(
    project: Callable[..., Project],
) -> None:
    made = project(visits(150), gate={"linking_risk": 1.0, "suppression": 1.0})
    result = made.run("small_release")
    (failure,) = (event for event in result.all_events if event.is_step_failure)
    assert (failure.step_key or "").endswith("perturbed")
    assert "repeated_people: values of person repeat" in str(failure.event_specific_data)
    assert "No noise was drawn, and no ε was spent" in str(failure.event_specific_data)
    assert "CANARY" not in str(failure.event_specific_data)
    assert not (made.folder / "out").exists()


def test_a_release_of_people_in_dagster(project: Callable[..., Project]) -> None:
    made = project(visits(150), **PERSONS, gate={"linking_risk": 1.0, "suppression": 1.0})
    result = made.run("small_release")
    assert result.success
    events = "".join(str(event) for event in result.all_events)
    assert "CANARY" not in events
    assert PERSON not in "".join(path.read_bytes().decode("latin-1") for path in made.released())
    warned = {each.check_name for each in result.get_asset_check_evaluations() if not each.passed}
    assert {name.partition("_")[0] for name in warned} <= {"accepted", "known", "utility"}


def test_a_table_without_names_is_refused_by_count(small_policy: Small) -> None:
    table = visits()
    table.loc[:4, "person"] = None
    table.loc[5, "person"] = "  "
    said = (
        r"^person: a person must be named in every record, got 6 records without one\. "
        r"Complete these records in the source, or leave them out there\.$"
    )
    with pytest.raises(InputError, match=said) as raised:
        anonymize(small_policy(**PERSONS), table)
    (where,) = raised.value.withheld_numbers()
    assert [*where.numbers] == [1, 2, 3, 4, 5, 6]
    sample = {"sample": {"share": 0.9}}
    with pytest.raises(InputError, match="person: a person must be named in every record") as raised:
        anonymize(small_policy(**PERSONS, **sample), table)
    assert raised.value.withheld_numbers() == ()


def test_ids_of_people_are_keyed_and_lie_in_the_private_tables_alone(small_policy: Small) -> None:
    policy, table = small_policy(**PERSONS), visits()
    table["person"] = [name.lower() if i % 2 else f" {name} " for i, name in enumerate(table["person"])]
    made = deidentified(policy, raw(policy, table, entropy=seeded_entropy(0)), key=KEY)
    assert made.frame[PERSON].nunique() == 90
    assert made.frame[PERSON].str.fullmatch(rf"[0-9a-f]{{{ID}}}").all()
    other = deidentified(policy, raw(policy, table, entropy=seeded_entropy(0)), key=KEY[::-1])
    assert set(other.frame[PERSON]).isdisjoint(made.frame[PERSON])


def test_without_person_a_policy_is_what_it_was(small_policy: Small) -> None:
    document = small_policy().model_dump(mode="json", exclude_defaults=True)
    assert "person" not in document
    assert policy_from(document).rows == 1


def test_dagster_refuses_generalized_names_before_any_epsilon_is_spent(
    project: Callable[..., Project],
) -> None:
    given, family = ("Amir", "Olivia", "Leo", "Chloe", "Noah"), ("Ahmed", "Walker", "Chen", "Silva", "Khan")
    table = visits(150, most=1)
    names = [f"{given[i % 5]} {family[i // 5 % 5]}" for i in range(len(table))]
    label = {"role": "generalize", "hierarchy": {"suppress": True}}
    made = project(table.assign(label=names), columns={"label": label}, gate={"suppression": 1.0})
    result = made.run("small_release")
    (failed,) = (
        one
        for one in result.get_asset_check_evaluations()
        if not one.passed and "identifier" in one.check_name
    )
    assert failed.blocking and "label: must not be generalized" in str(failed.description)
    assert "Walker" not in f"{failed.description} {failed.metadata}"
    assert not (made.folder / "out").exists()
