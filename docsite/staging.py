"""Copy the pages into one folder, with links that lead to the same places as in the repository.

The README becomes the home page, `docs/README.md` the list of all documents; other pages keep their names. A
linked file that is no page is copied as a text, since the site knows no address of the repository.

Decision: docs/adr/0057-the-site-and-its-notebook.md.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

__all__ = ["ROOT", "pages", "stage"]

ROOT: Final = Path(__file__).resolve().parents[1]
_RENAMED: Final = {
    "README.md": "index.md",
    "docs/README.md": "documents.md",
    "docs/adr/README.md": "adr/index.md",
}
_ELSEWHERE: Final = {"docs/notebook.ipynb": "notebook.md"}  # run and written by `notebook_page`
_LINK: Final = re.compile(r"(\]\()([^)\s#]*)((?:#[^)\s]*)?\))")
_FENCE: Final = re.compile(r"(^ *```.*?^ *```)", re.DOTALL | re.MULTILINE)


def pages(root: Path = ROOT) -> Mapping[Path, str]:
    """Return every page of the repository, with its place on the site."""
    found = sorted([*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "docs" / "adr").glob("*.md")])
    names = {path: path.relative_to(root).as_posix() for path in found}
    return {path: _RENAMED.get(name, name.removeprefix("docs/")) for path, name in names.items()}


def stage(target: Path, root: Path = ROOT) -> None:
    """Write the pages, their pictures and the files that they link to into a folder."""
    places = pages(root)
    shutil.copytree(root / "docs" / "images", target / "images")
    for path, place in places.items():
        linked: dict[str, Path] = {}
        text = _relinked(path, places, linked, root)
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        (target / place).write_text(text, encoding="utf-8")
        for name, source in linked.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target / name)


def _relinked(path: Path, places: Mapping[Path, str], linked: dict[str, Path], root: Path) -> str:
    """Return a page with its links as the site needs them; collect the files that are no pages."""

    def replaced(found: re.Match[str]) -> str:
        before, link, after = found.groups()
        source = (path.parent / link).resolve()
        if not link or "://" in link or not source.is_file():
            return found.group()
        name = os.path.relpath(source, root).replace(os.sep, "/")
        if source in places or name in _ELSEWHERE:
            to = places.get(source) or _ELSEWHERE[name]
        elif "images" in source.parts:
            to = f"images/{source.name}"
        else:
            to = f"files/{source.name}.txt"
            linked[to] = source
        return before + os.path.relpath(to, Path(places[path]).parent).replace(os.sep, "/") + after

    parts = _FENCE.split(path.read_text(encoding="utf-8"))
    return "".join(
        part if _FENCE.fullmatch(part) else _blank_before_lists(_LINK.sub(replaced, part)) for part in parts
    )


def _blank_before_lists(text: str) -> str:
    """Put an empty line between a paragraph and a list or table: the site's parser needs one."""
    return re.sub(r"(?m)^(?!\s*(?:[*+-]|\d+\.)\s|\||\s*$|#)(.+\n)(?=(?:\* |1\. |\|))", r"\1\n", text)
