"""The page of screenshots: the browser tests take them (`make screens`), the site shows those that are there.

They are output, so they are not committed: a picture of a version of Dagster's UI is soon out of date.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from docsite.staging import ROOT

__all__ = ["CAPTIONS", "SCREENS", "screens_page", "stage_screens"]

SCREENS: Final = ROOT / "build" / "screens"
CAPTIONS: Final[Mapping[str, str]] = {
    "passed": "*Materialize all* has made the release `clinic`: each stage is an asset, all checks passed.",
    "published": "What `published` says of it: verdicts, files, levels, what is left of the data.",
    "stopped": "Next week everybody has the same diagnosis in the table. The gate stops the release.",
    "why": "The checks of `published` say which limit refused, and what to do. By how much is in the vault.",
    "alone": "*Materialize* on `published` alone: the gate judges again, and the run fails. The release of "
    "last week stays where it is.",
    "partitions": "Three weeks are chosen for a backfill of the release `weekly`.",
    "backfilled": "The three weeks are released, each judged by itself.",
    "phone": "The report of the release, on a phone.",
}
_HEAD: Final = """# What it looks like
Pictures of Dagster's UI and of a report, on generated data. The browser tests take them while they press the
buttons (`make screens`, `tests/docs/test_screens.py`).

"""
_NONE: Final = "This site was built without them: run `make screens`, then `make docs`. They need Chromium.\n"


def screens_page(folder: Path = SCREENS) -> str:
    """Return the page, with the pictures that a folder has."""
    there = [name for name in CAPTIONS if (folder / f"{name}.png").is_file()]
    shown = [f"{CAPTIONS[name]}\n\n![{name}](screens/{name}.png)\n" for name in there]
    return _HEAD + ("\n".join(shown) if shown else _NONE)


def stage_screens(docs: Path, folder: Path = SCREENS) -> None:
    """Copy the pictures to the staged pages."""
    for name in CAPTIONS:
        if (folder / f"{name}.png").is_file():
            (docs / "screens").mkdir(exist_ok=True)
            shutil.copyfile(folder / f"{name}.png", docs / "screens" / f"{name}.png")
