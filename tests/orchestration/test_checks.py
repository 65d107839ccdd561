"""Checks of a release block it: one per limit, and a contract on each private table."""

from __future__ import annotations

import json
from collections.abc import Callable

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.orchestration.chain import chain, chain_definitions
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.stored import read_staged, write_staged

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_every_check_is_blocking_and_there_is_one_per_limit(small_policy: Callable[..., Policy]) -> None:
    gate = {
        "t_closeness": {"income": 0.5},
        "l_diversity": {"illness": {"l": 2}},
        "linking_risk": 1,
        "confidence_k": 3,
    }
    _, built = chain_definitions(chain(small_policy(gate=gate)))
    specs = [spec for checks in built for spec in checks.check_specs]
    assert all(spec.blocking for spec in specs)
    assert sorted(f"{spec.asset_key.path[-1]}:{spec.name}" for spec in specs) == [
        "deidentified:no_identifier_left",
        "k_anonymized:contract",
        "raw:contract",
        "suppressed:confidence_k",
        "suppressed:contract",
        "suppressed:great_expectations",
        "suppressed:k",
        "suppressed:l_diversity_illness",
        "suppressed:linking_risk",
        "suppressed:origin",
        "suppressed:suppression",
        "suppressed:t_closeness_income",
    ]


@pytest.mark.parametrize(("bound", "passed"), [(1.0, True), (0.001, False)])
def test_the_population_is_asked_by_the_checks_and_before_publishing(
    project: Make, bound: float, passed: bool
) -> None:
    limits = {"population": {"path": "people.csv", "journalist_risk": bound}}
    made = project(gate={"attacks": limits})
    result = made.run("small_release")
    assert result.success is passed
    found = {each.check_name: each for each in result.get_asset_check_evaluations()}
    assert found["population_journalist_risk"].passed is passed
    assert found["great_expectations"].passed is passed
    assert bool(made.released()) is passed
    if passed:
        gate = json.loads((made.folder / "out" / "manifest.json").read_text())["gate"]
        assert len(gate["population_digest"]) == 64


@pytest.mark.parametrize(
    ("gate", "check"),
    [
        ({"k": 100}, "k"),
        ({"linking_risk": 0.0}, "linking_risk"),
        ({"suppression": 0.0}, "suppression"),
        ({"attacks": {"attacker_success": 0.0}}, "attacker_success"),
    ],
)
def test_a_failing_gate_leaves_published_red_and_nothing_written(
    project: Make, small_people: Callable[..., pd.DataFrame], gate: dict[str, object], check: str
) -> None:
    people = small_people()
    people.loc[:5, "height"] = None
    made = project(people, gate=gate, columns={"height": {"missing": "suppress"}})
    result = made.run("small_release")
    assert not result.success
    failed = {e.check_name for e in result.get_asset_check_evaluations() if not e.passed}
    assert failed == {check, "great_expectations"}
    assert not result.asset_materializations_for_node("small__published")
    assert made.released() == []


@pytest.mark.parametrize(
    ("stage", "check", "change"),
    [
        ("raw", "contract", {"height": "CANARY-7f3a"}),
        ("k_anonymized", "contract", {"age": "CANARY-7f3a"}),
        ("deidentified", "no_identifier_left", {"note": "canary@example.org"}),
    ],
)
def test_each_contract_check_finds_a_table_that_breaks_it(
    project: Make, stage: str, check: str, change: dict[str, str]
) -> None:
    made = project()
    assert made.materialize(*STAGES, checks=False).success
    path = made.folder / "vault" / "small" / f"{stage}.parquet"
    staged = read_staged(path)
    write_staged(path, Staged(staged.frame.assign(**change), staged.facts))
    keys = [dg.AssetCheckKey(dg.AssetKey(["small", stage]), check)]
    job = dg.define_asset_job(
        "one_check", dg.AssetSelection.checks(*keys), executor_def=dg.in_process_executor
    )
    definitions = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job]))
    result = definitions.resolve_job_def("one_check").execute_in_process(
        instance=made.instance, raise_on_error=False
    )
    assert [e.passed for e in result.get_asset_check_evaluations()] == [False]
    assert "anary" not in "".join(str(event) for event in result.all_events)
