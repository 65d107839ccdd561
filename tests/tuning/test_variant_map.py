"""The map of variants: each with a number, explained below; those on each other in one label."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from anon_pipeline.tuning.variant_map import variant_map
from tests.tuning.policies import policy
from tests.tuning.variants import MADE

SPACE = "{http://www.w3.org/2000/svg}"


def test_the_map_has_every_variant_with_a_release() -> None:
    text = variant_map(MADE, policy(gate={"linking_risk": 0.05}))
    root = ET.fromstring(text)
    marks = [one for one in root.iter(f"{SPACE}circle") if one.find(f"{SPACE}title") is not None]
    assert [mark.get("class") for mark in marks] == ["pass", "miss", "pass", "pass"]
    assert "gate.linking_risk: at most 0.05" in text
    assert "1. as in the policy: linking 0.04, loss 0.3, passes" in text
    assert "3. k = &lt;b&gt;: linking 0.04, loss 0.2, is refused" in text
    assert "recoder = fixed" not in text
    assert text.count("http") == 1


def test_numbers_of_points_in_one_place_share_a_label() -> None:
    root = ET.fromstring(variant_map([MADE[0], MADE[0], MADE[4]], policy()))
    labels = [one.text for one in root.iter(f"{SPACE}text") if one.get("font-size") == "11"]
    assert labels == ["1, 2", "3"]


def test_without_any_release_the_map_is_empty() -> None:
    assert ET.fromstring(variant_map([MADE[1]], policy())).find(f"{SPACE}desc") is not None
