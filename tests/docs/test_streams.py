"""The example of the page on streams runs as it is, and does what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd

PAGE = Path(__file__).resolve().parents[2] / "docs" / "streams.md"


def block(language: str) -> str:
    """Return the first block of the page in a language."""
    (found, *_) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(found)


def test_its_example_runs(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(block("yaml"))
    (tmp_path / ".git").mkdir()  # the folder is a project
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {name: one for name, one in os.environ.items() if not name.startswith("ANON_PIPELINE_")}
    done = subprocess.run(
        ["bash", "-e", "-c", block("bash")],
        cwd=tmp_path,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "3 of 3 partitions published" in done.stdout
    counted = pd.read_csv(tmp_path / "waiting.csv")
    assert counted["came"].tolist() == [150] * 3 and counted["wait"].iloc[0] > 0
    assert counted["had waited"].tolist() == [0, *counted["wait"][:-1]]
