"""A memory of version 0.1.0 that recognizes nobody is no reason to take everybody for new."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline import Memory, anonymize, cli
from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.stages.history.memory import normalize_persons
from anon_pipeline.stages.history.memory_table import from_table, to_table
from anon_pipeline.stages.persons import ID, person_ids

Keeping = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
KEY = b"0123456789abcdef"
NOBODY = r"got 0 of (\d+) records among (\d+) remembered keys"


def of_version_3(memory: Memory, keys: pd.Series) -> Memory:
    """The memory that version 0.1.0 would have written of these keys."""
    ids = person_ids(keys, KEY)
    names = dict(zip(ids.str[:ID], ids.str[ID:], strict=True))
    members, values = (
        frame.assign(person=frame["person"].map(names).astype("str"))
        for frame in (memory.members, memory.values)
    )
    return replace(memory, members=members, values=values, written=len(memory.releases))


def spelled(people: pd.DataFrame) -> pd.DataFrame:
    return people.assign(person="P " + people["person"].astype(str))


@pytest.fixture
def old(keeping: Keeping, labeled: People) -> Memory:
    people = spelled(labeled())
    memory = anonymize(keeping(), people, memory=Memory.empty()).memory
    assert memory is not None
    assert memory.written == 0
    return of_version_3(memory, people["person"])


def test_old_versions_are_read_as_written_and_new_ones_stay_so(old: Memory) -> None:
    frame, facts = to_table(old)
    without = {name: fact for name, fact in facts["memory"].items() if name != "written"}
    for version in (1, 2, 3):
        assert from_table(frame, {"memory": {**without, "version": version}}).written == 1
    with pytest.raises(InputError, match="one that this version wrote"):
        from_table(frame, {"memory": without})
    assert from_table(frame, facts).written == 1
    assert from_table(*to_table(replace(old, written=0))).written == 0


@pytest.mark.parametrize("republish", ["fresh", "sticky"])
def test_a_table_of_which_it_knows_nobody_is_refused_before_noise_is_drawn(
    keeping: Keeping, labeled: People, old: Memory, republish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = keeping(perturb={"republish": republish}), spelled(labeled())
    respelled = people.assign(person=" " + people["person"])
    assert anonymize(policy, people, memory=old).report.passed
    assert anonymize(policy, respelled, memory=replace(old, written=0)).report.passed

    def never(*_: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("anon_pipeline.stages.pipeline.fresh_key", never)
    with pytest.raises(InputError, match=NOBODY) as caught:
        anonymize(policy, respelled, memory=old)
    assert "240 records among 240 remembered" in str(caught.value)
    assert not any(name in str(caught.value) for name in people["person"])


def test_one_who_is_met_is_enough_and_later_tables_are_asked_again(
    keeping: Keeping, labeled: People, old: Memory
) -> None:
    """How many must be met is not known: people come and go. Nobody at all is what a new spelling gives."""
    policy, people = keeping(), spelled(labeled())
    one = people.assign(person=[*people["person"][:1], *(" " + people["person"][1:])])
    first = anonymize(policy, one, memory=old)
    assert first.memory is not None
    assert first.memory.written == 1
    others = people.assign(person="Q " + people["person"])
    with pytest.raises(InputError, match=NOBODY):
        anonymize(policy, others, memory=first.memory)
    again = one.assign(person=one["person"].str.upper())  # met in normal form by now
    assert anonymize(policy, again, memory=first.memory).report.passed


def test_a_memory_of_this_version_may_meet_nobody(keeping: Keeping, labeled: People) -> None:
    policy, people = keeping(), spelled(labeled())
    memory = anonymize(policy, people, memory=Memory.empty()).memory
    assert anonymize(policy, people.assign(person="Q " + people["person"]), memory=memory).report.passed
    ids = person_ids(pd.Series(["a"]), KEY)
    assert normalize_persons(replace(Memory.empty(), written=0), ids)[0].releases == ()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        shown = capsys.readouterr()
        return int(exit_.value.code or 0), shown.out + shown.err

    return run


def test_the_command_line_refuses_and_goes_on_when_told(
    call, tmp_path: Path, keeping: Keeping, labeled: People
) -> None:
    policy, people = keeping(), spelled(labeled())
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    people.to_csv(tmp_path / "people.csv", index=False)
    assert call("run", "policy.yaml")[0] == 0
    archive = VaultArchive(policy, Locations.of(tmp_path))
    with archive.alone():
        memory = archive.read_kept()
        archive.stage(of_version_3(memory, people["person"]))
        archive.commit()
    people.assign(person=people["person"].str.upper() + " ").to_csv(tmp_path / "people.csv", index=False)
    code, said = call("run", "policy.yaml")
    assert (code, "vault new-people POLICY" in said) == (2, True)
    assert "got 0 of 240 records" in said
    assert not any(name in said for name in people["person"].str.upper())
    code, said = call("vault", "new-people", "policy.yaml")
    assert (code, said) == (0, "small: releases before 0.2 whose people need not be recognized: 1\n")
    again = json.loads(call("vault", "new-people", "policy.yaml", "--json")[1])
    assert again == {"release": "small", "releases_before_0_2": 0}
    assert call("run", "policy.yaml")[0] == 0
    with archive.alone():
        assert archive.read_kept().members["person"].nunique() == 480


def test_without_a_record_key_there_is_no_memory(call, tmp_path: Path, small_policy: Keeping) -> None:
    attributes = small_policy().model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    code, said = call("vault", "new-people", "policy.yaml")
    assert (code, "must have a record_key" in said) == (2, True)
