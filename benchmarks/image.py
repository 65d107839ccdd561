"""Run the commands of the Dockerfile one by one in a fresh folder: ``python -m benchmarks.image [FOLDER]``.

For machines without a container engine. ``/app`` and ``/data`` become folders of FOLDER, and the user stays
who it is: commands that make or choose a user are shown and left out. At the end the demo's policy is run.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

__all__ = ["instructions", "main"]

_ROOT: Final = Path(__file__).resolve().parents[1]
_OF_USERS: Final = {"USER", "FROM", "CMD", "ENTRYPOINT"}


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile without its comments, each as its name and the rest."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


def main(arguments: Sequence[str]) -> int:
    """Run the commands; return the exit code of the first that fails."""
    folder = Path(arguments[0] if arguments else tempfile.mkdtemp(prefix="anon_pipeline_image_")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    environment, at = {"PATH": os.environ["PATH"], "HOME": str(folder)}, folder

    def here(words: str) -> str:
        return re.sub(r"(?<![\w.])/(app|data)\b", rf"{folder}/\1", words)

    for name, rest in instructions((_ROOT / "Dockerfile").read_text(encoding="utf-8")):
        print(f"{name} {rest}", flush=True)
        if name == "WORKDIR":
            at = Path(here(rest))
            at.mkdir(exist_ok=True)
        elif name == "ENV":
            for pair in shlex.split(here(rest)):
                key, _, value = pair.partition("=")
                environment[key] = value.replace("$PATH", environment["PATH"])
        elif name == "COPY":
            _copy(rest.split(), at)
        elif name == "RUN" and not rest.startswith("useradd"):
            command = here(rest).replace(" --owner pipeline", "")
            code = subprocess.run(shlex.split(command), cwd=at, env=environment, check=False).returncode
            if code:
                return code
        elif name not in _OF_USERS | {"RUN"}:
            raise SystemExit(f"Dockerfile: {name} is not known here.")
    shutil.copy(_ROOT / "anon_pipeline/policy/templates/patients.yaml", at / "policy.yaml")
    print("ENTRYPOINT run policy.yaml", flush=True)
    done = subprocess.run(
        [f"{folder}/app/venv/bin/anon-pipeline", "run", "policy.yaml"], cwd=at, env=environment, check=False
    )
    return done.returncode


def _copy(words: Sequence[str], at: Path) -> None:
    """Copy files and folders of the repository, without what is compiled."""
    *sources, target = words
    for source in sources:
        path = _ROOT / source
        if path.is_dir():
            shutil.copytree(path, at / target, ignore=shutil.ignore_patterns("__pycache__", "*.nb[ci]"))
        else:
            shutil.copy(path, at / target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
