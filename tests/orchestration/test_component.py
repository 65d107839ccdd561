"""The component works in anybody's project: found, scaffolded, checked, loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest
import yaml
from dagster.components.testing import create_defs_folder_sandbox

from anon_pipeline import AnonymizedRelease, Locations, PolicyError, load_policy, make_release, patients
from anon_pipeline.catalog.release_kinds import EPSILON_DP, RELEASE_KINDS
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.orchestration.resources import FOLDERS, VAULT, Folders, default_resources, with_resources
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy import Policy, parse_policy
from anon_pipeline.policy.load_declared import load_declared
from anon_pipeline.policy.templates import template
from tests.warm_process import warm_process

ROOT = Path(__file__).resolve().parents[2]


DG = "from dagster_dg_cli.cli import main; main()"
Command = Callable[..., subprocess.CompletedProcess[str]]


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment of `dg` in a project."""
    return {
        **os.environ,
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "COLUMNS": "200",
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }


def dg_from_nothing(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program `dg` in a project, in a process from nothing."""
    return subprocess.run(
        [str(Path(sys.executable).parent / "dg"), *arguments],
        cwd=folder,
        env=environment_of(folder),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def dg_command() -> Iterator[Command]:
    """Run `dg` in a project, in a process of its own that has Dagster and nothing of this package."""
    with warm_process("dagster", "dagster_dg_cli.cli") as process:

        def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
            environment = environment_of(folder)
            return process.run(DG, *arguments, site=folder, environment=environment, cwd=folder)

        yield run


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A Dagster project of somebody else's, which has never heard of us but has us installed."""
    root = tmp_path / "foreign"
    (root / "shop" / "defs").mkdir(parents=True)
    (root / "pyproject.toml").write_text(
        '[tool.dg]\ndirectory_type = "project"\n'
        '[tool.dg.project]\nroot_module = "shop"\ndefs_module = "shop.defs"\n'
        'code_location_target_module = "shop.definitions"\n'
        "[tool.dg.cli]\nsuppress_warnings = ['project_and_activated_venv_mismatch']\n"
    )
    (root / "shop" / "__init__.py").touch()
    (root / "shop" / "defs" / "__init__.py").touch()
    (root / "shop" / "definitions.py").write_text(
        "from pathlib import Path\nimport dagster as dg\n\n\n"
        "@dg.definitions\ndef defs():\n"
        "    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)\n"
    )
    return root


def test_dg_finds_scaffolds_and_checks_it_in_a_foreign_project(foreign: Path, dg_command: Command) -> None:
    found = dg_from_nothing(foreign, "list", "components")
    assert "anon_pipeline.AnonymizedRelease" in found.stdout, found.stderr
    made = dg_command(foreign, "scaffold", "defs", "anon_pipeline.AnonymizedRelease", "visitors")
    assert made.returncode == 0, made.stderr
    policy = parse_policy((foreign / "shop" / "defs" / "visitors" / "defs.yaml").read_text())
    assert policy.name == "visitors"
    assert "wrote shop/defs/one_process.py" in made.stdout
    assert (foreign / "shop" / "defs" / "one_process.py").is_file()
    for check in ("yaml", "defs"):
        done = dg_command(foreign, "check", check)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "visitors/published" in dg_command(foreign, "list", "defs").stdout


def test_dg_scaffolds_and_checks_other_kinds_of_releases(foreign: Path, dg_command: Command) -> None:
    paths = {}
    for kind in RELEASE_KINDS.values():
        made = dg_command(foreign, "scaffold", "defs", kind.type, f"own_{kind.name}")
        assert made.returncode == 0, made.stderr
        paths[kind] = foreign / "shop" / "defs" / f"own_{kind.name}" / "defs.yaml"
        assert load_declared(paths[kind], kind).name == f"own_{kind.name}"
    for check in ("yaml", "defs"):
        done = dg_command(foreign, "check", check)
        assert done.returncode == 0, done.stdout + done.stderr
    listed = dg_command(foreign, "list", "defs").stdout
    assert all(f"own_{kind.name}/published" in listed for kind in paths)
    path = paths[EPSILON_DP]
    path.write_text(path.read_text().replace("otherwise: unknown", "otherwise: nobody", 1))
    done = dg_command(foreign, "check", "defs")
    assert done.returncode != 0 and "otherwise must be one of values" in done.stdout + done.stderr


def test_dg_check_yaml_finds_a_mistake_with_its_place(foreign: Path, dg_command: Command) -> None:
    dg_command(foreign, "scaffold", "defs", "anon_pipeline.AnonymizedRelease", "visitors")
    path = foreign / "shop" / "defs" / "visitors" / "defs.yaml"
    path.write_text(
        path.read_text().replace("role: identifier", "rolle: identifier", 1).replace("k: 10, r", "k: 1, r")
    )
    done = dg_command(foreign, "check", "yaml")
    assert done.returncode != 0
    assert "defs.yaml" in done.stdout
    said = " ".join(done.stdout.split())
    assert "'role' is a required property" in said
    assert "1 is less than the minimum of 2" in said
    assert "under any of the given schemas" not in said


def test_dg_scaffolds_a_policy_for_a_table_that_both_checks_accept(
    foreign: Path, dg_command: Command
) -> None:
    """The policy is that of `init`, which has private tables, questions and reasons."""
    people = patients(400, seed=3).assign(income=[f"CHF {30 + i % 60}'000" for i in range(400)])
    people["birth_date"] = pd.to_datetime(people["birth_date"]).dt.strftime("%d/%m/%Y")
    people.to_csv(foreign / "people.csv", index=False, sep=";")
    command = ("scaffold", "defs", "anon_pipeline.AnonymizedRelease")
    made = dg_command(foreign, *command, "people", "--data", "people.csv")
    assert made.returncode == 0, made.stderr
    assert "questions stand in it" in made.stdout
    policy = load_policy(foreign / "shop" / "defs" / "people" / "defs.yaml")
    assert (policy.name, policy.source.path) == ("people", "people.csv")
    assert policy.clean.columns["income"].currency == ("CHF",)
    assert policy.clean.columns["birth_date"].format == ("%d/%m/%Y",)
    assert "/vault/" in (foreign / ".gitignore").read_text()
    for check in ("yaml", "defs"):
        done = dg_command(foreign, "check", check)
        assert done.returncode == 0, done.stdout + done.stderr
    refused = dg_command(foreign, *command, "others", "--data", "nobody.csv")
    assert refused.returncode != 0
    assert "nobody.csv: must be a readable file: it is not there" in refused.stderr
    elsewhere = dg_command(foreign, *command, "others", "--data", "s3://me:CANARY@bank/people.csv")
    assert elsewhere.returncode != 0
    assert "--data must not hold credentials" in elsewhere.stderr
    assert "CANARY" not in elsewhere.stderr + elsewhere.stdout
    assert "Traceback" not in refused.stderr
    assert not (foreign / "shop" / "defs" / "others").exists()


def test_several_releases_of_a_project_share_its_resources(
    tmp_path: Path, small_policy: Callable[..., Policy]
) -> None:
    both = dg.Definitions.merge(
        build_release(small_policy(), tmp_path), build_release(small_policy(name="other"), tmp_path)
    )
    dg.Definitions.validate_loadable(both)
    assert set(both.resources or {}) == {FOLDERS, VAULT}


def test_a_sandbox_loads_it_with_defaults_below_the_project(small_policy: Callable[..., Policy]) -> None:
    with create_defs_folder_sandbox() as sandbox:
        attributes = small_policy().model_dump(mode="json", exclude_unset=True)
        path = sandbox.scaffold_component(
            component_cls=AnonymizedRelease,
            defs_yaml_contents={"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes},
        )
        with sandbox.load_component_and_build_defs(defs_path=path) as (component, definitions):
            assert isinstance(component, AnonymizedRelease)
            assert component.policy == small_policy()
            folders = (definitions.resources or {})[FOLDERS]
            assert isinstance(folders, Folders)
            assert folders.locations().vault.name == "vault"
            assert len(list(definitions.assets or [])) == 7


def test_a_deployment_overrides_the_defaults(tmp_path: Path, small_policy: Callable[..., Policy]) -> None:
    vault = VaultIOManager(folder=str(tmp_path / "elsewhere"))
    definitions = with_resources(build_release(small_policy(), tmp_path), {VAULT: vault})
    dg.Definitions.validate_loadable(definitions)
    assert (definitions.resources or {})[VAULT] is vault
    assert FOLDERS in (definitions.resources or {})
    assert len(list(definitions.asset_checks or [])) == 3
    assert len(list(definitions.jobs or [])) == 2


def test_environment_variables_move_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT", str(tmp_path / "safe"))
    resources = default_resources(tmp_path)
    assert resources[VAULT].folder == str(tmp_path / "safe")
    assert resources[FOLDERS].releases == str(tmp_path)


def test_this_repository_loads_with_its_own_resources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.delenv("ANON_PIPELINE_VAULT", raising=False)
    from assets.definitions import defs
    from resources.deployment import deployment

    assert deployment(ROOT)[VAULT].folder == str(ROOT / "vault")
    repository = defs().get_repository_def() if callable(defs) else None
    assert repository is not None
    names = {key.path[0] for key in repository.asset_graph.get_all_asset_keys()}
    assert names == {"patients", "visits"}


@pytest.mark.parametrize("release", ["patients", "visits"])
def test_every_release_of_this_repository_passes_its_gate(release: str, tmp_path: Path) -> None:
    policy = load_policy(ROOT / "assets" / "releases" / release / "defs.yaml")
    partition = "2026-02-02" if policy.schedule is not None and policy.schedule.partitions else None
    locations = replace(Locations.of(ROOT, {}), releases=tmp_path, vault=tmp_path / "vault")
    written = make_release(policy, locations, partition=partition)
    assert written.report.passed


def test_the_repositorys_release_is_what_scaffold_writes() -> None:
    assert (ROOT / "assets" / "releases" / "patients" / "defs.yaml").read_text() == template("patients")


@pytest.mark.parametrize(
    ("folder", "name"), [("visits-2026", "visits_2026"), ("2026", "release"), ("größe", "gr__e"), ("_a", "a")]
)
def test_scaffolded_names_are_valid(folder: str, name: str) -> None:
    assert parse_policy(template(folder)).name == name


def test_only_the_plugin_goes_into_the_wheel(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"anon_pipeline"}
    assert {"anon_pipeline/policy/templates/patients.yaml", "anon_pipeline/py.typed"} <= set(names)
    assert "anon_pipeline/report/report.html.j2" in names


def test_the_schema_of_the_component_is_the_policys() -> None:
    assert AnonymizedRelease.get_model_cls().model_json_schema() == Policy.model_json_schema()
    assert yaml.safe_load(template("x"))["type"] == "anon_pipeline.AnonymizedRelease"


def test_a_policy_below_the_floor_makes_no_definitions(tmp_path: Path) -> None:
    floor = yaml.safe_dump({"type": "anon_pipeline.PolicyDefaults", "attributes": {"anonymize": {"k": 11}}})
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(component_cls=AnonymizedRelease, defs_yaml_contents={})
        (path / "defs.yaml").write_text(template("visitors"))
        with sandbox.load_component_and_build_defs(defs_path=path) as (component, _):
            assert isinstance(component, AnonymizedRelease)
        (path.parent / "policy.defaults.yaml").write_text(floor)
        with (
            pytest.raises(Exception, match="Error while loading component"),
            sandbox.load_component_and_build_defs(defs_path=path),
        ):
            pass
    (tmp_path / "policy.defaults.yaml").write_text(floor)
    with pytest.raises(PolicyError, match=r"anonymize\.k: must protect at least as much as 11"):
        build_release(parse_policy(template("visitors")), tmp_path)
