"""docs/utility.md has one row for every measure."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from anon_pipeline.utility.measures import MEASURES
from anon_pipeline.utility.moments import Discrepancy
from anon_pipeline.utility.noise_errors import NoiseError

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "utility.md").read_text(encoding="utf-8")
COUNTS = {"records", "released", "classes", "target"}


def test_each_measure_has_one_row() -> None:
    rows = re.findall(r"^\| [^|]+ \| (`[^|]+`) \|", TEXT, re.M)
    named = [name for cell in rows for name in re.findall(r"`(?:\w+\[c\])?\.?([\w.]+)`", cell)]
    flat = [name.removeprefix("moments.") for name in named]
    moments = {field.name for field in fields(Discrepancy)} - {"columns", "pairs"}
    noise = {field.name for field in fields(NoiseError)} | {"realized.of_range"}
    whole = {*MEASURES} - COUNTS - {"noise", "moments"}
    assert sorted(flat) == sorted(moments | noise | whole)
