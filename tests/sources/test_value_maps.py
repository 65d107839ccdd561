"""The files of value maps: private, read as a table with two columns, named by their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources.value_maps import read_value_maps, value_map_digests

Small = Callable[..., Policy]


@pytest.fixture
def policy(small_policy: Small) -> Policy:
    return small_policy(clean={"columns": {"note": {"values_file": "map.csv"}}})


def test_a_map_is_read_by_column(policy: Policy, tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text('from,to\n a ,b\n"x,y",z\n')
    assert read_value_maps(policy, tmp_path) == {"note": {" a ": "b", "x,y": "z"}}
    digest = hashlib.sha256((tmp_path / "map.csv").read_bytes()).hexdigest()
    assert value_map_digests(policy, tmp_path) == {"note": digest}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "it is not there"),
        ("CANARY,b\n", "must have the header from,to"),
        ("from,to\nCANARY,b\nCANARY,c\nd,\n", "got 1 lines with a value again and 1 with an empty field"),
        ("from,to\nCANARY\n", "every line must have 2 fields"),
    ],
)
def test_what_is_no_map_is_refused(policy: Policy, tmp_path: Path, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / "map.csv").write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_value_maps(policy, tmp_path)
    assert str(caught.value).startswith("clean.columns.note.values_file")
    assert "CANARY" not in str(caught.value)


def test_a_policy_without_maps_reads_none(small_policy: Small) -> None:
    assert read_value_maps(small_policy(), Path("/nowhere")) == {}
    assert value_map_digests(small_policy(clean={}), Path("/nowhere")) == {}
