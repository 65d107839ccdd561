"""The asset graph, one whole release, and what its failures leave behind."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from fnmatch import fnmatchcase

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.orchestration.chain import chain, chain_definitions
from anon_pipeline.policy import Policy
from anon_pipeline.publish.manifest.numbers import METADATA
from anon_pipeline.stages.facts.audience import DECLARED
from anon_pipeline.stages.private import STAGES
from tests.publish.manifest.test_numbers import GATE, curators, numbers_in

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_the_graph_is_the_way_of_the_data(small_policy: Callable[..., Policy]) -> None:
    before = {
        asset.key.path[-1]: {key.path[-1] for key in asset.dependency_keys}
        for asset in chain_definitions(chain(small_policy()))[0]
    }
    assert before == {
        "raw": set(),
        "deidentified": {"raw"},
        "k_anonymized": {"deidentified"},
        "perturbed": {"k_anonymized"},
        "shuffled": {"perturbed"},
        "suppressed": {"shuffled", "k_anonymized"},
        "published": {"suppressed", "k_anonymized"},
    }


@pytest.mark.parametrize(
    ("contact", "owners"), [("privacy@example.org", ["privacy@example.org"]), ("room 12", [])]
)
def test_each_asset_says_whose_it_is_what_it_is_of_and_that_its_runs_wait_for_each_other(
    small_policy: Callable[..., Policy], contact: str, owners: list[str]
) -> None:
    assets = chain_definitions(chain(small_policy(responsible={"owner": "Registry", "contact": contact})))[0]
    for asset in assets:
        [spec] = asset.specs
        published = spec.key.path[-1] == "published"
        assert (spec.group_name, list(spec.owners)) == ("small", owners)
        assert spec.tags["anon_pipeline/private"] == ("false" if published else "true")
        assert spec.kinds == {"python", "parquet"}
        assert asset.op.pool == "anon_pipeline_small"
    others = chain_definitions(chain(small_policy(publish={"format": "csv"})))[0]
    assert [spec.kinds for one in others for spec in one.specs][-1] == {"python", "csv"}


def test_a_release_is_materialized_checked_and_published(project: Make) -> None:
    made = project(gate={"linking_risk": 1.0, "t_closeness": {"illness": 0.9}})
    result = made.run("small_release")
    assert result.success
    for stage in STAGES:
        metadata = result.asset_materializations_for_node(f"small__{stage}")[0].metadata
        assert set(metadata) - {"stored_columns"}, f"{stage} shows no facts"
    published = result.asset_materializations_for_node("small__published")[0].metadata
    assert published["gate_passed"].value is True
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    beside = [manifest[part]["name"] for part in ("policy", "report")]
    names = ["manifest.json", manifest["files"][0]["name"], *beside]
    assert [path.name for path in made.released()] == names
    assert (published["report"].value, published["folder"].value) == (names[-1], "out")
    table = pd.read_parquet(made.folder / "out" / names[1])
    sizes = table.groupby(["age", "city"]).size()
    rows = [row.strip("| ").split(" | ") for row in published["classes"].value.splitlines()[2:]]
    assert sum(int(row[2]) for row in rows) == len(table)
    assert sum(int(row[1]) for row in rows) == len(sizes)
    assert max(len(row[3]) for row in rows) == 6
    words = {"records", "of", "a", "class", "classes", "largest", "risk", "to", "as", "bars"}
    assert set(re.findall(r"[a-z]+", published["classes"].value)) <= words
    assert published["data_digest"].value == manifest["data_digest"][:16] + "…"
    evaluations = result.get_asset_check_evaluations()
    assert len(evaluations) == 3 + 38 + 1  # contracts, limits, the suite
    gate = next(e for e in evaluations if e.check_name == "k")
    assert {name: value.value for name, value in gate.metadata.items()} == {
        "status": "passed",
        "value": gate.metadata["value"].value,
        "limit": 3.0,
        "sense": "at least",
        "measured": "small/gate.json",
        "data_digest": manifest["data_digest"],
        "policy_digest": made.policy.digest,
    }


@pytest.mark.parametrize("linking_risk", [1.0, 0.0], ids=["passed", "refused"])
def test_dagster_stores_no_number_that_is_the_curators(project: Make, linking_risk: float) -> None:
    """Nor does it store by how much a release was refused, or how near one of its limits was that passed."""
    known = {"known_columns": [{"columns": ["note"], "risk": 1}]}
    gate = {**GATE, "attacks": {**GATE["attacks"], **known}, "linking_risk": linking_risk}
    made = project(anonymize={"loss": "entropy"}, gate=gate)
    result = made.run("small_release")
    assert result.success == (linking_risk == 1.0)
    evaluations = result.get_asset_check_evaluations()
    keys = {name for each in evaluations for name in each.metadata}
    for stage in STAGES:
        for event in result.asset_materializations_for_node(f"small__{stage}"):
            known = set(DECLARED.get(stage, {})) | METADATA.keys()
            assert event.metadata.keys() <= known, stage
    shared = {}  # the share of the records that is released is also the value of a limit
    for event in result.asset_materializations_for_node("small__published"):
        assert all(any(fnmatchcase(key, known) for known in METADATA) for key in event.metadata)
        shared = {"share": event.metadata["records_released_share"].value}
    assert keys <= METADATA.keys()
    values = {each.check_name: each.metadata.get("value") for each in evaluations}
    shown = {"k", "single_value", "l_diversity_illness", "suppression", "prosecutor_risk"}
    shown |= {
        "rare_values_note",
        "found_groups_note",
        "rare_texts_illness",
        "outlying_income",
        "homogeneity_illness",
        "homogeneity_income",
        "spellings_illness",
        "list_cells_illness",
    }
    shown |= {f"near_homogeneity_{name}" for name in ("illness", "income", "note")}
    shown |= {f"joint_homogeneity_{name}" for name in ("illness", "income")}
    assert {name for name, value in values.items() if value is not None} == (
        shown | {"utility_fully_generalized"} if linking_risk else set()
    )
    said = [each.description or "" for each in evaluations if each.check_name in values]
    assert any(re.match(r"[\w.]+: [\d.]+ \(", one) for one in said) == (linking_risk == 1.0)
    told = [str(entry) for entry in made.instance.all_logs(result.run_id)]
    measured = json.loads((made.folder / "vault" / "small" / "gate.json").read_text())
    assert (made.folder / "vault" / "small" / "gate.json").stat().st_mode & 0o777 == 0o600
    public = {name: value.value for name, value in values.items() if value is not None}
    private = curators(measured, shared | public)  # a share of the same records can be equal by chance
    assert len(private) > 8
    found = {one for line in told for one in numbers_in(line)}
    assert {name for name, value in private.items() if value in found & numbers_in(value)} == set()
    if not linking_risk:
        assert any("small/gate.json" in line for line in told)


def test_the_vault_is_for_its_owner_alone(project: Make) -> None:
    made = project()
    assert made.run("small_release").success
    vault = made.folder / "vault"
    files = [path for path in vault.rglob("*") if path.is_file()]
    tables = [f"{stage}.parquet" for stage in STAGES]
    assert sorted(path.name for path in files) == sorted([*tables, ".gitignore", "gate.json", "project-id"])
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    folders = [vault, *(path for path in vault.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


def test_an_identifier_in_a_text_stops_the_run_at_deidentified(
    project: Make, small_people: Callable[..., pd.DataFrame]
) -> None:
    people = small_people()
    people.loc[7, "note"] = "write to canary@example.org"
    result = project(people).run("small_release")
    assert not result.success
    failed = [e for e in result.get_asset_check_evaluations() if not e.passed]
    assert [(e.asset_key.path[-1], e.check_name) for e in failed] == [("deidentified", "no_identifier_left")]
    assert "canary" not in str(failed)
    assert not result.asset_materializations_for_node("small__k_anonymized")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda p: p.assign(height=["CANARY-7f3a", *p["height"][1:]]),
            "height: must be a number, got 1 record",
        ),
        (lambda p: p.assign(**{"CANARY-7f3a": 1}), "does not declare 1 column of the data: column 8. "),
        (lambda p: p.iloc[:0], "at least one record"),
        (lambda p: p.iloc[:2], "k must be at most the number of records"),
    ],
)
def test_bad_data_fails_by_name_and_is_not_retried(
    project: Make,
    small_people: Callable[..., pd.DataFrame],
    change: Callable[[pd.DataFrame], pd.DataFrame],
    says: str,
) -> None:
    result = project(change(small_people())).run("small_release")
    assert not result.success
    events = [event for event in result.all_events if event.is_step_failure]
    assert len(events) == 1
    failure = events[0].step_failure_data
    assert says in failure.error.message
    assert "dagster._core.definitions.events.Failure" in failure.error.message
    text = "".join(
        [failure.error.message, *failure.error.stack, str(failure.error.cause), str(failure.error.context)]
    )
    assert "CANARY" not in text
    assert not any(event.event_type is dg.DagsterEventType.STEP_UP_FOR_RETRY for event in result.all_events)


def test_the_order_of_stages_in_the_vault_carries_the_facts(project: Make) -> None:
    made = project()
    made.run("small_release")
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    assert list(manifest["facts"]) == list(STAGES)


@pytest.mark.parametrize(
    ("broken", "step"),
    [
        ("anon_pipeline.orchestration.checks.raw_contract", "small__raw_contract"),
        (
            "anon_pipeline.orchestration.checks.deidentified_contract",
            "small__deidentified_no_identifier_left",
        ),
        ("anon_pipeline.orchestration.checks.k_anonymized_contract", "small__k_anonymized_contract"),
        ("anon_pipeline.orchestration.gate_checks.evaluate", "small__published"),
        ("anon_pipeline.orchestration.assets.read_source", "small__raw"),
        ("anon_pipeline.orchestration.assets.hashing_key", "small__deidentified"),
        ("anon_pipeline.orchestration.publish_asset.publish", "small__published"),
    ],
)
def test_a_crash_anywhere_is_reduced_to_type_and_place(
    project: Make, monkeypatch: pytest.MonkeyPatch, broken: str, step: str
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr(broken, crash)
    made = project()
    result = made.run("small_release")
    failures = [event for event in result.all_events if event.is_step_failure]
    assert [event.step_key for event in failures] == [step]
    error = failures[0].step_failure_data.error
    assert "crashed with ValueError at" in error.message
    assert "CANARY" not in str(error)
    assert "CANARY" not in "".join(str(event) for event in result.all_events)
    assert made.released() == []


def test_a_policy_that_leaves_the_project_makes_nothing(
    project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = project(source={"path": "../people.csv"})
    (made.folder / "people.csv").rename(made.folder.parent / "people.csv")
    result = made.run("small_release")
    assert not result.success
    assert "source.path: must stay within the folder of sources" in _said(result)
    assert made.released() == []
    monkeypatch.setenv("ANON_PIPELINE_ALLOW_OUTSIDE", "yes")
    assert project(source={"path": "../people.csv"}).run("small_release").success


def _said(result: dg.ExecuteInProcessResult) -> str:
    """Return what the failed steps say."""
    return "\n".join(
        event.step_failure_data.error.to_string() for event in result.all_events if event.is_step_failure
    )


def test_a_release_with_categories_is_materialized_judged_and_published(
    project: Make, small_people: Callable[..., pd.DataFrame]
) -> None:
    people = small_people().assign(job=lambda frame: frame["illness"].map(str.upper))
    tree = {"body": ["ASTHMA", "FLU", "GOUT"], "no": ["NONE"]}
    job = {"role": "perturb", "mechanism": "exponential", "hierarchy": {"tree": tree}}
    made = project(people, columns={"job": job}, gate={"linking_risk": 1.0, "suppression": 0.9})
    result = made.run("small_release")
    assert result.success
    failed = {e.check_name: e.severity for e in result.get_asset_check_evaluations() if not e.passed}
    assert set(failed.values()) <= {dg.AssetCheckSeverity.WARN}
    released = pd.read_parquet(next(path for path in made.released() if path.suffix == ".parquet"))
    assert set(released["job"]) <= {"ASTHMA", "FLU", "GOUT", "NONE"}
    manifest = (made.folder / "out" / "manifest.json").read_text()
    assert json.loads(manifest)["facts"]["perturbed"]["columns"]["job"]["values"] == 4
    assert "ASTHMA" not in manifest


def test_a_value_outside_of_the_domain_ends_the_run_without_a_trace(
    project: Make, small_people: Callable[..., pd.DataFrame]
) -> None:
    people = small_people().assign(job="no")
    people.loc[3, "job"] = "CANARY-7f3a"
    job = {"role": "perturb", "mechanism": "randomized_response", "values": ["yes", "no"]}
    result = project(people, columns={"job": job}).run("small_release")
    assert not result.success
    (event,) = (event for event in result.all_events if event.is_step_failure)
    said = str(event.step_failure_data.error)
    assert "job: every value must be of the policy's domain, got 1 record with others" in said
    assert "CANARY" not in said
