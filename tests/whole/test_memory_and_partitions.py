"""The memory in the manager's own vault, over partitions, and of releases that have one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from anon_pipeline import GateRefused, Locations, Policy, make_release
from anon_pipeline.cli.releasing import run
from anon_pipeline.orchestration.resources import VAULT, with_resources
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.publish import Published
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.accounting.booking import release_id_in
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.stages.history.memory import Memory

KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "suppress": None,
    "gate": {"suppression": None, "cross_release_k": 3},
}
WARDS: dict[str, Any] = {
    **KEEPS,
    "columns": {
        **dict.fromkeys(("age", "city", "height", "income", "note")),
        "ward": {"role": "generalize", "hierarchy": {"suppress": True}},
    },
    "anonymize": {"k": 5, "suppression_limit": 0.0},
    "perturb": None,
    "gate": {"k": 5, "suppression": None, "cross_release_k": 2},
}
SEALED, PLAIN = b"APVAULT", b"PAR1"


class Wards:
    """A project that releases who lay in which ward; everybody has the flu."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        self.folder, self.policy = folder, policy
        self.locations = Locations.of(folder, {})
        self.archive = VaultArchive(policy, self.locations)

    def release(self, wards: str, names: str, partition: str | None = None) -> Published:
        people = pd.DataFrame({"person": list(names), "ward": list(wards), "illness": "flu"})
        people.to_csv(self.folder / "people.csv", index=False)
        return make_release(self.policy, self.locations, archive=self.archive, partition=partition)

    def memory(self, partition: str | None = None) -> Memory:
        with self.archive.alone():
            return self.archive.read(partition)


@pytest.fixture
def wards(
    tmp_path: Path, small_policy: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Wards]:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    yield Wards(tmp_path, small_policy(**WARDS))


def test_the_memory_is_where_the_manager_keeps_its_tables_under_its_key(
    project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    monkeypatch.setenv("OTHER_KEY", os.urandom(32).hex())
    declared = {"height": {"sensitivity": "declared", "input_bounds": [145, 195]}}
    made = project(**KEEPS, columns=declared, perturb={"republish": "sticky"})
    own = tmp_path / "own"
    manager = VaultIOManager(folder=str(own), key_names="OTHER")
    object.__setattr__(made, "definitions", with_resources(made.definitions, {VAULT: manager}))
    for reused in (0, 240):
        result = made.run("small_release")
        assert result.success
        told = measured_of(made.policy, Locations.of(made.folder, {}), None, opens=manager.vault).read()
        assert told["facts"]["perturbed"]["composition"]["values_reused"] == reused
    tables = list(own.rglob("*.parquet"))
    assert "memory.parquet" in {path.name for path in tables}
    assert {path.read_bytes()[:7] for path in tables} == {SEALED}
    assert not (made.folder / "vault").exists()


def test_a_release_of_another_partition_counts(wards: Wards) -> None:
    """F and L change places from one day to the next: each is alone between its two classes."""
    wards.release("x" * 6 + "y" * 6, "ABCDEFGHIJKL", "2026-01-05")
    with pytest.raises(GateRefused, match=r"cross_release_k \(at least 2\) refused"):
        wards.release("x" * 5 + "y" + "y" * 5 + "x", "ABCDEFGHIJKL", "2026-01-06")
    assert [past.partition for past in wards.memory("2026-01-06").releases] == ["2026-01-05"]


def test_releases_with_one_table_and_other_people_all_count(wards: Wards) -> None:
    one = wards.release("x" * 10, "ABCDEFGHIJ").manifest
    two = wards.release("x" * 10, "IJKLMNOPQR").manifest
    assert one["data_digest"] == two["data_digest"]
    ids = [release_id_in(document["facts"]) for document in (one, two)]
    assert [past.release_id for past in wards.memory().releases] == ids
    with pytest.raises(GateRefused, match=r"cross_release_k \(at least 2\) refused"):
        wards.release("x" * 10, "KLIABCDEFG")


@pytest.mark.parametrize(("at", "counts"), [("writing", False), ("commit", True)])
def test_after_a_crash_the_id_tells_whether_one_with_the_same_table_is_published(
    wards: Wards, monkeypatch: pytest.MonkeyPatch, at: str, counts: bool
) -> None:
    wards.release("x" * 10, "ABCDEFGHIJ")

    def crash(*_: object, **__: object) -> None:
        raise SystemError

    with monkeypatch.context() as patched:
        if at == "writing":
            patched.setattr("anon_pipeline.publish.release.write_release", crash)
        else:
            patched.setattr(VaultArchive, "commit", crash)
        with pytest.raises(Exception, match="SystemError"):
            wards.release("x" * 10, "IJKLMNOPQR")
    assert wards.archive._there(wards.archive._beside)
    assert len(wards.memory().releases) == 1 + counts
    assert not wards.archive._there(wards.archive._beside)


def test_a_memory_of_yesterday_does_not_know_todays_people_behind_the_same_table(wards: Wards) -> None:
    wards.release("x" * 10, "ABCDEFGHIJ")
    file = wards.folder / "vault" / "small" / "memory.parquet"
    yesterday = file.read_bytes()
    wards.release("x" * 10, "IJKLMNOPQR")
    file.write_bytes(yesterday)
    with pytest.raises(Exception, match="does not contain the published release"):
        wards.memory()


@pytest.mark.parametrize("encrypted", [False, True])
def test_the_command_line_says_once_that_the_memory_is_not_encrypted(
    wards: Wards, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    if encrypted:
        monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", os.urandom(32).hex())
    attributes = wards.policy.model_dump(mode="json", exclude_defaults=True)
    document = {"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes}
    (wards.folder / "policy.yaml").write_text(yaml.safe_dump(document))
    people = pd.DataFrame({"person": list("ABCDE"), "ward": "x", "illness": "flu"})
    people.to_csv(wards.folder / "people.csv", index=False)
    done = CliRunner().invoke(run, [str(wards.folder / "policy.yaml")])
    assert done.exit_code == 0, done.output
    assert done.stderr.count("the vault is not encrypted: there is no key") == (not encrypted)
    file = wards.folder / "vault" / "small" / "memory.parquet"
    assert file.read_bytes().startswith(SEALED if encrypted else PLAIN)
