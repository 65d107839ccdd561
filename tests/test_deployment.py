"""Each deployment of this repository names all of its places."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.resources import FOLDERS, VAULT
from anon_pipeline.policy.locations import Locations

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def resources(environ: dict[str, str], root: Path = ROOT) -> tuple[dict[str, str | None], str]:
    """Return the folders as they are configured, and the IO manager's."""
    from resources.deployment import deployment

    made = deployment(root, environ)
    folders = made[FOLDERS]
    assert set(made) == {FOLDERS, VAULT}
    names = ("sources", "hierarchies", "releases", "vault", "remote_vault", "ledger", "project")
    return {name: getattr(folders, name) for name in names}, made[VAULT].folder


def test_local_is_below_the_repository(tmp_path: Path) -> None:
    found, vault = resources({}, tmp_path)
    assert found == {
        "sources": str(tmp_path),
        "hierarchies": str(tmp_path),
        "releases": str(tmp_path),
        "vault": str(tmp_path / "vault"),
        "remote_vault": None,
        "ledger": f"sqlite:///{tmp_path / 'ledger.sqlite'}",
        "project": str(tmp_path),
    }
    assert vault == str(tmp_path / "vault")
    assert resources({"DAGSTER_DEPLOYMENT": "local"}, tmp_path) == (found, vault)
    assert resources({"DAGSTER_HOME": "/home/dagster"}, tmp_path) == (found, vault)


def test_local_is_where_the_command_line_looks(tmp_path: Path) -> None:
    home = {"DAGSTER_HOME": str(tmp_path / "home")}
    found, vault = resources(home, tmp_path)
    there = Locations.of(tmp_path, home)
    assert vault == there.vault_place
    names = ("sources", "hierarchies", "releases", "vault", "ledger")
    assert [found[name] for name in names] == [str(getattr(there, name)) for name in names]


def test_a_vault_of_earlier_versions_is_not_left_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "vault").mkdir(parents=True)
    (home / "vault" / "project-id").write_text("0" * 32)
    with pytest.raises(InputError, match="there is one in DAGSTER_HOME, where it was: move it there"):
        resources({"DAGSTER_HOME": str(home)}, tmp_path)
    named = {"DAGSTER_HOME": str(home), "ANON_PIPELINE_VAULT": str(home / "vault")}
    assert resources(named, tmp_path)[1] == str(home / "vault")


@pytest.mark.parametrize("name", ["staging", "production"])
def test_a_shared_deployment_keeps_nothing_private_beside_the_code(name: str, tmp_path: Path) -> None:
    found, vault = resources({"DAGSTER_DEPLOYMENT": name, "DAGSTER_HOME": "/home/dagster"}, tmp_path)
    below = f"/srv/anon-pipeline/{name}"
    assert found == {
        "sources": f"{below}/sources",
        "hierarchies": str(tmp_path),
        "releases": below,
        "vault": f"{below}/vault",
        "remote_vault": None,
        "ledger": f"postgresql://anon_pipeline@localhost/{name}",
        "project": str(tmp_path),
    }
    assert vault == f"{below}/vault"


def test_staging_and_production_share_no_place() -> None:
    one, other = (resources({"DAGSTER_DEPLOYMENT": name})[0] for name in ("staging", "production"))
    assert {name for name in one if one[name] == other[name]} == {"hierarchies", "remote_vault", "project"}


def test_variables_of_the_command_line_move_a_place_in_dagster_too() -> None:
    environ = {"DAGSTER_DEPLOYMENT": "production", "ANON_PIPELINE_VAULT": "memory://vault"}
    found, vault = resources({**environ, "ANON_PIPELINE_LEDGER": ""})
    assert (found["remote_vault"], vault) == ("memory://vault", "memory://vault")
    assert found["ledger"] == "postgresql://anon_pipeline@localhost/production"


@pytest.mark.parametrize("name", ["prod", "Production", "../production"])
def test_another_name_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match="must be one of local, staging, production"):
        resources({"DAGSTER_DEPLOYMENT": name})


def test_the_code_location_loads_without_a_warning_of_two_names(tmp_path: Path) -> None:
    """Of `pyproject.toml` for `dg` and of `workspace.yaml` for `dagster dev`: Dagster warns at each load."""
    environ = {**os.environ, "DAGSTER_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "dagster", "definitions", "validate", "-w", "workspace.yaml"]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "Validation successful for code location anon-pipeline" in said
    assert "does not match the name" not in said
