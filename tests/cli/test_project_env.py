"""The command line reads the project's `.env`, but not what decides which code runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anon_pipeline.cli.project_env import read_project_env

WRITTEN = """
WHERE=out
ANON_PIPELINE_RELEASES="some where"
GIVEN=file
export DOLLAR=a${WHERE}
EMPTY
ANON_PIPELINE_VAULT_KEY_COMMAND=touch here
ANON_PIPELINE_PLUGINS=evil
PYTHONPATH=/evil
SPARK_URL=sc://localhost
SPARK_HOME=/evil
PYSPARK_PYTHON=/evil
GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=/evil
grpc_proxy=evil
LD_PRELOAD=evil.so
PYICEBERG_CATALOG__SHOP__URI=https://shop
pyiceberg_catalog__shop__py_io_impl=evil
"""


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"GIVEN": "environment"})


def left() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def test_the_projects_variables_are_set_unless_they_are(
    tmp_path: Path, environ: None, capsys: pytest.CaptureFixture[str]
) -> None:
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "dg.toml").touch()
    (tmp_path / ".env").write_text(WRITTEN)
    read_project_env(inner)
    assert left() == {
        "GIVEN": "environment",
        "WHERE": "out",
        "ANON_PIPELINE_RELEASES": "some where",
        "DOLLAR": "a${WHERE}",
        "SPARK_URL": "sc://localhost",
        "PYICEBERG_CATALOG__SHOP__URI": "https://shop",
    }
    assert capsys.readouterr().err == (
        "warning: .env may not set ANON_PIPELINE_PLUGINS, ANON_PIPELINE_VAULT_KEY_COMMAND, "
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH, LD_PRELOAD, PYSPARK_PYTHON, "
        "PYTHONPATH, SPARK_HOME, grpc_proxy, pyiceberg_catalog__shop__py_io_impl: set it in the environment\n"
    )


def test_a_file_above_the_project_is_not_read(tmp_path: Path, environ: None) -> None:
    (tmp_path / ".env").write_text(WRITTEN)
    project = tmp_path / "project"
    project.mkdir()
    (project / "dg.toml").touch()
    read_project_env(project)
    assert left() == {"GIVEN": "environment"}
