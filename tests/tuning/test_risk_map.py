"""Maps of risk against loss: points, labels, axes and a limit."""

from __future__ import annotations

from xml.etree import ElementTree

from anon_pipeline.tuning.map_frame import MapWords
from anon_pipeline.tuning.risk_map import MapPoint, risk_map

POINTS = [
    MapPoint(1, 0.1, 0.01, True, "one: <b>", "passes"),
    MapPoint(2, 0.1, 0.0101, False, "two", "refuses: k"),
    MapPoint(4, 0.5, 0.5, True, "four", "passes"),
]


def test_it_is_one_document_in_which_texts_are_escaped() -> None:
    drawn = risk_map(POINTS, MapWords(risk="risk!", loss="loss!"), "three")
    root = ElementTree.fromstring(drawn)
    texts = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
    assert {"risk!", "loss!"} <= {*texts} and "<b>" not in drawn and "&lt;b&gt;" in drawn
    assert "1, 2" in texts  # points that overlap share one label
    assert "4. four, passes" in texts and "2. two, is refused" in texts


def test_a_limit_is_drawn_if_there_is_one() -> None:
    assert "at most" not in risk_map(POINTS, MapWords(), "three")
    assert "at most 0.2" in risk_map(POINTS, MapWords(), "three", bound=("gate.x: at most 0.2", 0.2))


def test_it_can_be_empty() -> None:
    ElementTree.fromstring(risk_map([], MapWords(), "none"))
