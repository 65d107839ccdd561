"""Where tables come from: every stage by this policy, hierarchies unchanged, no seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.digest import digest_file
from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import Policy
from anon_pipeline.sources.value_maps import value_map_digests
from anon_pipeline.stages.facts.origin import broken_origin, hierarchy_digests

Small = Callable[..., Policy]
WITH_TABLES = {
    "city": {"hierarchy": {"suppress": None, "table": "city.csv"}},
    "illness": {"distance": "hierarchical", "hierarchy": {"table": "sub/illness.csv"}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "city.csv").write_text("Cork;*\n")
    (tmp_path / "sub" / "illness.csv").write_text("flu;*\n")
    return tmp_path


def test_tables_of_all_roles_are_named_by_their_column(small_policy: Small, folder: Path) -> None:
    assert hierarchy_digests(small_policy(columns=WITH_TABLES), folder) == {
        "city": digest_file(folder / "city.csv"),
        "illness": digest_file(folder / "sub" / "illness.csv"),
    }
    assert hierarchy_digests(small_policy(), folder) == {}


def test_a_table_that_is_gone_is_an_input_error(small_policy: Small, folder: Path) -> None:
    (folder / "city.csv").unlink()
    with pytest.raises(InputError, match="it is not there"):
        hierarchy_digests(small_policy(columns=WITH_TABLES), folder)


def test_every_reason_is_listed(small_policy: Small, folder: Path) -> None:
    policy = small_policy(columns=WITH_TABLES)
    stages = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")
    facts = {stage: {"made_by": policy.making, "seeded": False} for stage in stages}
    facts["k_anonymized"]["hierarchies"] = hierarchy_digests(policy, folder)
    assert broken_origin(policy, facts, hierarchies=folder) == []
    (folder / "city.csv").write_text("Cork;South;*\n")
    facts["shuffled"] = {"made_by": "another", "seeded": True}
    assert broken_origin(policy, facts, hierarchies=folder) == [
        "made by another policy than this one: shuffled",
        "a hierarchy table has changed since k_anonymized was made",
        "made with a seed: whoever knows it can undo the noise",
    ]
    del facts["raw"]
    assert broken_origin(policy, facts, hierarchies=folder) == ["facts are missing of raw"]


def test_a_value_map_that_has_changed_is_noticed(small_policy: Small, folder: Path) -> None:
    (folder / "map.csv").write_text("from,to\na,b\n")
    policy = small_policy(clean={"columns": {"note": {"values_file": "map.csv"}}})
    stages = ("raw", "deidentified", "k_anonymized", "perturbed", "shuffled", "suppressed")
    facts = {stage: {"made_by": policy.making, "seeded": False} for stage in stages}
    facts["k_anonymized"]["hierarchies"] = {}
    facts["raw"]["value_maps"] = value_map_digests(policy, folder)
    assert broken_origin(policy, facts, hierarchies=folder) == []
    (folder / "map.csv").write_text("from,to\na,c\n")
    assert broken_origin(policy, facts, hierarchies=folder) == [
        "the file of a value map has changed since raw was made"
    ]
