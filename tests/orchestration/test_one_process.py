"""A scaffolded project runs all steps in one process, unless it has an executor of its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import dagster as dg
import pytest

from anon_pipeline.orchestration.one_process import NAME, write_one_process


def test_the_file_sets_the_executor_of_the_code_location(tmp_path: Path) -> None:
    path = write_one_process(tmp_path, tmp_path)
    assert path == tmp_path / NAME
    defs = runpy.run_path(str(path))["defs"]

    @dg.asset
    def of_somebody_else() -> None: ...

    merged = dg.Definitions.merge(defs, dg.Definitions(assets=[of_somebody_else]))
    job = merged.get_repository_def().get_job("__ASSET_JOB")
    assert job.executor_def.name == "in_process"
    plain = dg.Definitions(assets=[of_somebody_else]).get_repository_def().get_job("__ASSET_JOB")
    assert plain.executor_def.name == "multi_or_in_process_executor"


@pytest.mark.parametrize("text", ["x = dg.Definitions(executor=mine)", "Definitions(\n  executor = mine)"])
def test_a_project_with_an_executor_keeps_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "shop" / "defs").mkdir(parents=True)
    (tmp_path / "shop" / "definitions.py").write_text(text)
    assert write_one_process(tmp_path / "shop" / "defs", tmp_path) is None
    assert list((tmp_path / "shop" / "defs").iterdir()) == []


def test_it_is_written_once_and_what_is_installed_is_not_looked_at(tmp_path: Path) -> None:
    for name in (".venv", "site-packages"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("executor=mine")
    (tmp_path / "words.py").write_text("# an executor, my_executor_of=3")
    assert write_one_process(tmp_path, tmp_path) is not None
    assert write_one_process(tmp_path, tmp_path) is None
