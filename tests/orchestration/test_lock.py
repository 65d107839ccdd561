"""The gate cannot be talked around: `published` alone, unchecked, on other data, on another partition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from anon_pipeline.ledger import ledger_at
from anon_pipeline.orchestration.names import check_names, gate_check_keys
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def refused(result: dg.ExecuteInProcessResult) -> str:
    """Return why `published` failed."""
    failures = [event for event in result.all_events if event.is_step_failure]
    assert [event.step_key for event in failures] == ["small__published"]
    return failures[0].step_failure_data.error.message


def test_published_alone_is_judged_where_it_is_published(staged: Make) -> None:
    made = staged()
    assert made.released() == []
    assert made.materialize("published").success
    assert len(made.released()) == 4


def test_published_without_its_checks_passes_when_the_gate_job_ran_on_its_data(staged: Make) -> None:
    made = staged()
    assert made.run("small_gate").success
    assert made.materialize("published", checks=False).success
    assert len(made.released()) == 4


def test_a_job_without_checks_is_refused(project: Make) -> None:
    made = project()
    message = refused(made.materialize(*STAGES, "published", checks=False))
    assert "not evaluated on this data and policy: confidence" not in message
    assert (
        "contract, earlier_release, found_groups_note, great_expectations, hidden_homogeneity_height, "
        "homogeneity_illness, " in message
    )
    assert "homogeneity_income, k, " in message
    assert (
        "origin, outlying_income, rare_texts_illness, rare_values_note, released_identifiers, "
        "repeated_noise, repeated_people, single_value, suppression" in message
    )
    assert made.released() == []


def test_published_without_its_checks_is_refused_until_the_gate_job_ran(staged: Make) -> None:
    made = staged(checks=False)
    message = refused(made.materialize("published", checks=False))
    assert "not evaluated on this data" in message
    assert "Run small_gate, or published with its checks." in message
    assert made.run("small_gate").success
    assert made.materialize("published", checks=False).success


def test_some_of_the_checks_are_not_enough(staged: Make) -> None:
    made = staged(checks=False)
    keys = [key for key in gate_check_keys(made.policy) if key.name != "origin"]
    job = dg.define_asset_job(
        "some_checks", dg.AssetSelection.checks(*keys), executor_def=dg.in_process_executor
    )
    definitions = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job]))
    result = definitions.resolve_job_def("some_checks").execute_in_process(instance=made.instance)
    assert {e.check_name for e in result.get_asset_check_evaluations()} == {key.name for key in keys}
    message = refused(made.materialize("published", checks=False))
    assert "not evaluated on this data and policy: origin." in message


def test_published_with_some_of_its_checks_is_refused(staged: Make) -> None:
    """As somebody selects them in the UI."""
    made = staged()
    keys = [key for key in gate_check_keys(made.policy) if key.name == "k"]
    published = dg.AssetSelection.assets(dg.AssetKey(["small", "published"])).without_checks()
    job = dg.define_asset_job(
        "some", published | dg.AssetSelection.checks(*keys), executor_def=dg.in_process_executor
    )
    definitions = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job]))
    result = definitions.resolve_job_def("some").execute_in_process(
        instance=made.instance, raise_on_error=False
    )
    assert [e.check_name for e in result.get_asset_check_evaluations()] == ["k"]
    said = refused(result)
    assert (
        "not evaluated on this data and policy: contract, earlier_release, found_groups_note, "
        "great_expectations, hidden_homogeneity" in said
    )
    assert made.released() == []


def test_other_data_than_was_checked_is_refused(staged: Make) -> None:
    made = staged()
    assert made.run("small_gate").success
    assert made.materialize("perturbed", "shuffled", "suppressed", checks=False).success  # fresh noise
    assert "not evaluated on this data" in refused(made.materialize("published", checks=False))
    assert made.released() == []


def test_data_that_breaks_a_limit_is_refused_by_the_gate_itself(staged: Make) -> None:
    made = staged()
    path = made.folder / "vault" / "small" / "suppressed.parquet"
    staged = read_staged(path)
    write_staged(path, Staged(staged.frame.iloc[:4], staged.facts))
    assert "The gate refused the release" in refused(made.materialize("published"))


def test_tables_that_do_not_belong_together_are_one_red_check(staged: Make) -> None:
    made = staged()
    path = made.folder / "vault" / "small" / "suppressed.parquet"
    staged = read_staged(path)
    write_staged(path, Staged(staged.frame.assign(illness="flu"), staged.facts))
    evaluations = made.run("small_gate").get_asset_check_evaluations()
    assert [(e.check_name, e.passed) for e in evaluations] == [("contract", False)]
    for checks in (True, False):
        assert "must be as in the vault" in refused(made.materialize("published", checks=checks))
    assert made.released() == []


@pytest.mark.parametrize(
    "change",
    [
        {"perturb": {"epsilon": 0.01}},
        {"suppress": {"confidence": 0.5}},
        {"columns": {"height": {"output_bounds": [168, 171]}}},
    ],
)
def test_tables_of_another_policy_are_refused_though_its_checks_ran(
    project: Make, staged: Make, change: dict[str, object]
) -> None:
    staged()
    made = project(**change)
    made.run("small_gate")
    assert "made by another policy than this one" in refused(made.materialize("published"))
    assert made.released() == []


def test_a_column_that_was_released_as_it_is_is_not_noise_afterwards(project: Make, staged: Make) -> None:
    before = {"height": {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}}
    staged(columns=before, perturb=None, suppress=None)
    made = project()
    made.run("small_gate")
    assert "made by another policy" in refused(made.materialize("published"))


def test_a_hierarchy_that_changed_after_the_stages_is_refused(project: Make) -> None:
    made = project(columns={"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}})
    table = made.folder / "city.csv"
    table.write_text("Cork;*\nDublin;*\nGalway;*\n")
    assert made.materialize(*STAGES).success
    table.write_text("Cork;South;*\nDublin;East;*\nGalway;West;*\n")
    assert "a hierarchy table has changed" in refused(made.materialize("published"))


def test_checks_by_a_laxer_policy_do_not_count(project: Make, staged: Make) -> None:
    height = {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}
    quiet = {"columns": {"height": height}, "perturb": None, "suppress": None}
    before = staged(gate={"suppression": 0.9}, **quiet)
    assert before.run("small_gate").success
    made = project(gate={"suppression": 0.5}, **quiet)
    assert "not evaluated on this data and policy" in refused(made.materialize("published", checks=False))


def test_noise_of_a_laxer_policy_is_refused_before_its_checks_are_asked(project: Make, staged: Make) -> None:
    staged(gate={"suppression": 0.9})
    made = project(gate={"suppression": 0.5})
    assert "was drawn by another policy" in refused(made.materialize("published"))
    events = ledger_at(f"sqlite:///{made.folder}/ledger.sqlite").events()
    assert events[-1].event == "failed"  # not left open, which would hold its ε as if it were being written


def test_a_table_gone_from_the_vault_is_refused_by_name(staged: Make) -> None:
    made = staged()
    (made.folder / "vault" / "small" / "k_anonymized.parquet").unlink()
    result = made.materialize("published")
    assert not result.success
    assert made.released() == []
    text = "".join(str(event.step_failure_data.error) for event in result.all_events if event.is_step_failure)
    assert "the vault does not have" in text


def test_the_check_of_another_partition_does_not_count(project: Make) -> None:
    made = project(
        schedule={"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"},
        publish={"to": "out"},
    )
    first, second = "2026-01-05", "2026-01-12"
    assert made.materialize(*STAGES, partition=first).success
    assert made.run("small_gate", partition=first).success
    assert made.materialize(*STAGES, checks=False, partition=second).success
    alone = made.materialize("published", checks=False, partition=second)
    assert "not evaluated on this data" in refused(alone)
    assert made.materialize("published", checks=False, partition=first).success  # not the latest evaluation's
    assert {path.parent.name for path in made.released()} == {first}


def test_the_same_table_in_another_partition_is_not_authorized(project: Make, tmp_path: Path) -> None:
    made = project(schedule={"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"})
    first, second = "2026-01-05", "2026-01-12"
    assert made.materialize(*STAGES, partition=first).success
    for stage in ("k_anonymized", "suppressed"):
        folder = made.folder / "vault" / "small" / stage
        write_staged(folder / f"{second}.parquet", read_staged(folder / f"{first}.parquet"))
    said = refused(made.materialize("published", partition=second))
    assert "suppressed: belongs to another partition" in said


def test_a_newer_failure_on_the_same_data_counts(staged: Make) -> None:
    made = staged()
    assert made.run("small_gate").success
    key = gate_check_keys(made.policy)[0]
    record = made.instance.get_latest_asset_check_evaluation_record(key)
    assert record is not None
    evaluation = record.event.dagster_event.asset_check_evaluation_data  # type: ignore[union-attr]
    made.instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=key.asset_key, check_name=key.name, passed=False, metadata=evaluation.metadata
        )
    )
    assert f"failed: {key.name}" in refused(made.materialize("published", checks=False))


def test_check_names_are_plain_and_different(small_policy: Callable[..., Policy]) -> None:
    columns = {
        "a b": {"role": "sensitive"},
        "a.b": {"role": "sensitive"},
        "größe": {"role": "sensitive"},
    }
    names = check_names(small_policy(columns=columns, gate={"t_closeness": {"a b": 1, "a.b": 1, "größe": 1}}))
    assert len(set(names.values())) == len(names)
    assert {names["t_closeness.a b"], names["t_closeness.a.b"]} == {"t_closeness_a_b", "t_closeness_a_b_2"}
    assert all(name.isascii() and name.replace("_", "a").isalnum() for name in names.values())


@pytest.mark.parametrize("limit", ["k", "origin", "contract"])
def test_the_lock_asks_for_every_gate_check(small_policy: Callable[..., Policy], limit: str) -> None:
    assert limit in {key.name for key in gate_check_keys(small_policy())}
