"""Build the site of the docs strictly: ``python -m docsite [FOLDER]``; without FOLDER in build/."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from docsite.built import problems
from docsite.generated import write_generated
from docsite.staging import ROOT, stage

CONFIG = Path(__file__).with_name("zensical.toml")


def main(arguments: Sequence[str]) -> int:
    """Stage, build, look at what was built; return 1 if anything is wrong."""
    folder = Path(arguments[0]) if arguments else ROOT / "build"
    docs, site = folder / "docs", folder / "site"
    for old in (docs, site):
        shutil.rmtree(old, ignore_errors=True)
    stage(docs)
    write_generated(docs)
    shutil.copyfile(CONFIG, folder / CONFIG.name)
    shutil.copyfile(CONFIG.with_name("site.css"), docs / "site.css")
    program = Path(sys.executable).with_name("zensical")
    command = [str(program), "build", "--strict", "--clean", "--config-file", str(folder / CONFIG.name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    found = problems(site, docs)
    if done.returncode or "Error" in said or found:  # an error of a template does not change the exit code
        print(said + "".join(f"{problem}\n" for problem in found), file=sys.stderr)
        return 1
    print(f"{len(list(site.rglob('*.html')))} pages in {site}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
