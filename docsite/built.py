"""Look at a site that was built: every link leads somewhere, nothing comes from outside, no page is lost.

Zensical checks links between pages of Markdown; here are those of the HTML, where generated tables and
notebooks are seen, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["problems"]

_LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
_HARMLESS = {"canonical", "alternate", "prev", "next"}


@dataclass(slots=True)
class _Seen:
    """What a page names: its anchors, what it links to, what a browser loads with it."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen = _Seen()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.seen.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.seen.links.append(given["href"])
        place = given.get(_LOADED.get(tag, ""), "")
        if place and given.get("rel") not in _HARMLESS:
            self.seen.loaded.append(place)


@cache
def _seen(page: Path) -> _Seen:
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.seen


def problems(site: Path, docs: Path) -> list[str]:
    """List what is wrong with a site that was built from a folder of pages."""
    _seen.cache_clear()
    found = [problem for page in sorted(site.rglob("*.html")) for problem in _of_page(page, site)]
    staged = {path.relative_to(docs).with_suffix(".html") for path in docs.rglob("*.md")}
    lost = sorted(str(name) for name in staged if not (site / name).is_file())
    found += [f"{name}: was not built" for name in lost]
    config = tomllib.loads((docs.parent / "zensical.toml").read_text(encoding="utf-8"))
    named = set(_named(config["project"]["nav"]))
    hidden = sorted(str(name) for name in staged if name.parts[0] != "adr" and str(name) not in named)
    return found + [f"{name}: is not in the navigation" for name in hidden]


def _named(nav: Any) -> Iterator[str]:
    """Yield the pages of a navigation."""
    if isinstance(nav, str):
        yield str(Path(nav).with_suffix(".html"))
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _named(entry)


def _of_page(page: Path, site: Path) -> Iterator[str]:
    name, seen = page.relative_to(site), _seen(page)
    for place in seen.loaded:
        if urlsplit(place).netloc:
            yield f"{name}: loads {place} from outside"
        elif not place.startswith("data:") and not _target(page, place, site).exists():
            yield f"{name}: loads {place}, which is not there"
    if name.name == "404.html":  # its links are from the root of a server
        return
    for link in seen.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = _target(page, link, site) if parts.path else page
        if not target.exists():
            yield f"{name}: links to {link}, which is not there"
        elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in _anchors(target):
            yield f"{name}: links to {link}, which has no such heading"


def _anchors(page: Path) -> set[str]:
    return _seen(page).anchors | {""}


def _target(page: Path, place: str, site: Path) -> Path:
    path = unquote(urlsplit(place).path)
    found = site / path.lstrip("/") if path.startswith("/") else page.parent / path
    return found / "index.html" if found.is_dir() else found
