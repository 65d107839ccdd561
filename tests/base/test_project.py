"""The project of a policy file, found without loading any policy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anon_pipeline.base.project import project_root


@pytest.mark.parametrize("marker", ["pyproject.toml", "dg.toml"])
def test_the_project_is_the_nearest_folder_with_a_marker(tmp_path: Path, marker: str) -> None:
    below = tmp_path / "project" / "assets" / "releases" / "clinic"
    below.mkdir(parents=True)
    (tmp_path / marker).touch()
    (tmp_path / "project" / marker).touch()
    assert project_root(below / "defs.yaml") == tmp_path / "project"


def test_without_a_marker_it_is_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()  # a folder is no marker
    assert project_root(tmp_path / "policy.yaml") == tmp_path


def test_the_help_loads_no_policy_and_no_numbers() -> None:
    """Also the `.env` of the project is looked for without them: the help takes a tenth of a second."""
    program = (
        "import sys; from click.testing import CliRunner; from pathlib import Path\n"
        "from anon_pipeline.cli import cli; from anon_pipeline.cli.project_env import read_project_env\n"
        "read_project_env(Path.cwd()); assert CliRunner().invoke(cli, ['--help']).exit_code == 0\n"
        "print(sorted({'numpy', 'pandas', 'pydantic', 'anon_pipeline.policy'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
