"""How objects show themselves in a notebook: escaped, and pictures that keep to themselves."""

from __future__ import annotations

import base64
import re

from anon_pipeline.base.drawing import bars
from anon_pipeline.base.notebook import CURATOR, image, object_html, paragraph, tabular


def test_everything_is_escaped() -> None:
    assert "<td>&lt;b&gt;</td>" in tabular(["<i>"], [["<b>"]])
    assert "<th>&lt;i&gt;</th>" in tabular(["<i>"], [])
    assert paragraph("<b>") == "<p>&lt;b&gt;</p>"
    assert 'alt="&#34;&gt;"' in image("<svg></svg>", '">')


def test_a_picture_has_a_style_of_its_own_and_loads_nothing() -> None:
    html = image(bars("sizes", "t", "d", [("a", [1.0], ["1"])]), "words")
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    svg = base64.b64decode(data).decode()
    assert svg.startswith("<svg") and svg.count("<style>") == 1
    own = base64.b64decode(image("<svg><style>x</style></svg>", "").split("base64,")[1].split('"')[0])
    assert own == b"<svg><style>x</style></svg>"


def test_the_note_says_whom_it_is_for() -> None:
    assert CURATOR in object_html("title", [])
    assert object_html("a < b", [paragraph("part")], note="n") == (
        "<div><p><strong>a &lt; b</strong></p><p>part</p><p><small>n</small></p></div>"
    )
