"""The tables of docs/choosing.md, from those of the package: ``python -m docsite.choosing`` writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.meanings import meaning_of
from anon_pipeline.limits.structure import REPEATED_PEOPLE
from anon_pipeline.limits.table import LIMITS
from docsite.staging import ROOT

__all__ = ["PAGE", "TABLES", "with_tables"]

PAGE: Final = ROOT / "docs" / "choosing.md"
_KEPT: Final = {
    "levels": "search, suppression",
    "mixed levels": "search, suppression",
    "ranges": "cuts that keep them",
    "means": "suppression",
}
_CATEGORIES: Final = {"none": "", "any": " or categories", "ordered": " or categories with an order"}
_PROMISES: Final = {"epsilon": "ε", "epsilon and delta": "(ε, δ)", "nothing": "**nothing**"}


def _yes(holds: object) -> str:
    return "yes" if holds else ""


def _row(*cells: object) -> str:
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _recoders() -> Iterator[str]:
    yield _row(
        *("recoder", "what it does", "a column releases", "needs a hierarchy"),
        *("`suppress: cells`", "`prefer`", "t and l by"),
    )
    yield "|---|---|---|---|---|---|---|"
    for name, one in RECODERS.items():
        kept = "larger classes" if one.keeps_limits else _KEPT[one.family.releases]
        kept = "suppression" if "classes" in one.options else kept
        needs = _yes(one.needs_levels)
        cells, prefers = _yes(one.family.cells), _yes(one.prefers)
        yield _row(f"`{name}`", one.words, one.family.releases, needs, cells, prefers, kept)


def _losses() -> Iterator[str]:
    yield _row("loss", "what it counts", "adds up", "needs `target`")
    yield "|---|---|---|---|"
    for name, one in LOSSES.items():
        yield _row(f"`{name}`", one.words, one.by, _yes(one.labels))


def _mechanisms() -> Iterator[str]:
    yield _row("mechanism", "columns of", "promises", "largest ε of a column")
    yield "|---|---|---|---|"
    for name, one in MECHANISMS.items():
        most = "" if one.most_epsilon is None else f"{one.most_epsilon:g}"
        columns, changed = "numbers", one.whole_column
        if changed is not None:
            columns = f"numbers{_CATEGORIES[changed.categories]}, as a whole"
        yield _row(f"`{name}`", columns, _PROMISES[one.promises], most)
    for name, other in CATEGORY_MECHANISMS.items():
        columns = "categories"
        columns += ", by distance" if other.by_distance else ", by public shares" if other.by_shares else ""
        yield _row(f"`{name}`", columns, _PROMISES["epsilon"], f"{other.most_epsilon:,g}")


def _limits() -> Iterator[str]:
    yield _row("limit", "what it demands", "set", "cannot be measured without", "answers")
    yield "|---|---|---|---|---|"
    for one in LIMITS:
        meaning = meaning_of(one, "a column")
        yield _row(f"`{one.name}`", meaning, _set(one), ", ".join(one.judged.needs), one.words.question or "")


def _set(limit: Limit) -> str:
    """Say whether a policy must set a limit."""
    if limit.always:
        return "always"
    if limit is REPEATED_PEOPLE:
        return "always; advice if the policy says who the people are"
    if limit.advisable:
        return "advice, if the policy sets no bound"
    return "in `gate.attacks`" if limit.attack else "in `gate`"


TABLES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "recoders": _recoders,
    "losses": _losses,
    "mechanisms": _mechanisms,
    "limits": _limits,
}


def with_tables(text: str) -> str:
    """Return the page with its tables made anew, between ``<!-- NAME -->`` and ``<!-- end -->``."""
    for name, table in TABLES.items():
        block = f"<!-- {name} -->\n" + "\n".join(table()) + "\n<!-- end -->"
        found = re.findall(rf"<!-- {name} -->\n.*?<!-- end -->", text, re.DOTALL)
        if len(found) != 1:
            raise ValueError(f"the page must have one table of {name}, got {len(found)}")
        text = text.replace(found[0], block)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
