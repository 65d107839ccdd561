"""Pictures: well-formed, named, escaped, and drawn where the numbers say."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from anon_pipeline.base.drawing import Paper, axes, bars, limit_line, picture, shape

SPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("x") & y</script>'


def test_everything_that_is_text_is_escaped() -> None:
    drawn = picture("p", HOSTILE, HOSTILE, (10, 20), [shape("text", HOSTILE, x=1, class_=HOSTILE)])
    root = ET.fromstring(drawn)
    assert root.get("viewBox") == "0 0 10 20" and root.get("role") == "img"
    title, description, text = root
    assert (title.text, description.text, text.text, text.get("class")) == (HOSTILE,) * 4
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"


def test_bars_are_as_long_as_their_share_of_the_longest() -> None:
    rows = [("one", [1.0, 4.0], ["1", "4"]), ("a" * 40, [None, 2.0], ["–", "2"])]
    root = ET.fromstring(bars("b", "title", "description", rows))
    found = [(bar.get("class"), float(bar.get("width") or 0)) for bar in root.iter(f"{SPACE}rect")]
    assert found == [("before", 35), ("after", 140), ("before", 0), ("after", 70)]
    texts = [text.text for text in root.iter(f"{SPACE}text")]
    assert texts == ["one", "1", "4", "a" * 25 + "…", "–", "2"]


def test_without_rows_there_are_no_bars() -> None:
    assert list(ET.fromstring(bars("b", "title", "description", [])).iter(f"{SPACE}rect")) == []


@pytest.mark.parametrize(("share", "y"), [(0.0, 110.0), (0.5, 60.0), (1.0, 10.0)])
def test_risk_grows_upwards_and_loss_to_the_right(share: float, y: float) -> None:
    paper = Paper(left=20, top=10, wide=200, high=100)
    assert (paper.x(share), paper.y(share)) == (20 + 200 * share, y)
    line, text = limit_line(paper, share, "limit")
    assert f'y1="{y:g}"' in line and 'x2="220"' in line and ">limit<" in text
    drawn = list(axes(paper, [(share, "a")], [(share, "b")]))
    assert f'x1="{20 + 200 * share:g}"' in drawn[0] and ">a<" in drawn[1]
    assert f'y1="{y:g}"' in drawn[2] and ">b<" in drawn[3]
