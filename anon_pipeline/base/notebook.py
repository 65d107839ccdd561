"""How objects show themselves in a notebook: tables and pictures as HTML that needs nothing else.

What a notebook shows is the curator's, who has the originals: numbers are exact, and a notebook keeps them in
its file. Cells of the data are never among them.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from markupsafe import Markup

__all__ = ["CURATOR", "image", "object_html", "paragraph", "tabular"]

CURATOR = (
    "For the curator: exact numbers, not for publication. A notebook keeps its output; clear it before you "
    "share or commit the file."
)
_STYLE = (
    "text{font:12px sans-serif;fill:#1a1a1a}.after{fill:#005a9c}.before{fill:#b0b0b0}"
    ".paper{fill:#fff}.line{fill:none;stroke:#fff}"
)


def tabular(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Markup:
    """Write a table, everything escaped.

    >>> print(tabular(["limit"], [["a < b"]]))
    <table><thead><tr><th>limit</th></tr></thead><tbody><tr><td>a &lt; b</td></tr></tbody></table>
    """
    head = Markup("").join(Markup("<th>{}</th>").format(text) for text in headings)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in rows
    )
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)


def paragraph(text: str, *, strong: bool = False) -> Markup:
    """Write a paragraph, escaped."""
    return (Markup("<p><strong>{}</strong></p>") if strong else Markup("<p>{}</p>")).format(text)


def image(picture: str, words: str) -> Markup:
    """Write an SVG as an image of its own, so that its style does not change that of the notebook.

    Args:
        picture: an SVG element; one without a style gets that of bars.
        words: what it shows, for those who cannot see it.
    """
    svg = str(picture)  # a Markup would escape what is put into it
    if "<style" not in svg:
        svg = svg.replace("</desc>", f"</desc><style>{_STYLE}</style>", 1)
    data = base64.b64encode(svg.strip().encode("utf-8")).decode("ascii")
    return Markup('<p><img alt="{}" src="data:image/svg+xml;base64,{}"></p>').format(words, data)


def object_html(title: str, parts: Iterable[Markup], *, note: str = CURATOR) -> str:
    """Put the parts of an object's picture together, under its name; last whom it is for."""
    small = Markup("<p><small>{}</small></p>").format(note)
    return str(
        Markup("<div>{}</div>").format(Markup("").join([paragraph(title, strong=True), *parts, small]))
    )
