"""Checks of a release block it: a contract on each private table, and one per limit on `published`."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import pytest

from anon_pipeline.orchestration.chain import chain, chain_definitions
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged

Make = Callable[..., "Project"]  # noqa: F821 - conftest's


def test_every_check_is_blocking_and_there_is_one_per_limit(small_policy: Callable[..., Policy]) -> None:
    gate = {
        "t_closeness": {"income": 0.5},
        "l_diversity": {"illness": {"l": 2}},
        "linking_risk": 1,
        "confidence_k": 3,
    }
    assets, built = chain_definitions(chain(small_policy(gate=gate)))
    specs = [spec for checks in [*assets, *built] for spec in checks.check_specs]
    assert all(spec.blocking for spec in specs)
    assert sorted(f"{spec.asset_key.path[-1]}:{spec.name}" for spec in specs) == [
        "deidentified:no_identifier_left",
        "k_anonymized:contract",
        "published:accepted_gate_linking_risk",
        "published:confidence_k",
        "published:contract",
        "published:earlier_release",
        "published:found_groups_note",
        "published:great_expectations",
        "published:hidden_homogeneity_height",
        "published:homogeneity_illness",
        "published:homogeneity_income",
        "published:joint_homogeneity_illness",
        "published:joint_homogeneity_income",
        "published:k",
        "published:known_columns_illness",
        "published:known_columns_illness___income___note",
        "published:known_columns_income",
        "published:known_columns_note",
        "published:l_diversity_illness",
        "published:linking_risk",
        "published:list_cells_illness",
        "published:near_homogeneity_illness",
        "published:near_homogeneity_income",
        "published:near_homogeneity_note",
        "published:origin",
        "published:outlying_income",
        "published:rare_texts_illness",
        "published:rare_values_note",
        "published:released_identifiers",
        "published:repeated_noise",
        "published:repeated_people",
        "published:single_value",
        "published:spellings_illness",
        "published:suppression",
        "published:t_closeness_income",
        "published:told_originals",
        "published:told_secrets",
        "published:utility_error_of_spread_height",
        "published:utility_fully_generalized",
        "published:utility_information_loss",
        "published:utility_lost_values",
        "published:utility_relative_error_height",
        "published:utility_released",
        "raw:contract",
    ]


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
