"""A comparison as one page that fetches nothing: the map, the table, and what its columns say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PAGE: Final = Path(__file__).parent / "comparison_page.html.j2"
_SHARED: Final[Mapping[str, str]] = {
    "gate": "Whether the gate would pass the release, and what it warns of; or the limits that refuse it.",
    "correlations": "Change of correlations of columns of numbers.",
    "seconds": "Time to make the release, without the gate and measuring.",
}
OF_VARIANTS: Final[Mapping[str, str]] = {
    "variant": "The settings that differ from the policy.",
    "k": "Records in the smallest class, at least.",
    "epsilon": "ε of a record; – without noise of a scale.",
    "amount": "Of columns that are changed as a whole.",
    "released": "Share of the input's records that are released.",
    "classes": "Classes of equal quasi-identifiers.",
    "smallest class": "Records of the smallest class.",
    "linking": "Share of the released records whose own original is the nearest one (mean over the noise).",
    "loss": "Share of what the quasi-identifiers say that is lost.",
    "score": "The mean of linking and loss.",
    "granularity": "Mean share of the other values that a generalized value may stand for.",
    "noise": "Mean expected error of the noise, as a share of the column's range.",
    "propensity": "How well a model tells release and input apart; 0: not at all.",
    "queries": "Median error of a random count.",
    "classifier": "Accuracy of a model trained on the input, minus that of one trained on the release.",
    **_SHARED,
}
OF_KINDS: Final[Mapping[str, str]] = {
    "policy": "The name of its file.",
    "kind": "The kind of release.",
    "records": "Of the release.",
    "risk": "The largest of copied, gain and 2 · membership − 1. 0: attackers learn nothing, 1: everything.",
    "copied": "Share of the unique records that are in the release, beyond that of records left out.",
    "membership": "How often a record of the data is nearer to the release than another; 0.5 is a coin.",
    "gain": "How much more often an attacker who knows all other columns guesses a secret.",
    "loss": "Share of the records that would have to change for pairs of columns to be as in the data.",
    "columns": "The same of single columns.",
    "propensity": "How well a regression tells release and data apart: 0 not at all, 1 each record.",
    "components": "Change of what principal components explain.",
    "regressions": "Change of regression coefficients, in standard deviations.",
    "queries": "Mean error of your own queries: 0 none, 1 everything; – without queries.",
    "surprising": "How surprising the statistics are for a sample of the data, a probability.",
    **_SHARED,
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a page shows.

    title: of the page. picture: the map, SVG.
    lines: sentences below the map.
    rows: by the names of the columns, texts first.
    meanings: of the columns.
    """

    title: str
    picture: str
    lines: Sequence[str]
    rows: Sequence[Mapping[str, str]]
    meanings: Mapping[str, str]


def comparison_page(shown: Comparison) -> str:
    """Write a comparison as one HTML page: for the curator, it tells what is in the originals."""
    from markupsafe import Markup  # noqa: PLC0415 - only who asks for a page

    from anon_pipeline.report.page_template import page_template  # noqa: PLC0415

    names = [name for name in (shown.rows[0] if shown.rows else {}) if _heading(name) in shown.meanings]
    texts = [name for name in names if name in _TEXTS]
    columns = [*texts, *(name for name in names if name not in texts)]
    return page_template(_PAGE).render(
        title=shown.title,
        map=Markup(shown.picture),  # noqa: S704 - it has escaped its texts
        lines=shown.lines,
        columns=[_heading(name) for name in columns],
        texts=len(texts),
        rows=[[row[name] for name in columns] for row in shown.rows],
        meanings={_heading(name): shown.meanings[_heading(name)] for name in columns},
    )


_TEXTS: Final = {"variant", "policy", "kind", "gate", "amount"}


def _heading(column: str) -> str:
    return column.replace("_", " ")
