"""Draws in Dagster: a retry and a run again use the same one, whichever process they are in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.publish.draws import drawing
from anon_pipeline.stages.private import STAGES, Staged

Make = Callable[..., Any]


def found(folder: Path) -> list[State]:
    return list(release_states(ledger_at(f"sqlite:///{folder}/ledger.sqlite").events()).values())


def sealed(folder: Path) -> list[Path]:
    return list((folder / "vault").rglob("*.draw"))


def noise(folder: Path) -> list[tuple[str, float]]:
    """The noisy values that lie in the vault, by person."""
    table = pd.read_parquet(folder / "vault" / "small" / "perturbed.parquet")
    return sorted(zip(table["note"], table["height"], strict=True))


@pytest.fixture
def people(small_people: Make, traced: None) -> pd.DataFrame:
    made: pd.DataFrame = small_people()
    made["note"] = [f"n{i}" for i in range(len(made))]
    return made


def test_a_job_that_the_gate_refuses_has_the_same_noise_when_it_is_run_again(
    project: Make, people: pd.DataFrame
) -> None:
    made = project(people, gate={"attacks": {"prosecutor_risk": 0.001}}, budget={"epsilon": 2})
    values = []
    for _ in range(3):
        assert not made.run("small_release").success
        values.append(noise(made.folder))
    assert values[1:] == values[:1] * 2
    assert [(state.name, state.counts) for state in found(made.folder)] == [("failed", True)]
    assert len(sealed(made.folder)) == 1


def test_a_retry_policy_does_not_draw_anew(
    project: Make, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step's table cannot be stored, twice; Dagster retries it by itself."""
    made = project(people, budget={"epsilon": 2})
    values: list[list[tuple[str, float]]] = []
    store = VaultIOManager.handle_output

    def failing(manager: VaultIOManager, context: dg.OutputContext, staged: Staged) -> None:
        if context.asset_key.path[-1] == "perturbed":
            values.append(sorted(zip(staged.frame["note"], staged.frame["height"], strict=True)))
            if len(values) < 3:
                raise OSError("the table cannot be stored")
        store(manager, context, staged)

    monkeypatch.setattr(VaultIOManager, "handle_output", failing)
    selection = dg.AssetSelection.assets(*(dg.AssetKey(["small", stage]) for stage in STAGES))
    job = dg.define_asset_job(
        "retried",
        selection.without_checks(),
        op_retry_policy=dg.RetryPolicy(max_retries=3),
    )
    resolved = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job])).resolve_job_def("retried")
    result = resolved.execute_in_process(
        instance=made.instance,
        raise_on_error=False,
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    assert result.success
    assert len(values) == 3
    assert values[1:] == values[:1] * 2
    assert [state.name for state in found(made.folder)] == ["open"]


def test_perturbed_materialized_again_is_the_same_draw_until_it_is_published(
    project: Make, people: pd.DataFrame
) -> None:
    made = project(people, budget={"epsilon": 3})
    assert made.materialize(*STAGES).success
    first = noise(made.folder)
    assert made.materialize("raw", "deidentified", "k_anonymized", "perturbed").success
    assert noise(made.folder) == first
    assert made.materialize("shuffled", "suppressed").success
    assert made.materialize("published").success
    assert sealed(made.folder) == []
    assert not made.materialize("perturbed").success  # another draw, beyond the budget
    assert noise(made.folder) == first
    assert [state.name for state in found(made.folder)] == ["published"]


def test_no_key_lies_in_the_vault_or_in_dagster_after_publishing(
    project: Make, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[bytes] = []
    make = drawing.fresh_key

    def noted(entropy: Any) -> Any:
        key = make(entropy)
        keys.append(key.secret)
        return key

    monkeypatch.setattr(drawing, "fresh_key", noted)
    made = project(people)
    result = made.run("small_release")
    assert result.success
    assert len(keys) == 1
    forms = [keys[0], keys[0].hex().encode()]
    home = Path(made.instance.root_directory) if made.instance.is_ephemeral else made.folder
    files = [path for place in (made.folder, home) for path in place.rglob("*") if path.is_file()]
    assert not [path.name for path in files if any(form in path.read_bytes() for form in forms)]
    said = "\n".join(str(event) for event in result.all_events)
    assert keys[0].hex() not in said
    assert repr(keys[0])[2:-1] not in said


@pytest.mark.parametrize("change", ["row", "policy", "partition"])
def test_another_input_policy_or_partition_is_another_draw(
    project: Make, people: pd.DataFrame, change: str
) -> None:
    schedule = {"cron": "0 3 * * 1", "partitions": "weekly"}
    same: dict[str, Any] = {
        "schedule": schedule,
        "budget": {"epsilon": 3},
        "gate": {"attacks": {"prosecutor_risk": 0.001}},
    }
    assert not project(people, **same).run("small_release", "2026-01-05").success
    week = "2026-01-12" if change == "partition" else "2026-01-05"
    if change == "policy":
        same["gate"] = {"attacks": {"prosecutor_risk": 0.002}}
    other = project(people.iloc[1:] if change == "row" else people, **same)
    assert not other.run("small_release", week).success
    (state,) = found(other.folder)  # the other one was refused by the budget
    assert (state.name, state.counts) == ("failed", True)
    assert len(sealed(other.folder)) == 1
