"""The section anonymize: limits of suppression, and kinds of l-diversity."""

from __future__ import annotations

import re

import pytest

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.catalog.recoders import PREFERENCES, RECODERS
from anon_pipeline.policy.recoding import Anonymize, LDiversity


@pytest.mark.parametrize("limit", [0, 0.05, 0.999])
def test_suppression_limits(limit: float) -> None:
    assert Anonymize(k=2, suppression_limit=limit).suppression_limit == limit


def test_kinds_of_l_diversity() -> None:
    assert LDiversity(l=2).kind == "distinct"
    assert LDiversity(kind="entropy", l=1.5).l == 1.5
    assert LDiversity(kind="recursive", l=3, c=0.5).c == 0.5


def test_every_recoder_and_loss_is_described_where_it_is_chosen() -> None:
    fields = Anonymize.model_fields
    for key, table in (("recoder", RECODERS), ("loss", LOSSES)):
        said = (fields[key].description or "").removesuffix(".").partition(". ")[2].split("; ")
        assert said == [f"{one.name}: {one.words}" for one in table.values()]
        assert all(len(one.words.split()) > 1 for one in table.values())


def test_keys_of_some_recoders_name_exactly_these() -> None:
    fields = Anonymize.model_fields
    assert set(PREFERENCES) >= {fields["prefer"].default}
    for key, fits in (
        ("prefer", [name for name, one in RECODERS.items() if one.prefers]),
        ("gamma", [name for name, one in RECODERS.items() if "gamma" in one.options]),
    ):
        words = re.findall(r"\w+", fields[key].description or "")
        assert [name for name in RECODERS if name in words] == fits
