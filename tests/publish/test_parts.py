"""A release in several data files is the release in one: cut, judged, written, verified, joined."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, Held
from anon_pipeline.cli import cli
from anon_pipeline.gate import Status
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published
from anon_pipeline.publish.deliver.delivery import deliver_release
from anon_pipeline.publish.file_formats import from_files, to_files
from anon_pipeline.publish.judgment import judge
from anon_pipeline.publish.parts import MOST_FILES, cut_records, expected_records, join_files, most_files
from anon_pipeline.publish.release_files import named_table
from anon_pipeline.publish.verify.verify import Against, verified_table, verify_in_detail, verify_release
from anon_pipeline.publish.writer import write_release
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means
from tests.adversarial import faults
from tests.conftest import SMALL, merged
from tests.publish.delivered import publish_in

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
MANY, EACH = 2_500, 1_000


def policy_of(small_policy: Small, form: str = "parquet", **more: Any) -> Policy:
    return small_policy(publish={"format": form, "records_per_file": EACH, **more})


@given(st.integers(0, 40), st.one_of(st.none(), st.integers(1, 50)))
def test_the_parts_of_a_table_are_the_table_in_its_order(records: int, each: int | None) -> None:
    parts = list(cut_records(records, each))
    assert [place for start, stop in parts for place in range(start, stop)] == [*range(records)]
    assert [stop - start for start, stop in parts] == expected_records(records, each)
    assert len(parts) >= 1
    assert all(stop - start == each for start, stop in parts[:-1])


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_types_are_those_of_the_whole_table(form: str) -> None:
    """A part whose values are all missing, or whole numbers, would have other types by itself."""
    frame = pd.DataFrame(
        {
            "text": pd.array([None] * 2 + ['a, "b"\nc'] * 2, dtype="str"),
            "number": [np.nan, np.nan, 1.0, 2.5],
            "whole": pd.array([1, 2, None, 4], dtype="Int64"),
            'odd, "name"\n': pd.array(["x", "x", "y", None], dtype="str"),
        }
    )
    if form == "parquet":  # Arrow reads no categories from CSV
        frame["category"] = pd.Categorical(["x", "x", "y", None])
    files = to_files(frame, form, records_per_file=2)
    assert len(files) == 2
    assert digest_frame(from_files(files, form, like=frame)) == digest_frame(frame)
    (whole,) = to_files(frame, form)
    joined = join_files([Held(f"a.{form}", data) for data in files], [2, 2], Limits())
    assert digest_frame(from_files([joined.data], form, like=frame)) == digest_frame(frame)
    assert form == "parquet" or joined.data == whole


def test_a_release_in_several_files_is_judged_as_the_one_table(
    small_policy: Small, small_people: People
) -> None:
    made = {}
    for policy in (small_policy(), policy_of(small_policy)):
        means = Means(Path(), None, seeded_entropy(3))
        chain = pipeline.run(policy, small_people(MANY), means)
        made[policy.publish.records_per_file] = judge(
            chain.suppressed, chain.k_anonymized.frame, policy, hierarchies=Path()
        )
    one, several = made[None], made[EACH]
    assert (len(one.files), len(several.files)) == (1, 3)
    assert one.report.data_digest == several.report.data_digest
    assert [v.value for v in one.report.verdicts] == [v.value for v in several.report.verdicts]
    assert (
        several.files[0].described.types == several.files[2].described.types == one.files[0].described.types
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_it_is_published_and_verified(
    small_policy: Small, small_people: People, tmp_path: Path, form: str
) -> None:
    policy = policy_of(small_policy, form)
    written = publish_in(tmp_path, policy, small_people(MANY))
    items = written.manifest["files"]
    assert [item["records"] for item in items[:2]] == [EACH, EACH]
    assert len(written.paths) == len(items) == 3
    assert all(path.is_file() for path in written.paths)
    table = named_table(written.manifest_path, policy)
    assert len(table) == sum(item["records"] for item in items)
    for against in (Against(policy), Against(None)):
        found = verify_in_detail(written.manifest_path.parent, against)
        assert found.report.with_status(Status.REFUSED) == ()
        assert not [one for one in found.unverified if one.path.startswith("files")] or against.policy is None
    document, frame = verified_table(written.manifest_path, Against(policy))
    assert digest_frame(frame) == document["data_digest"]
    page = written.report_path.read_text()
    assert "and 2 more files" in page
    assert all(item["sha256"] in page for item in items)


def change(written: Published, change_files: Callable[[list[Any]], Any]) -> None:
    """Change the list of data files in a manifest."""
    document = json.loads(written.manifest_path.read_text())
    document["files"] = change_files(document["files"])
    written.manifest_path.write_text(json.dumps(document))


FORGED: dict[str, Callable[[list[Any]], Any]] = {
    "a file is left out": lambda files: files[:2],
    "a file is named twice": lambda files: [*files, files[0]],
    "two files change places": lambda files: [files[1], files[0], files[2]],
    "records are counted elsewhere": lambda files: [
        {**files[0], "records": EACH - 1},
        {**files[1], "records": EACH + 1},
        files[2],
    ],
    "a count that no list can hold": lambda files: [*files[:2], {**files[2], "records": 10**13}],
    "a negative count": lambda files: [{**files[0], "records": -1}, *files[1:]],
    "a type is another": lambda files: [files[0], {**files[1], "types": {"city": "string"}}, files[2]],
    "a format is another": lambda files: [files[0], {**files[1], "format": "csv"}, files[2]],
    "the first file alone": lambda files: files[:1],
}


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("known", [True, False])
def test_a_forged_list_of_files_is_refused(
    small_policy: Small, small_people: People, tmp_path: Path, forged: str, known: bool
) -> None:
    policy = policy_of(small_policy)
    written = publish_in(tmp_path, policy, small_people(MANY))
    change(written, FORGED[forged])
    assert not verify_release(written.manifest_path, Against(policy if known else None)).passed


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_changed_or_missing_file_is_named(
    small_policy: Small, small_people: People, tmp_path: Path, place: int
) -> None:
    policy = policy_of(small_policy)
    written = publish_in(tmp_path, policy, small_people(MANY))
    path = written.paths[place]
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"!")
    refused = [v.limit for v in verify_release(tmp_path / "out", Against(policy)).with_status(Status.REFUSED)]
    assert f"file.{path.name}" in refused
    path.unlink()
    with pytest.raises(InputError, match="the data file must be the one that it names"):
        named_table(written.manifest_path, policy)
    refused = [v.limit for v in verify_release(tmp_path / "out", Against(policy)).with_status(Status.REFUSED)]
    assert [name for name in refused if name.startswith("file.")] == [f"file.{path.name}"]


@pytest.mark.parametrize("without", ["a byte", "the last file"])
def test_all_files_together_keep_the_limit_on_bytes(
    small_policy: Small, small_people: People, tmp_path: Path, without: str
) -> None:
    """Of one file: 10,000 files would be as many times more than a release in one file may have."""
    policy = policy_of(small_policy)
    written = publish_in(tmp_path, policy, small_people(MANY))
    sizes = [item["size"] for item in written.manifest["files"]]
    most = sum(sizes) - 1 if without == "a byte" else sizes[0] + sizes[1] - 1
    tight = small_policy(source={"limits": {"file_bytes": most}}, publish={"records_per_file": EACH})
    with pytest.raises(InputError, match="all data files together: must keep the limit file_bytes"):
        named_table(written.manifest_path, tight)
    refused = verify_release(written.manifest_path, Against(tight)).with_status(Status.REFUSED)
    assert [v.limit for v in refused if v.limit.startswith("file.")] == [f"file.{written.paths[2].name}"]


def test_the_next_release_removes_all_files_of_the_one_before_the_last(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = policy_of(small_policy)
    made = [publish_in(tmp_path, policy, small_people(MANY)) for _ in range(3)]
    there = {path.name for path in (tmp_path / "out").glob("*.parquet")}
    assert there == {path.name for one in made[1:] for path in one.paths}


def test_files_with_equal_bytes_are_one_file_that_is_named_twice() -> None:
    files = to_files(pd.DataFrame({"a": [1] * 3_000}), "parquet", records_per_file=EACH)
    assert files[0] == files[1] == files[2]
    joined = join_files([Held("a.parquet", data) for data in files], [EACH] * 3, Limits())
    assert pq.read_table(pa.BufferReader(joined.data)).num_rows == 3_000


def test_it_is_delivered_as_one_table(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.db").touch()
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path}/shop.db")
    policy = policy_of(small_policy, deliver={"database_env": "SHOP_URL", "table": "visits"})
    written = publish_in(tmp_path, policy, small_people(MANY))
    deliver_release(policy, Locations.of(tmp_path, {}))
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        ((count,),) = connection.execute("SELECT COUNT(*) FROM visits")
    assert count == sum(item["records"] for item in written.manifest["files"])


def test_files_that_are_no_parts_of_one_table_are_refused() -> None:
    def held(data: dict[str, Any], form: str = "parquet") -> Held:
        return Held(f"a.{form}", to_files(pd.DataFrame(data), form)[0])

    one = held({"a": [1]})
    for other in (held({"b": [1]}), held({"a": ["x"]}), Held("a.parquet", b"PAR1"), held({"a": [1]}, "csv")):
        with pytest.raises(InputError):
            join_files([one, other], [1, 1], Limits())
    with pytest.raises(InputError, match="header"):
        join_files([held({"a": [1]}, "csv"), held({"b": [1]}, "csv")], [1, 1], Limits())
    with pytest.raises(InputError, match="rows"):
        join_files([one, one, one], [1, 1, 1], Limits(rows=2))
    for form in ("parquet", "csv"):
        with pytest.raises(InputError, match="must have 2 records as the manifest states, got 1"):
            join_files([held({"a": [1, 2]}, form), held({"a": [3]}, form)], [2, 2], Limits())


def test_a_file_may_not_end_within_a_record() -> None:
    """Joined, both would be the table; each alone is another one."""
    first, second = Held("a.csv", b'"a"\n1\n25'), Held("a.csv", b'"a"\n00\n3\n')
    with pytest.raises(InputError, match="end with the end of a line"):
        join_files([first, second], [2, 1], Limits())
    assert join_files([Held("a.csv", b'"a"\n1\n2500\n'), Held("a.csv", b'"a"\n3\n')], [2, 1], Limits())


def test_a_header_that_never_ends_is_not_sought_for_long() -> None:
    endless = Held("a.csv", b'"' + b"\n" * 10**6)
    with pytest.raises(InputError, match="header"):
        join_files([endless, endless], [1, 1], Limits())


def test_so_many_files_that_their_manifest_can_be_read() -> None:
    assert most_files(["a"]) == MOST_FILES
    wide = [f"a column of a long name {place}" for place in range(300)]
    types = json.dumps(dict.fromkeys(wide, "dictionary<values=string, indices=int8, ordered=0>"[:40]))
    assert most_files(wide) * len(types) < MANIFEST_BYTES
    assert most_files(wide) > 100


def test_a_manifest_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    release = faults.made(0)
    faults.publish_made(tmp_path, release)
    before = (tmp_path / "manifest.json").read_bytes()
    large = {**release.document, "facts": "x" * MANIFEST_BYTES}
    with pytest.raises(PublishError, match="the manifest would be too large to be read"):
        write_release(tmp_path, release.files, large)
    assert (tmp_path / "manifest.json").read_bytes() == before


def test_the_command_line_names_all_files(small_people: People, tmp_path: Path) -> None:
    small_people(MANY).to_csv(tmp_path / "people.csv", index=False)
    changes = {"source": {"path": "people.csv"}, "publish": {"records_per_file": EACH}}
    policy = {"type": "anon_pipeline.AnonymizedRelease", "attributes": merged(SMALL, changes)}
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(policy))
    found = CliRunner().invoke(cli, ["run", str(tmp_path / "policy.yaml"), "--json"])
    said = json.loads(found.stdout)
    assert found.exit_code == 0, said
    assert len(said["files"]) == 3
    assert said["files"][0] == said["data"]
