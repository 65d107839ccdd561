"""The documents name every recoder and every key of ``anonymize``, once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS
from anon_pipeline.policy.hierarchies import HIERARCHIES
from anon_pipeline.policy.recoding import Anonymize

FULL_DOMAIN = tuple(n for n, r in RECODERS.items() if r.family.name == "full_domain")

ROOT = Path(__file__).resolve().parents[2]
POLICY = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
ANONYMIZE = POLICY.split("\n## anonymize\n")[1].split("\n## ")[0]
COLUMNS = POLICY.split("\n## columns\n")[1].split("\n## ")[0]
WHICH = (ROOT / "docs" / "recoders.md").read_text(encoding="utf-8")


def test_each_key_has_one_row() -> None:
    keys = [
        key for cell in re.findall(r"^\| (`.*?) \|", ANONYMIZE, re.M) for key in re.findall(r"`(\w+)`", cell)
    ]
    assert sorted(keys) == sorted(Anonymize.model_fields)


@pytest.mark.parametrize("name", [*RECODERS, *LOSSES, *PREFERENCES, "records", "cells"])
def test_each_choice_is_explained(name: str) -> None:
    assert f"`{name}`" in ANONYMIZE


@pytest.mark.parametrize("key", ["gamma", "most_nodes", "suppression_limit"])
def test_the_defaults_are_the_models(key: str) -> None:
    row = next(line for line in ANONYMIZE.splitlines() if line.startswith(f"| `{key}`"))
    default = {"gamma": "0.2", "most_nodes": "10 million", "suppression_limit": "0.05"}[key]
    assert row.endswith(f"| {default} |")
    assert Anonymize.model_fields["most_nodes"].default == 10_000_000
    assert Anonymize.model_fields["suppression_limit"].default == 0.05


@pytest.mark.parametrize("kind", HIERARCHIES)
def test_each_hierarchy_has_one_row(kind: str) -> None:
    assert len(re.findall(rf"^\| `{kind}[:`]", COLUMNS, re.M)) == 1


def test_each_recoder_has_a_row_of_what_it_guarantees() -> None:
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", WHICH.split("\n## What each keeps\n")[1].split("\n## ")[0], re.M
    )
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(RECODERS)
    assert set(FULL_DOMAIN) < set(get_args(Anonymize.model_fields["recoder"].annotation))


@pytest.mark.parametrize("document", ["README.md", "docs/policy.md", "docs/microaggregation.md"])
def test_the_table_of_recoders_is_found(document: str) -> None:
    assert re.search(r"\]\((docs/)?recoders\.md\)", (ROOT / document).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", RECODERS)
def test_the_readme_names_every_recoder(name: str) -> None:
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")
