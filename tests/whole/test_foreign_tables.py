"""Tables of another project, partition or run are refused by `origin`, under equal key, name and policy."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow.parquet as pq
import pytest

from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.internal_report import internal_report_of
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from anon_pipeline.vault.identity import PIN
from tests.projects import Project, copied, restore_or_make

Make = Callable[..., Any]
WEEKLY = {"cron": "0 3 * * 1", "partitions": "weekly", "start": "2026-01-05"}


@pytest.fixture
def key(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if getattr(request, "param", True):
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", os.urandom(32).hex())


KEY = os.urandom(32).hex()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, dg.DagsterInstance]]]:
    """Folders and instances of projects that are made once: two with a key, two without."""
    with ExitStack() as open_:
        place = tmp_path_factory.mktemp("kept")
        yield {
            name: (place / name, open_.enter_context(dg.DagsterInstance.ephemeral()))
            for name in ("here", "other", "plain", "plain other")
        }


@pytest.fixture
def made_once(
    kept: dict[str, tuple[Path, dg.DagsterInstance]],
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Project]:
    """Put back a project with all stages, made once; for tests in which no stage succeeds afterwards."""

    def make(name: str) -> Project:
        (folder, instance), policy, people = kept[name], small_policy(), small_people()
        if not name.startswith("plain"):
            monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", KEY)
        if name.endswith("other"):
            people = people.assign(height=people["height"].to_numpy()[::-1])
        made = Project(folder, policy, build_release(policy, folder), instance)
        restore_or_make(folder, partial(_make, made, people))
        return made

    return make


@pytest.fixture
def two(
    made_once: Callable[[str], Project], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Project, Project]]:
    """Two projects of one policy, each with its own people, all stages materialized and checked.

    With a key; without one where the parameter is False. What happens to them stays in the test.
    """
    monkeypatch.setattr("anon_pipeline.orchestration.stage.RETRY_SECONDS", 0)
    keyed = getattr(request, "param", True)
    made = [made_once(name) for name in (("here", "other") if keyed else ("plain", "plain other"))]
    with ExitStack() as open_:
        here, other = (replace(one, instance=open_.enter_context(copied(one.instance))) for one in made)
        yield here, other


def _make(made: Project, people: pd.DataFrame) -> None:
    people.to_csv(made.folder / "people.csv", index=False)
    assert made.materialize(*STAGES).success


def table(made: Any, stage: str) -> Path:
    return Path(made.folder) / "vault" / "small" / f"{stage}.parquet"


def failures(result: dg.ExecuteInProcessResult) -> str:
    return "".join(str(event.step_failure_data.error) for event in result.all_events if event.is_step_failure)


def refused_checks(result: dg.ExecuteInProcessResult) -> set[str]:
    return {
        e.check_name
        for e in result.get_asset_check_evaluations()
        if not e.passed and e.severity == dg.AssetCheckSeverity.ERROR
    }


def exchanged(here: Any, other: Any, *stages: str) -> None:
    for stage in stages:
        shutil.copy(table(other, stage), table(here, stage))


@pytest.mark.parametrize("two", [True, False], indirect=True)
def test_foreign_tables_are_refused_by_the_gate_itself(two: tuple[Project, Project]) -> None:
    here, other = two
    exchanged(here, other, *STAGES)
    assert refused_checks(here.run("small_gate")) == {"origin"}
    said = failures(here.materialize("published"))
    assert "origin refused: suppressed: belongs to another project" in said
    assert here.released() == []
    assert other.materialize("published").success


@pytest.mark.parametrize("stage", STAGES[:-1])
def test_every_stage_refuses_a_foreign_table(made_once: Callable[[str], Project], stage: str) -> None:
    here, other = made_once("here"), made_once("other")
    exchanged(here, other, stage)
    following = STAGES[STAGES.index(stage) + 1]
    said = failures(here.materialize(following, checks=False))
    assert f"{stage}: belongs to another project" in said


def test_a_vault_that_was_exchanged_as_a_whole_is_refused(two: tuple[Project, Project]) -> None:
    here, other = two
    shutil.rmtree(here.folder / "vault")
    shutil.copytree(other.folder / "vault", here.folder / "vault")
    assert "the vault belongs to another project" in failures(here.materialize("published"))
    assert "the vault belongs to another project" in failures(here.run("small_gate"))
    (here.folder / PIN).write_text((here.folder / "vault" / "project-id").read_text())  # on purpose
    assert here.run("small_gate").success


def test_a_project_that_moved_is_the_same(two: tuple[Project, Project], tmp_path: Path) -> None:
    here, _ = two
    moved = tmp_path / "moved"
    here.folder.rename(moved)
    after = replace(here, folder=moved, definitions=build_release(here.policy, moved))
    assert after.materialize("perturbed", "shuffled", "suppressed", "published").success


def test_a_vault_of_a_machine_without_a_project_folder_keeps_the_id(two: tuple[Project, Project]) -> None:
    here, _ = two
    (here.folder / PIN).unlink()
    assert here.materialize("published").success
    assert (here.folder / PIN).read_text().strip() == (
        here.folder / "vault" / "project-id"
    ).read_text().strip()


def test_a_lost_vault_keeps_the_projects_id(two: tuple[Project, Project]) -> None:
    here, _ = two
    before = (here.folder / PIN).read_text()
    shutil.rmtree(here.folder / "vault")
    assert here.materialize(*STAGES, "published").success
    assert (here.folder / "vault" / "project-id").read_text().strip() == before.strip()


def test_suppressed_of_other_originals_is_refused_by_name(staged: Make, key: None) -> None:
    made = staged()
    before = {stage: table(made, stage).read_bytes() for stage in STAGES}
    assert made.materialize(*STAGES).success  # the same data: other record ids, other noise
    for stage in ("shuffled", "suppressed"):
        table(made, stage).write_bytes(before[stage])
    assert "must be made from the table of k_anonymized" in failures(
        made.materialize("suppressed", checks=False)
    )
    table(made, "k_anonymized").write_bytes(before["k_anonymized"])
    assert made.materialize("suppressed", checks=False).success


def test_another_partitions_tables_are_refused_without_a_key(project: Make) -> None:
    made = project(schedule=WEEKLY)
    first, second = "2026-01-05", "2026-01-12"
    assert made.materialize(*STAGES, partition=first).success
    for stage in STAGES:
        shutil.copy(
            table(made, stage).with_suffix("") / f"{first}.parquet",
            table(made, stage).with_suffix("") / f"{second}.parquet",
        )
    assert "belongs to another" in failures(made.materialize("published", partition=second))


def test_each_stage_alone_and_then_the_rest(project: Make, key: None) -> None:
    made = project()
    for stage in (*STAGES, "published"):
        assert made.materialize(stage).success, stage
    assert made.materialize("perturbed").success
    assert made.materialize("published").success  # of the noise before, which is still there and checked
    assert made.materialize("shuffled").success
    assert made.materialize("suppressed").success
    assert made.materialize("published").success
    kinds = [path.suffix for path in made.released()]  # the files of the release before stay, see `writer`
    assert sorted(kinds) == [".html", ".html", ".json", ".json", ".parquet", ".parquet"]


def test_a_table_that_was_edited_is_refused(staged: Make) -> None:
    made = staged()
    staged = read_staged(table(made, "k_anonymized"))
    lied = staged.frame.assign(height=staged.frame["height"] + 1)
    write_staged(table(made, "k_anonymized"), replace(staged, frame=lied))
    assert "k_anonymized: differs from what the stage has made" in failures(
        made.materialize("perturbed", checks=False)
    )
    assert "origin" in refused_checks(made.run("small_gate"))


@pytest.mark.parametrize(
    "change",
    [
        lambda said: None,
        lambda said: {**said, "project": "CANARY-7f3a"},
        lambda said: {**said, "CANARY-7f3a": 1},
        lambda said: {**said, "partition": "../CANARY-7f3a"},
        lambda said: {**said, "tables": {"CANARY-7f3a": "0" * 64}},
        lambda said: {**said, "tables": dict(reversed(said["tables"].items()))},
        lambda said: {**said, "tables": {**said["tables"], "raw": "CANARY-7f3a"}},
        lambda said: ["CANARY-7f3a"],
    ],
)
def test_lineage_that_is_none_is_refused_without_its_text(
    made_once: Callable[[str], Project], change: Callable[..., Any]
) -> None:
    made = made_once("plain")
    path = table(made, "suppressed")
    stored = pq.read_table(path)
    said = json.loads(stored.schema.metadata[b"anon_pipeline.lineage"])
    forged = json.dumps(change(said)).encode()
    metadata = {**stored.schema.metadata, b"anon_pipeline.lineage": forged}
    pq.write_table(stored.replace_schema_metadata(metadata), path)
    result = made.run("small_gate")
    assert refused_checks(result) == {"origin"}
    text = failures(made.materialize("published"))
    assert "suppressed: its lineage is not known" in text
    assert "CANARY" not in text + "".join(str(event) for event in result.all_events)


@pytest.mark.parametrize("two", [False], indirect=True)
def test_forged_lineage_without_a_key_meets_the_second_lock(two: tuple[Project, Project]) -> None:
    here, other = two
    mine = read_staged(table(here, "suppressed")).lineage
    for stage in STAGES:
        theirs = read_staged(table(other, stage))
        write_staged(table(here, stage), replace(theirs, lineage=replace(theirs.lineage, where=mine.where)))
    assert "not evaluated on this data" in failures(here.materialize("published", checks=False))


def test_tables_of_an_earlier_version_are_to_be_materialized_again(project: Make, key: None) -> None:
    made = project()
    vault = made.definitions.resources["anon_vault"].vault()
    assert made.materialize(*STAGES).success
    for stage in STAGES:
        name = Path("small", f"{stage}.parquet")
        staged = read_staged(name, vault=vault)
        write_staged(name, Staged(staged.frame, staged.facts), vault=vault)
    assert "its lineage is not known: of an earlier version" in failures(made.materialize("published"))
    assert "Materialize raw again" in failures(made.materialize("perturbed", checks=False))
    assert made.materialize(*STAGES, "published").success


def test_nothing_of_lineage_leaves_the_vault(project: Make) -> None:
    made = project()
    result = made.run("small_release")
    assert result.success
    lineage = read_staged(table(made, "suppressed")).lineage
    assert lineage.where == Where((made.folder / PIN).read_text().strip(), "small")
    shown = "".join(str(event) for event in result.all_events)
    shown += "".join(path.read_bytes().decode("latin-1") for path in made.released())
    for digest in lineage.tables.values():
        assert digest not in shown
    assert lineage.where.project not in shown


@pytest.mark.parametrize("two", [False], indirect=True)
def test_the_internal_report_is_of_these_tables(two: tuple[Project, Project]) -> None:
    here, other = two
    assert here.materialize("published").success
    document = read_manifest(here.folder / "out")
    assert internal_report_of(here.policy, document, Locations.of(here.folder))
    exchanged(here, other, "suppressed", "k_anonymized")
    with pytest.raises(Exception, match="belongs to another project"):
        internal_report_of(here.policy, document, Locations.of(here.folder))


def test_no_stage_and_no_publishing_on_a_vault_that_git_tracks(
    staged: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = staged()
    monkeypatch.setattr("anon_pipeline.vault.gitindex._looked_up", CountsThree())
    for stage in ("raw", "suppressed", "published"):
        said = failures(made.materialize(stage, checks=False))
        assert "the vault must not be under version control, git tracks 3 of its files" in said
    assert made.released() == []


class CountsThree:
    """What looks into the index, after somebody has added three files."""

    def __call__(self, folder: Path) -> int:
        return 3

    def cache_clear(self) -> None:
        """Forget nothing."""
