"""A packed table gives the same release, facts and verdicts as one of pandas, to the last bit."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Locations, anonymize, load_policy, make_release
from anon_pipeline.base import packed_tables, scratch
from anon_pipeline.base.errors import InputError, ScratchError, StageCrashed
from anon_pipeline.base.packed_tables import PackedTable, pack_large
from anon_pipeline.gate import Status
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.publish import whole_chain
from anon_pipeline.publish.file_formats import column_types
from anon_pipeline.publish.release_in_memory import Release
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.sources import read_source
from anon_pipeline.stages.history.memory import Memory
from benchmarks.adult import find_adult
from tests.honest_releases import DEMO, ROOT, adult, adult_frame

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
KEY = {"deidentify": {"key_env": "ANON_TEST_KEY"}}
PUBLIC = {"columns": {"height": {"sensitivity": "declared", "input_bounds": [100, 250]}}}

CHANGES: dict[str, dict[str, Any]] = {
    "full domain": {},
    "Mondrian": {"anonymize": {"recoder": "mondrian"}},
    "microaggregation": {"anonymize": {"recoder": "mdav"}},
    "cells": {"anonymize": {"recoder": "ola", "suppress": "cells"}},
    "closeness and diversity": {
        "gate": {"t_closeness": {"illness": 0.5}, "l_diversity": {"income": {"kind": "distinct", "l": 2}}}
    },
    "coarse columns": {"columns": {"income": {"round": 5000, "top": 35000}}},
    "categories with noise": {
        "columns": {"note": {"role": "perturb", "values": ["a", "b"], "mechanism": "randomized_response"}}
    },
    "no noise": {
        "columns": {"height": {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}},
        "perturb": None,
        "suppress": None,
    },
    "attacks": {
        "gate": {
            "attacks": {
                "prosecutor_risk": 0.5,
                "sample_uniques": 0.9,
                "minimal_uniques": 0.9,
                "skewness": {"illness": 9.0},
                "similarity": {"income": 0.0},
                "known_columns": [{"columns": ["note"], "risk": 0.9}],
            }
        }
    },
    "people": {"person": "person", "rows_per_person": 2, **KEY, "gate": {"utility": {"released": 0.1}}},
    "all releases": {"record_key": "person", **KEY, "perturb": {"republish": "sticky"}, **PUBLIC},
    "cleaning": {"clean": {"columns": {"city": {"case": "upper"}, "note": {"values": {"a": "yes"}}}}},
    "a mask": {"columns": {"person": {"action": "mask"}}},
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "a key of a test, " * 2)


@contextmanager
def large(monkeypatch: pytest.MonkeyPatch, folder: Path | None = None) -> Any:
    """Take every table for a large one, whose columns are in files if there is a folder for them."""
    with monkeypatch.context() as patch:
        patch.setattr(packed_tables, "PACKED_FROM", 1)
        if folder is not None:
            patch.setattr(scratch, "KEPT_FROM", 1)
            patch.setenv(scratch.SCRATCH, str(folder))
        yield


def in_both_ways(monkeypatch: pytest.MonkeyPatch, make: Callable[[], Release]) -> tuple[Release, Release]:
    plain = make()
    seen: list[object] = []
    with large(monkeypatch), monkeypatch.context() as patch:
        patch.setattr(whole_chain, "evaluate", lambda table, *a, **k: seen.append(table) or plain.report)
        make()
    assert isinstance(seen[0], PackedTable)
    with large(monkeypatch):
        return plain, make()


def same(plain: Release, packed: Release) -> None:
    pd.testing.assert_frame_equal(packed._frame, plain._frame, check_exact=True)
    assert packed.facts == plain.facts
    assert packed.report == plain.report


@pytest.mark.parametrize("name", CHANGES)
def test_a_release_is_the_same(
    name: str, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = small_policy(**CHANGES[name]), small_people(400)
    if policy.person is not None:
        people["person"] = [f"person {i // 3}" for i in range(len(people))]
    memory = Memory.empty() if policy.record_key is not None else None
    plain, packed = in_both_ways(
        monkeypatch, lambda: anonymize(policy, people, entropy=seeded_entropy(1), memory=memory)
    )
    same(plain, packed)


@pytest.mark.parametrize("name", CHANGES)
def test_a_release_of_columns_in_files_is_the_same(
    name: str, small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = small_policy(**CHANGES[name]), small_people(400)
    if policy.person is not None:
        people["person"] = [f"person {i // 3}" for i in range(len(people))]
    memory = Memory.empty() if policy.record_key is not None else None
    kept: list[scratch.ScratchArray] = []
    begin = scratch.ScratchArray.__init__

    def noted(self: scratch.ScratchArray, *about: Any) -> None:
        kept.append(self)
        begin(self, *about)

    def make() -> Release:
        return anonymize(policy, people, entropy=seeded_entropy(1), memory=memory)

    plain = make()
    with large(monkeypatch, tmp_path), monkeypatch.context() as patch:
        patch.setattr(scratch.ScratchArray, "__init__", noted)
        same(plain, make())
    assert len(kept) > len(policy.columns)
    assert not [*tmp_path.iterdir()]


def test_what_cannot_be_read_back_ends_a_release(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it happens: no limit is refused or passed over for it, no warning goes missing."""
    read, many = os.preadv, list[int]()
    policy, people = small_policy(), small_people(400)

    def make(broken: int | None) -> None:
        """Make a release in which one reading fails."""
        many.clear()

        def reading(handle: int, room: Any, begin: int) -> int:
            many.append(handle)
            if len(many) == broken:
                raise OSError(errno.EIO, "Quillfeather-4711")
            return read(handle, room, begin)

        with monkeypatch.context() as patch:
            patch.setattr(os, "preadv", reading)
            anonymize(policy, people, entropy=seeded_entropy(1))

    with large(monkeypatch, tmp_path), monkeypatch.context() as patch:
        patch.setattr("anon_pipeline.base.threads.processors", lambda: 1)
        make(None)
        total = len(many)
        assert total > 200
        for broken in [*range(1, total, total // 20), total]:
            with pytest.raises(ScratchError, match="must be read as it was written") as caught:
                make(broken)
            assert "Quillfeather" not in str(caught.value)


@pytest.mark.parametrize("later", [0, 1, 20, 60])
def test_a_folder_that_fills_ends_a_release(
    later: int, small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = os.pwrite, list[int]()

    def filling(handle: int, data: Any, begin: int) -> int:
        """Write, some times."""
        written.append(handle)
        if len(written) > later:
            raise OSError(errno.ENOSPC, "Quillfeather-4711")
        return write(handle, data, begin)

    with large(monkeypatch, tmp_path), monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", filling)
        with pytest.raises(ScratchError, match="ANON_PIPELINE_SCRATCH: must be a folder") as caught:
            anonymize(small_policy(), small_people(400), entropy=seeded_entropy(1))
    assert "Quillfeather" not in str(caught.value)
    assert not [*tmp_path.iterdir()]


def test_noise_stays_from_one_packed_release_to_the_next(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = small_policy(**CHANGES["all releases"], suppress=None), small_people(400)
    with large(monkeypatch):
        first = anonymize(policy, people, memory=Memory.empty())
        second = anonymize(policy, people.iloc[::-1], memory=first.memory)
    assert second.facts["perturbed"]["composition"]["values_reused"] == len(first.frame)
    columns = [*first.frame]
    pd.testing.assert_frame_equal(
        *(one.frame.sort_values(columns, ignore_index=True) for one in (first, second))
    )


@pytest.mark.parametrize("name", DEMO)
def test_a_release_of_the_demo_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = load_policy(ROOT / "assets" / "releases" / name / "defs.yaml")
    frame = read_source(policy)
    same(
        *in_both_ways(
            monkeypatch, lambda: anonymize(policy, frame, hierarchies=ROOT, entropy=seeded_entropy(1))
        )
    )


def test_a_release_of_adult_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = find_adult()
    if folder is None:
        pytest.skip("needs the data set Adult")
    frame = adult_frame(folder)
    same(
        *in_both_ways(
            monkeypatch, lambda: anonymize(adult(), frame, hierarchies=folder, entropy=seeded_entropy(1))
        )
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_packed_release_is_written_verified_and_read(
    form: str, tmp_path: Path, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_people(2500).to_csv(tmp_path / "people.csv", index=False)
    policy = small_policy(publish={"to": "releases", "format": form, "records_per_file": 1000})
    seen: list[object] = []
    with large(monkeypatch):
        places = Locations.of(tmp_path, {})
        written = make_release(policy, places, witness=lambda chain, _: seen.append(chain.suppressed.frame))
    assert isinstance(seen[0], PackedTable)
    assert not verify_release(written.manifest_path, Against(policy)).with_status(Status.REFUSED)


def test_dagster_keeps_columns_on_disk_too(
    project: Callable[..., Any], small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, kept = tmp_path / "fast", list[int]()
    folder.mkdir()
    begin = scratch.ScratchArray.__init__
    made = project(small_people())
    with large(monkeypatch, folder), monkeypatch.context() as patch:
        patch.setattr(
            scratch.ScratchArray,
            "__init__",
            lambda self, *about: kept.append(1) or begin(self, *about),  # type: ignore[func-returns-value]
        )
        assert made.run("small_release").success
    assert len(kept) > 50
    assert not [*folder.iterdir()]


WRONG: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a text in place of a number": lambda people: people.assign(
        height=["tall", *people["height"].astype(str)[1:]]
    ),
    "a gap": lambda people: people.assign(illness=people["illness"].where(people.index > 0)),
    "a value outside of the hierarchy": lambda people: people.assign(
        age=["old", *people["age"].astype(str)[1:]]
    ),
    "two columns of one name": lambda people: pd.concat([people, people[["note"]]], axis=1),
    "several kinds": lambda people: people.assign(note=pd.Series([1, *people["note"][1:]], dtype=object)),
    "no record": lambda people: people.iloc[:0],
    "an unknown column": lambda people: people.assign(more=1),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_gets_the_same_words(
    name: str, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = WRONG[name](small_people())

    def refusal() -> str:
        with pytest.raises((InputError, StageCrashed)) as caught:
            anonymize(small_policy(), people, entropy=seeded_entropy(1))
        return f"{type(caught.value).__name__}: {caught.value}"

    plain = refusal()
    with large(monkeypatch):
        assert refusal() == plain


def test_the_personal_data_is_gone_once_it_is_deidentified(
    tmp_path: Path, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No call holds the source until the end: at a million records that would be a third of all memory."""
    import gc
    import weakref

    small_people().to_csv(tmp_path / "people.csv", index=False)
    alive: list[weakref.ref[pd.DataFrame]] = []
    read = whole_chain.read_source

    def watched(*args: Any, **options: Any) -> pd.DataFrame:
        frame = read(*args, **options)
        alive.append(weakref.ref(frame))
        return frame

    left: list[bool] = []
    monkeypatch.setattr(whole_chain, "read_source", watched)
    real = whole_chain.before_noise

    def before_noise(policy: Policy, folder: Path, **more: Any) -> Any:
        found = real(policy, folder, **more)

        def look(staged: Any) -> None:
            gc.collect()
            left.append(alive[0]() is not None)
            found.worth_drawing(staged)

        return found._replace(worth_drawing=look)

    monkeypatch.setattr(whole_chain, "before_noise", before_noise)
    make_release(small_policy(publish={"to": "releases"}), Locations.of(tmp_path, {}))
    assert left == [False]


def test_every_table_between_the_stages_is_packed(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_pipeline.stages import pipeline
    from anon_pipeline.stages.private import Means, Staged

    seen: list[Staged] = []
    with large(monkeypatch):
        people = pack_large(small_people())
        chain = pipeline.run(
            small_policy(),
            people,
            Means(Path(), None, seeded_entropy(1)),
            without_identifiers=seen.append,
        )
    for staged in (*seen, chain.k_anonymized, chain.suppressed):
        assert isinstance(staged.frame, PackedTable)
    assert np.array_equal(people["age"], small_people()["age"])


NAMED_SELF: dict[str, dict[str, Any]] = {
    "generalized": {"self": "age"},
    "with noise": {"self": "height"},
    "sensitive, rounded": {"self": "income"},
    "insensitive, cleaned": {"self": "note"},
    "masked": {"self": "person"},
}


@pytest.mark.parametrize("name", NAMED_SELF)
def test_a_column_may_be_named_self(
    name: str, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the first argument of the methods of tables."""
    old = NAMED_SELF[name]["self"]
    plain = small_policy(
        columns={"income": {"round": 5000}, "person": {"action": "mask"}},
        clean={"columns": {"note": {"case": "upper"}}},
    ).model_dump(mode="json", exclude_unset=True, by_alias=True)
    plain["columns"] = {"self" if key == old else key: value for key, value in plain["columns"].items()}
    if old == "note":
        plain["clean"] = {"columns": {"self": {"case": "upper"}}}
    policy = policy_from(plain)
    people = small_people().rename(columns={old: "self"})
    same(*in_both_ways(monkeypatch, lambda: anonymize(policy, people, entropy=seeded_entropy(1))))


@pytest.mark.parametrize("kind", ["category", "object"])
def test_texts_of_another_type_are_released_as_the_same_type(
    kind: str, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = small_people()
    people = people.astype(dict.fromkeys(("city", "illness", "note"), kind))
    plain, packed = in_both_ways(
        monkeypatch, lambda: anonymize(small_policy(), people, entropy=seeded_entropy(1))
    )
    same(plain, packed)
    assert column_types(packed._frame) == column_types(plain._frame)


def test_limits_of_plugins_get_tables_of_pandas(
    small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a limit of a plugin looks at in its case."""
    from anon_pipeline.evidence.evidence import evidence_from
    from anon_pipeline.gate.judge import copy_for_plugin
    from anon_pipeline.limits.case import Case
    from anon_pipeline.stages import pipeline
    from anon_pipeline.stages.lineage import Descent, Where
    from anon_pipeline.stages.private import Means

    policy = small_policy()
    chain = pipeline.run(policy, small_people(), Means(Path(), None, seeded_entropy(1)))
    with large(monkeypatch):
        made = {"released": chain.suppressed, "originals": chain.k_anonymized}
        tables = {name: pack_large(one.frame) for name, one in made.items()}
    evidence = evidence_from(tables["released"], policy, originals=tables["originals"])
    descent = Descent(tables["released"], chain.suppressed.lineage, Where(None, policy.name))
    found = copy_for_plugin(Case(policy, tables["released"], evidence, None, descent))
    assert found.evidence.originals is not None
    assert found.descent is not None
    shown = (found.release, found.evidence.released, found.evidence.originals.frame, found.descent.frame)
    assert all(isinstance(one, pd.DataFrame) for one in shown)
