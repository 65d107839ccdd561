"""The policy's document has every limit on attacks once."""

from __future__ import annotations

import re
from pathlib import Path

from anon_pipeline.policy.attacks import Attacks, Averaging, Linkage

POLICY = (Path(__file__).resolve().parents[1] / "docs" / "policy.md").read_text(encoding="utf-8")
GATE = POLICY.split("\n## gate\n")[1].split("\n## ")[0]
ATTACKS = GATE.split("| key of `gate.attacks` |")[1].split("\n\n")[0]


def test_each_key_has_one_row() -> None:
    assert sorted(re.findall(r"^\| `(\w+)", ATTACKS, re.M)) == sorted(Attacks.model_fields)


def test_the_keys_below_are_named() -> None:
    rows = {row.split("`")[1].split(":")[0]: row for row in ATTACKS.splitlines() if row.startswith("| `")}
    for key, model in (("averaging", Averaging), ("linkage", Linkage)):
        assert [name for name in model.model_fields if name not in rows[key]] == []
    assert f"`similarity` (default {Linkage().similarity:g})" in rows["linkage"]
