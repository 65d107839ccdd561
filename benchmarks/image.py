"""Run the commands of the Dockerfile one by one in a fresh folder: ``python -m benchmarks.image [FOLDER]``.

For machines without a container engine. FOLDER stands for ``/``: a copy of this Python, the folders ``/app``
and ``/data``, the home of the user whom ``useradd`` would make. Run it as root: what follows ``USER`` is then
run as that user, by number, who may write no more than in the container. Without root everything is run as
whoever runs it, and that is said. At the end the demo's policy is run.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_NOTHING_TO_DO: Final = {"CMD", "ENTRYPOINT"}


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile without its comments, each as its name and the rest."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.strip().partition(" ")
            yield name, rest.strip()


@dataclass(slots=True)
class _Image:
    """What a container would be after some instructions.

    root: folder that stands for ``/``.
    at: the current folder.
    environment: variables.
    users: numbers of the users that were made, by name.
    user: whose commands follow, by number; None: whoever runs this.
    """

    root: Path
    at: Path
    environment: dict[str, str]
    users: dict[str, int] = field(default_factory=dict)
    user: int | None = None

    def here(self, words: str) -> str:
        """Return a command with the folders and users of the image as those of this machine."""
        moved = re.sub(r"(?<![\w.])/(app|data)\b", rf"{self.root}/\1", words)
        for name, number in self.users.items():
            moved = moved.replace(f" --owner {name}", f" --owner {number}" if _is_root() else "")
        return moved

    def run(self, command: Sequence[str]) -> int:
        """Run a command as the image's user; return its exit code."""
        user = self.user
        groups = None if user is None else ()
        done = subprocess.run(
            command,
            cwd=self.at,
            env=self.environment,
            check=False,
            user=user,
            group=user,
            extra_groups=groups,
        )
        return done.returncode

    def add_user(self, words: Sequence[str]) -> None:
        """Make a user's home and note the number; this machine gets no user."""
        name, number = words[-1], int(words[words.index("--uid") + 1])
        self.users[name] = number
        home = self.root / "home" / name
        home.mkdir(parents=True)
        if _is_root():
            os.chown(home, number, number)

    def become(self, name: str) -> None:
        """Let a user run the commands that follow, if whoever runs this may do that."""
        self.environment |= {"HOME": f"{self.root}/home/{name}", "USER": name, "LOGNAME": name}
        if _is_root():
            self.user = self.users[name]
        else:
            print("  not root: the commands that follow are run as whoever runs this", flush=True)


def _is_root() -> bool:
    return os.geteuid() == 0


def main(arguments: Sequence[str]) -> int:
    """Run the commands; return the exit code of the first that fails."""
    folder = Path(arguments[0] if arguments else tempfile.mkdtemp(prefix="anon_pipeline_image_")).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    environment = {
        "PATH": f"{folder}/python/bin:{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{folder}/python/lib",
        "HOME": str(folder),
    }
    image = _Image(folder, folder, environment)
    for name, rest in instructions((_ROOT / "Dockerfile").read_text(encoding="utf-8")):
        print(f"{name} {rest}", flush=True)
        code = _do(image, name, rest)
        if code:
            return code
    shutil.copy(_ROOT / "anon_pipeline/policy/templates/patients.yaml", image.at / "policy.yaml")
    print("ENTRYPOINT run policy.yaml", flush=True)
    return image.run([f"{folder}/app/venv/bin/anon-pipeline", "run", "policy.yaml"])


def _do(image: _Image, name: str, rest: str) -> int:
    """Follow one instruction; return the exit code of its command, 0 without one."""
    if name == "FROM":
        _copy_python(image.root / "python")
    elif name == "WORKDIR":
        image.at = Path(image.here(rest))
        image.at.mkdir(exist_ok=True)
    elif name == "ENV":
        for pair in shlex.split(image.here(rest)):
            key, _, value = pair.partition("=")
            image.environment[key] = value.replace("$PATH", image.environment["PATH"])
    elif name == "COPY":
        _copy(rest.split(), image.at)
    elif name == "USER":
        image.become(rest)
    elif name == "RUN" and rest.startswith("useradd"):
        image.add_user(shlex.split(rest))
    elif name == "RUN":
        return image.run(shlex.split(image.here(rest)))
    elif name not in _NOTHING_TO_DO:
        raise SystemExit(f"Dockerfile: {name} is not known here.")
    return 0


def _copy_python(target: Path) -> None:
    """Copy this Python without its packages: that of a user may lie where others cannot get to."""
    shutil.copytree(
        sys.base_prefix,
        target,
        symlinks=True,
        ignore=shutil.ignore_patterns("site-packages", "test", "__pycache__"),
    )


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
