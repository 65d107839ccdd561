"""Facts that somebody has forged in the vault carry no text out of it: every reader refuses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.component import build_release
from anon_pipeline.policy import Policy
from anon_pipeline.stages.history.memory import Memory, Past
from anon_pipeline.stages.history.memory_table import from_table, to_table
from anon_pipeline.stages.private import STAGES
from anon_pipeline.stages.vault_tables import read_staged
from tests.projects import Project, restore_or_make

CANARY = "CANARY-7f3a"


def _rewrite(path: Path, facts: bytes) -> None:
    """Change the facts in a table's own file, as who can write in the vault can."""
    table = pq.read_table(path)
    table = table.replace_schema_metadata({**table.schema.metadata, b"anon_pipeline.facts": facts})
    pq.write_table(table, path)


def _forge(path: Path, stage: str, field: str) -> None:
    facts = json.loads(pq.read_schema(path).metadata[b"anon_pipeline.facts"])
    facts[stage][field] = CANARY
    _rewrite(path, json.dumps(facts).encode())


# what is forged in which table, and what reads it: a stage, or its checks
READERS = [
    ("raw", "raw", "made_by", "deidentified"),
    ("deidentified", "deidentified", "dropped", "k_anonymized"),
    ("k_anonymized", "k_anonymized", "recoder", "perturbed"),
    ("k_anonymized", "deidentified", "masked", "suppressed"),
    ("k_anonymized", "k_anonymized", "loss", "published"),
    ("perturbed", "perturbed", "mechanism", "shuffled"),
    ("shuffled", "perturbed", "release_id", "suppressed"),
    ("suppressed", "suppressed", "released", "published"),
    ("suppressed", "raw", "records", "published"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dg.DagsterInstance]]:
    """A folder for one project, and the instance that knows its release."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield tmp_path_factory.mktemp("kept"), instance


@pytest.fixture
def released(
    kept: tuple[Path, dg.DagsterInstance],
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
) -> Project:
    """A project after a release, in the folder in which it was made, with the bytes of then."""
    (place, instance), policy = kept, small_policy()
    made = Project(place / "project", policy, build_release(policy, place / "project"), instance)

    def make() -> None:
        small_people().to_csv(made.folder / "people.csv", index=False)
        assert made.run("small_release").success

    restore_or_make(made.folder, make)
    return made


@pytest.mark.parametrize(("table", "stage", "field", "reader"), READERS)
def test_every_stage_refuses_forged_facts(
    released: Project, table: str, stage: str, field: str, reader: str
) -> None:
    made = released
    before = {path: path.read_bytes() for path in made.released()}
    _forge(made.folder / "vault" / "small" / f"{table}.parquet", stage, field)
    result = made.materialize(reader, checks=False)
    assert not result.success
    said = "\n".join(str(entry) for entry in made.instance.all_logs(result.run_id))
    assert CANARY not in said
    assert f"the facts of {stage} must be what that stage writes; these are not: {field}" in said
    assert {path: path.read_bytes() for path in made.released()} == before


@pytest.mark.parametrize(
    ("table", "stage", "field"),
    [("suppressed", "perturbed", "release_id"), ("k_anonymized", "k_anonymized", "levels")],
)
def test_every_check_refuses_forged_facts(
    project: Callable[..., Any], table: str, stage: str, field: str
) -> None:
    made = project()
    assert made.run("small_release").success
    _forge(made.folder / "vault" / "small" / f"{table}.parquet", stage, field)
    for name in (*STAGES, "published"):
        selection = dg.AssetSelection.checks_for_assets(dg.AssetKey(["small", name]))
        job = dg.define_asset_job("only_checks", selection)
        merged = dg.Definitions.merge(made.definitions, dg.Definitions(jobs=[job]))
        if name in ("perturbed", "shuffled", "suppressed"):
            continue  # they have none
        result = merged.resolve_job_def("only_checks").execute_in_process(
            instance=made.instance, raise_on_error=False
        )
        said = "\n".join(str(entry) for entry in made.instance.all_logs(result.run_id))
        assert CANARY not in said
        reads = name == "published" or (name, table) == ("k_anonymized", "k_anonymized")
        assert result.success != reads, name
        assert ("must be what that stage writes" in said) == reads


@pytest.mark.parametrize(
    "facts", [b"", b"CANARY-7f3a", b"[1]", b'{"raw": "CANARY-7f3a"}', b"[" * 100_000, b"\xff", b'"\\ud800"']
)
def test_what_is_no_facts_at_all_is_refused_without_its_text(tmp_path: Path, facts: bytes) -> None:
    path = tmp_path / "raw.parquet"
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"anon_pipeline.facts": facts}), path)
    with pytest.raises(InputError, match="must have facts as this version writes them") as caught:
        read_staged(path)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "change",
    [
        {"version": CANARY},
        {"version": True},
        {"key": CANARY},
        {"releases": [[CANARY, None]]},
        {"releases": [["0" * 64, f"{CANARY} and more"]]},
        {"releases": [["0" * 64, 3]]},
        {"releases": [["0" * 64]]},
        {"releases": [["0" * 64, None, None, CANARY]]},
        {"releases": [["0" * 64, None, None, 8]]},
        {"releases": [["0" * 64, None, None, "1/0"]]},
        {"releases": [["0" * 64, None, None, "8", CANARY]]},
        {"releases": CANARY},
        {CANARY: 1},
        {"written": CANARY},
        {"written": True},
        {"written": -1},
        {"written": 3},
        {"written": None},
    ],
)
def test_a_forged_memory_is_refused(change: dict[str, Any]) -> None:
    memory = Memory((Past("a" * 64, "2026-01-05"), Past("b" * 64, None)), *_empty(), "c" * 64)
    table, facts = to_table(memory)
    assert from_table(table, json.loads(json.dumps(facts))).releases == memory.releases
    with pytest.raises(InputError, match="must be one that this version wrote") as caught:
        from_table(table, {"memory": {**facts["memory"], **change}})
    assert CANARY not in str(caught.value)


def _empty() -> tuple[pd.DataFrame, pd.DataFrame]:
    empty = Memory.empty()
    return empty.members, empty.values
