"""The chain of stages: as the repository shows it, with own stages, and with the gate in its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.orchestration.assets import own_stage, private, raw, suppressed
from anon_pipeline.orchestration.chain import Chain, chain, chain_definitions
from anon_pipeline.orchestration.checks import Check
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.publish_asset import published
from anon_pipeline.orchestration.stage import Stage, StageRun
from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged

ROOT = Path(__file__).resolve().parents[2]
Make = Callable[..., Any]
TALLEST = 180.0


def top_coded(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(height=table["height"].clip(upper=TALLEST))


def stage_of(policy: Policy, change: Callable[[pd.DataFrame], pd.DataFrame] = top_coded) -> Stage:
    return own_stage(policy, "own_top_coded", change, meaning="Nobody is taller than 1.80 m.")


def inserted(links: Chain, link: Stage, *, behind: str) -> list[Stage | Check]:
    """Insert a stage behind another and the checks of that."""
    at = max(i for i, each in enumerate(links) if behind in (getattr(each, "name", ""), _guarded(each)))
    return [*links[: at + 1], link, *links[at + 1 :]]


def _guarded(link: Stage | Check) -> str:
    return link.guards if isinstance(link, Check) else ""


def without(links: Chain, *names: str) -> list[Stage | Check]:
    return [link for link in links if getattr(link, "name", None) not in names]


def with_chain(made: Any, links: Sequence[Stage | Check]) -> Any:
    return replace(made, definitions=build_release(made.policy, made.folder, links))


def failures(result: dg.ExecuteInProcessResult) -> str:
    return "".join(str(event.step_failure_data.error) for event in result.all_events if event.is_step_failure)


def described(links: Chain) -> dict[str, Any]:
    """Return all that Dagster is told of a chain."""
    assets, checks = chain_definitions(links)
    found: dict[str, Any] = {}
    for asset in assets:
        for spec in asset.specs:
            said = (spec.description, spec.group_name, dict(spec.metadata), dict(spec.tags), spec.kinds)
            deps = sorted(dep.asset_key.to_user_string() for dep in spec.deps)
            found[spec.key.to_user_string()] = (said, deps, spec.partitions_def, asset.required_resource_keys)
    for check in [*assets, *checks]:
        for each in check.check_specs:
            key = f"{each.asset_key.to_user_string()}:{each.name}"
            more = sorted(dep.asset_key.to_user_string() for dep in each.additional_deps)
            found[key] = (each.blocking, each.description, more, each.partitions_def, dict(each.metadata))
    return found


@pytest.mark.parametrize(
    "schedule", [None, {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}]
)
def test_the_repository_shows_the_chain_that_the_component_makes(
    small_policy: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch, schedule: dict[str, str] | None
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from assets.chain import chain as shown

    policy = small_policy(schedule=schedule) if schedule else small_policy()
    ours, theirs = described(chain(policy)), described(shown(policy))
    assert ours == theirs
    assert list(ours) == list(theirs)
    assert [name for name in ours if ":" not in name] == [f"small/{name}" for name in (*STAGES, "published")]
    component = build_release(policy, Path("/nowhere"))
    built = [key.to_user_string() for asset in component.assets or [] for key in asset.keys]
    assert built == [name for name in ours if ":" not in name]


@pytest.mark.parametrize("behind", ["raw", "deidentified"])
def test_a_chain_with_a_stage_of_ones_own_releases(project: Make, behind: str) -> None:
    made = project(vault={"retain": "last"})
    made = with_chain(made, inserted(chain(made.policy), stage_of(made.policy), behind=behind))
    result = made.run("small_release")
    assert result.success, failures(result)
    assert len(result.get_asset_check_evaluations()) == len(
        [n for n in described(chain(made.policy)) if ":" in n]
    )
    tables = {name: read_staged(made.folder / "vault" / "small" / f"{name}.parquet") for name in STAGES}
    assert tables["raw"].frame["height"].max() > TALLEST
    assert tables["k_anonymized"].frame["height"].max() == TALLEST
    lineage = tables["suppressed"].lineage
    assert lineage is not None
    names = list(lineage.tables)
    assert names.index("own_top_coded") == names.index(behind) + 1
    manifest = json.loads((made.folder / "out" / "manifest.json").read_text())
    assert list(manifest["facts"]) == list(STAGES)


def test_data_read_in_another_way_releases(project: Make, small_people: Callable[..., pd.DataFrame]) -> None:
    made = project()
    (made.folder / "people.csv").unlink()

    def read(run: StageRun) -> pd.DataFrame:
        assert run.policy == made.policy
        return small_people()

    made = with_chain(made, [raw(made.policy, read=read), *without(chain(made.policy), "raw")])
    assert made.run("small_release").success


def test_own_tables_leave_the_vault_with_the_others(project: Make) -> None:
    made = project(vault={"retain": "none"})
    made = with_chain(made, inserted(chain(made.policy), stage_of(made.policy), behind="raw"))
    assert made.run("small_release").success
    assert [path.name for path in (made.folder / "vault").rglob("*.parquet")] == []


def test_a_chain_without_the_gate_is_refused(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy()

    def build(_: object) -> dg.AssetsDefinition:
        @dg.asset(key=["small", "published"])
        def published_unjudged() -> None: ...

        return published_unjudged

    with pytest.raises(InputError, match="must publish with the gate's checks"):
        chain_definitions([*chain(policy)[:-1], Stage("published", build)])


@pytest.mark.parametrize("stage", ["raw", "deidentified", "k_anonymized"])
def test_a_chain_without_a_check_of_the_package_is_refused(
    small_policy: Callable[..., Policy], stage: str
) -> None:
    unchecked = [link for link in chain(small_policy()) if _guarded(link) != stage]
    with pytest.raises(InputError, match=f"not there: check_[a-z]+ behind {stage}$"):
        chain_definitions(unchecked)


def test_published_refuses_where_the_gates_checks_were_taken_out_by_hand(project: Make) -> None:
    made = project()
    assets, _ = chain_definitions(chain(made.policy))
    key = dg.AssetKey(["small", "published"])
    assets[-1] = assets[-1].subset_for({key}, selected_asset_check_keys=set())
    job = dg.define_asset_job(
        "ungated", dg.AssetSelection.assets(*assets), executor_def=dg.in_process_executor
    )
    definitions = dg.Definitions(assets=assets, jobs=[job], resources=made.definitions.resources)
    result = replace(made, definitions=definitions).run("ungated")
    assert "not evaluated on this data and policy" in failures(result)
    assert made.released() == []


def test_published_judges_what_it_is_given_whatever_made_it(project: Make) -> None:
    """Somebody replaces the last stage by one that hands over the originals, as if they were protected."""
    made = project()

    def leak(run: StageRun, before: Staged, originals: Staged) -> Staged:
        facts = {**before.facts, "suppressed": facts_of["suppressed"]}
        table = before.frame.drop(columns="height").merge(originals.frame[[RECORD, "height"]], on=RECORD)
        assert before.lineage is not None
        table = table[before.frame.columns].iloc[:1]  # and a class of one record
        return Staged(table, facts, before.lineage.after("suppressed", table))

    assert made.materialize(*STAGES).success
    facts_of = read_staged(made.folder / "vault" / "small" / "suppressed.parquet").facts
    stage = private(made.policy, "suppressed", "Leaks.", leak, needs={"originals": "k_anonymized"})
    links = [stage if getattr(link, "name", "") == "suppressed" else link for link in chain(made.policy)]
    result = with_chain(made, links).run("small_release")
    assert not result.success
    assert {each.check_name for each in result.get_asset_check_evaluations() if not each.passed} >= {"k"}
    alone = with_chain(made, links).materialize("published")
    assert "The gate refused the release" in failures(alone)
    assert made.released() == []


def test_published_takes_the_gated_table_whatever_stands_before_it(
    small_policy: Callable[..., Policy],
) -> None:
    policy = small_policy()
    asset = published(policy).asset("own_from_elsewhere")
    assert {key.path[-1] for key in asset.dependency_keys} == {"suppressed", "k_anonymized"}


@pytest.mark.parametrize("behind", ["k_anonymized", "perturbed", "shuffled", "suppressed", "published"])
def test_an_own_stage_behind_the_recoding_is_refused(
    small_policy: Callable[..., Policy], behind: str
) -> None:
    policy = small_policy()
    with pytest.raises(InputError, match="own_top_coded must come after raw and before k_anonymized"):
        chain_definitions(inserted(chain(policy), stage_of(policy), behind=behind))


def test_other_chains_are_refused(small_policy: Callable[..., Policy]) -> None:
    policy = small_policy()
    whole = list(chain(policy))
    wrong = "must have the stages raw, deidentified, k_anonymized, perturbed, shuffled, suppressed, published"
    for links in (
        without(whole, "perturbed"),
        without(whole, "published"),
        [*whole, suppressed(policy)],
        inserted(whole, own_stage(policy, "top_coded", top_coded, meaning="Misnamed."), behind="raw"),
        inserted(whole, own_stage(policy, "own_a/b", top_coded, meaning="Misnamed."), behind="raw"),
    ):
        with pytest.raises(InputError, match=wrong):
            chain_definitions(links)
    with pytest.raises(InputError, match="each own stage once"):
        chain_definitions([whole[0], stage_of(policy), stage_of(policy), *whole[2:]])
    with pytest.raises(InputError, match="must come after raw"):
        chain_definitions([stage_of(policy), *whole])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.drop(columns="height"), "must keep all columns"),
        (lambda t: t.assign(height="CANARY-7f3a"), "must keep all columns, their order and their types"),
        (lambda t: pd.concat([t, t.iloc[:1]]), "each once"),
        (lambda t: t.assign(**{RECORD: range(len(t))}), "records of the table before"),
        (lambda t: t.iloc[:0], "at least one"),
        (lambda t: t.assign(**{RECORD: t[RECORD].to_numpy()[0]}), "each once"),
        (lambda t: [][t["note"][0]], "crashed with TypeError"),
    ],
)
def test_an_own_stage_that_breaks_the_table_is_refused_without_data(
    project: Make, change: Callable[[pd.DataFrame], pd.DataFrame], says: str
) -> None:
    made = project()
    made = with_chain(made, inserted(chain(made.policy), stage_of(made.policy, change), behind="raw"))
    result = made.run("small_release")
    assert says in failures(result)
    assert "CANARY" not in "".join(str(event) for event in result.all_events)
    assert made.released() == []
