"""The page on identifiers has every detector once, as the table has it, and its example is a policy's."""

from __future__ import annotations

import math
import re
from pathlib import Path

import yaml

from anon_pipeline.catalog.detectors import DETECTORS
from anon_pipeline.catalog.detectors.patterns import EXCUSED, LEVEL, MOST_JUDGED
from anon_pipeline.policy.columns import Insensitive

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "identifiers.md").read_text(encoding="utf-8")


def test_each_detector_has_one_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE, re.M)
    assert rows == [(detector.name, detector.words) for detector in DETECTORS]


def test_the_example_is_a_column() -> None:
    found = yaml.safe_load(PAGE.split("```yaml\n")[1].split("```")[0])["columns"]["note"]
    assert Insensitive.model_validate(found).allow == {"telephone": "hotline numbers, public"}


def test_the_numbers_are_those_of_the_code() -> None:
    assert f"at most {MOST_JUDGED:,} of them" in PAGE
    assert f"from {EXCUSED} candidates on" in PAGE
    shared = [
        (math.ceil(math.log(LEVEL) / math.log(form.chance)), d.name)
        for d in DETECTORS
        for form in d.forms
        if form.share and form.chance > 0.5 and not form.alone
    ]
    (telephone, _), (few, _), (many, _) = sorted(shared)
    assert [name for _, name in sorted(shared)] == ["telephone", "ssn", "ssn"]
    assert f"at least {telephone} telephone numbers or {few} social security numbers" in PAGE
    assert f"Up to {many - 1:,} of them" in PAGE
    assert f"From {many:,} numbers on" in PAGE
