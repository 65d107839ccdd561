"""Try this package in a project that create-dagster has just made, with the versions that it pins.

`python -m benchmarks.fresh_project` makes two environments in a temporary folder, which takes minutes and a
gigabyte: so it is no test. It installs the project first and this package second, by the package's own bounds
and not by this repository's constraints, and fails if the second changes a version that the project pins.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_TABLE = "name,town,age\n" + "".join(f"Ann {i},Bern {i % 3},{20 + i % 40}\n" for i in range(400))


def main(arguments: list[str] | None = None) -> int:
    """Make the project, install, scaffold a release, check it; 0 if all of it works."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--create-dagster", default=version("dagster"), help="version of create-dagster")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="anon_pipeline_fresh_") as folder:
        return _tried(Path(folder), chosen.create_dagster)


def _tried(folder: Path, wanted: str) -> int:
    maker = _environment(folder / "maker")
    _run(folder, maker / "pip", "install", "--quiet", f"create-dagster=={wanted}")
    _run(folder, maker / "create-dagster", "project", "shop", "--no-uv-sync")
    project = folder / "shop"
    pinned = _pins(project / "pyproject.toml")
    print(f"create-dagster {wanted} pins: {', '.join(pinned)}", flush=True)
    own = _environment(project / ".venv")
    _run(folder, own / "pip", "install", "--quiet", "--editable", project, *pinned)
    before = _versions(own)
    _run(folder, own / "pip", "install", "--quiet", f"{_ROOT}[ui]")
    after = _versions(own)
    changed = sorted(name for name, number in before.items() if after.get(name) != number)
    print(f"packages of the project: {len(before)}, changed by this package: {', '.join(changed) or 'none'}")
    _run(folder, own / "pip", "check")
    (project / "people.csv").write_text(_TABLE, encoding="utf-8")
    kind = "anon_pipeline.AnonymizedRelease"
    _run(project, own / "dg", "scaffold", "defs", kind, "people", "--data", "people.csv")
    _run(project, own / "dg", "check", "yaml")
    _run(project, own / "dg", "check", "defs")
    return 1 if changed else 0


def _environment(place: Path) -> Path:
    """Make a virtual environment, and return the folder of its programs."""
    _run(place.parent, sys.executable, "-m", "venv", place)
    return place / "bin"


def _pins(file: Path) -> list[str]:
    """Return what a project needs, its group for development included, as it is written."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return [*document["project"]["dependencies"], *document["dependency-groups"]["dev"]]


def _versions(programs: Path) -> dict[str, str]:
    done = subprocess.run([programs / "pip", "freeze"], capture_output=True, text=True, check=True)
    return dict(line.split("==", 1) for line in done.stdout.splitlines() if "==" in line)


def _run(folder: Path, *command: str | Path) -> None:
    """Run a command as in the project's environment; its output is shown, a failure ends the try."""
    words = [str(word) for word in command]
    print(f"$ {' '.join(words).replace(str(folder), '.')}", flush=True)
    programs = Path(words[0]).parent
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": str(programs.parent),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    subprocess.run(words, cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())
