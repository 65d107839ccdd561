"""A Delta Lake table as a destination: one commit, read back before, and no table of others is touched."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.fs
import pytest

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver import deliver_delta
from anon_pipeline.publish.deliver.deliver_delta import DeltaRelease, at_delta
from anon_pipeline.publish.deliver.deliver_urls import UNWRITABLE
from anon_pipeline.publish.deliver.delivery import deliver_release
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.sources.delta_places import DeltaPlace
from tests.publish.delivered import assert_held, parcel_of, publish_in, refused_unfit

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
LOCAL = {"delta": {"path": "lake/visits"}}
CANARY = "Quillfeather-4711"


@pytest.fixture(autouse=True)
def _needs_library() -> None:
    pytest.importorskip("deltalake", reason="needs the extra delta")


@pytest.fixture(params=["path", "url", "url_env"])
def deliver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    if request.param == "path":
        return LOCAL
    url = f"{request.getfixturevalue('s3_apart')}/visits"
    monkeypatch.setenv("PLACE", url)
    return {"delta": {request.param: url if request.param == "url" else "PLACE"}}


def at(folder: Path, policy: Policy, partition: str | None = None) -> DeltaRelease:
    return at_delta(policy, Locations.of(folder, {}), partition)


def table(folder: Path, policy: Policy, version: int | None = None) -> Any:
    return at(folder, policy).place.open(version)


def rows(frame: pd.DataFrame) -> list[str]:
    return sorted(map(repr, zip(*(frame[name].tolist() for name in frame), strict=True)))


def held(opened: Any) -> tuple[list[str], list[str]]:
    """Return what readers find: columns and sorted records."""
    plain = pa.table(opened.scan()).cast(pa.schema(opened.schema().to_arrow()))
    frame = plain.to_pandas(integer_object_nulls=True)
    return list(frame.columns), rows(frame)


def released(path: Path, policy: Policy) -> tuple[list[str], list[str]]:
    frame = read_release(path, policy)
    return list(frame.columns), rows(frame)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_released_records_are_in_the_table(
    small_policy: Small, small_people: People, tmp_path: Path, deliver: dict[str, Any], form: str
) -> None:
    policy = small_policy(publish={"deliver": deliver, "format": form})
    for version in range(2):
        written = publish_in(tmp_path, policy, small_people())
        opened = table(tmp_path, policy)
        assert held(opened) == released(written.path, policy)
        assert_held(policy, written, Locations.of(tmp_path, {}))
        assert opened.version() == version
        said = json.loads(opened.history(1)[0]["userMetadata"])
        assert {name: said[name] for name in ("release", "data_digest", "made_at")} == {
            name: written.manifest[name] for name in ("release", "data_digest", "made_at")
        }
        assert len(said["release_id"]) > 8
    deliver_release(policy, Locations.of(tmp_path, {}))
    assert table(tmp_path, policy).version() == 1, "a release that is there is not committed again"


def test_the_history_keeps_the_release_before(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, policy, small_people())
    before = held(table(tmp_path, policy))
    publish_in(tmp_path, policy, small_people())
    assert held(table(tmp_path, policy, 0)) == before != held(table(tmp_path, policy))


def test_other_columns_replace_those_before(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, policy, small_people())
    columns = policy.model_dump(mode="json", exclude_unset=True)["columns"]
    fewer = small_policy(
        publish={"deliver": LOCAL},
        columns={name: {"role": "identifier"} if name == "note" else one for name, one in columns.items()},
    )
    assert len(fewer.released) < len(policy.released)
    written = publish_in(tmp_path, fewer, small_people())
    assert held(table(tmp_path, fewer)) == released(written.path, fewer)


KILLED = """
import os, sys
from pathlib import Path
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver import deliver_delta
from anon_pipeline.publish.deliver.delivery import deliver_release
import json
deliver_delta.DeltaRelease._commit = lambda *_: os._exit(9)
deliver_release(policy_from(json.loads(sys.argv[2])), Locations.of(Path(sys.argv[1]), {}))
"""


@pytest.mark.parametrize("there", [False, True])
def test_a_delivery_that_is_killed_before_its_commit_shows_nothing(
    small_policy: Small, small_people: People, tmp_path: Path, there: bool
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    if there:
        publish_in(tmp_path, policy, small_people())
    before = held(table(tmp_path, policy)) if there else None
    written = publish_in(tmp_path, small_policy(), small_people())
    words = [sys.executable, "-c", KILLED, str(tmp_path), policy.model_dump_json(exclude_unset=True)]
    assert subprocess.run(words, check=False).returncode == 9  # the library must not be forked
    assert len(list((tmp_path / "lake/visits").glob("*.parquet"))) == 1 + there
    opened = table(tmp_path, policy)
    assert (None if opened is None else held(opened)) == before
    deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(table(tmp_path, policy)) == released(written.path, policy)


def test_a_file_that_does_not_read_back_is_never_committed(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, policy, small_people())
    before, files = held(table(tmp_path, policy)), set((tmp_path / "lake/visits").glob("*.parquet"))
    publish_in(tmp_path, small_policy(), small_people())
    write = deliver_delta.pq.write_table
    for wrong in (
        lambda data, *args, **how: write(data.slice(1), *args, **how),
        lambda data, name, filesystem: (tmp_path / "lake/visits" / name).write_bytes(b"x" * 100),
    ):
        monkeypatch.setattr(deliver_delta.pq, "write_table", wrong)
        with pytest.raises(PublishError, match="what was written does not read back the same"):
            deliver_release(policy, Locations.of(tmp_path, {}))
        assert held(table(tmp_path, policy)) == before
        assert set((tmp_path / "lake/visits").glob("*.parquet")) == files


def test_of_two_deliveries_at_once_one_fails(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, small_policy(), small_people())
    write = deliver_delta.pq.write_table

    def late(*args: Any, **how: Any) -> None:
        """Let another delivery commit between the reading of the log and the commit."""
        monkeypatch.setattr(deliver_delta.pq, "write_table", write)
        at(tmp_path, policy).deliver(parcel_of(tmp_path / "out"))
        write(*args, **how)

    for version in range(2):
        monkeypatch.setattr(deliver_delta.pq, "write_table", late)
        with pytest.raises(PublishError, match="perhaps because another writer was first"):
            deliver_release(policy, Locations.of(tmp_path, {}))
        assert table(tmp_path, policy).version() == version
        publish_in(tmp_path, small_policy(), small_people())
    deliver_release(policy, Locations.of(tmp_path, {}))
    assert table(tmp_path, policy).version() == 2


def test_a_table_that_was_not_delivered_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    import deltalake

    deltalake.write_deltalake(str(tmp_path / "lake/visits"), pa.table({"mine": [1]}))
    with pytest.raises(PublishError, match="must be a table of the release small alone"):
        publish_in(tmp_path, small_policy(publish={"deliver": LOCAL}), small_people())
    assert not (tmp_path / "out").exists()
    assert deltalake.DeltaTable(str(tmp_path / "lake/visits")).version() == 0


def test_a_table_with_features_that_somebody_added_is_refused(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    import deltalake

    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, policy, small_people())
    feature = deltalake.TableFeatures.DeletionVectors
    table(tmp_path, policy).alter.add_feature(feature, allow_protocol_versions_increase=True)
    with pytest.raises(PublishError, match="without the features that were added to it"):
        at(tmp_path, policy).ready()


def test_a_table_that_was_changed_is_replaced_and_still_known_by_its_checkpoint(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    import deltalake

    policy = small_policy(publish={"deliver": LOCAL})
    written = publish_in(tmp_path, policy, small_people())
    opened = table(tmp_path, policy)
    more = pa.table(opened.scan()).slice(0, 1)
    deltalake.write_deltalake(opened, more, mode="append")
    opened = table(tmp_path, policy)
    opened.create_checkpoint()
    (tmp_path / "lake/visits/_delta_log" / f"{0:020d}.json").unlink()  # as cleaning the log does
    assert "userMetadata" not in str(table(tmp_path, policy).history())
    deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(table(tmp_path, policy)) == released(written.path, policy)
    assert table(tmp_path, policy).version() == 2


def test_another_release_and_an_earlier_one_replace_nothing(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, policy, small_people())
    before = held(table(tmp_path, policy))
    with pytest.raises(PublishError, match="of the release other alone"):
        at(tmp_path, policy.model_copy(update={"name": "other"})).ready()
    at(tmp_path, policy, "2026-01-01").ready()
    assert at(tmp_path, policy, "2026-01-01").place.uri.endswith("lake/visits/2026-01-01")
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    at(tmp_path, policy).deliver(parcel_of(tmp_path / "out", made_at=later))
    with pytest.raises(PublishError, match="must not hold a later release"):
        deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(table(tmp_path, policy)) == before


def test_times_without_a_zone_come_to_a_table_that_had_none(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    frames = iter(
        (pd.DataFrame({"a": ["x"]}), pd.DataFrame({"at": pd.to_datetime(["2024-01-31 04:00", None])}))
    )
    monkeypatch.setattr(deliver_delta, "judged_frame", lambda parcel, policy: next(frames))
    (tmp_path / "out").mkdir()
    document = {"release": "small", "data_digest": "1", "made_at": "2026-01-01T00:00:00+00:00"}
    for made, version in (("2026-01-01T00:00:00+00:00", 0), ("2026-01-02T00:00:00+00:00", 2)):
        parcel = deliver_delta.Parcel(document | {"made_at": made}, b"{}", {})
        at(tmp_path, policy).deliver(parcel)
        assert table(tmp_path, policy).version() == version
    assert held(table(tmp_path, policy))[1] == ["(NaT,)", "(Timestamp('2024-01-31 04:00:00'),)"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("out", "the folder of the release"),
        ("out/inner", "the folder of the release"),
        ("vault/a", "the vault"),
        (".", "the folder of the release"),
        ("people.csv", "the source"),
    ],
)
def test_a_place_of_something_else_is_refused(
    small_policy: Small, tmp_path: Path, path: str, said: str
) -> None:
    policy = small_policy(publish={"deliver": {"delta": {"path": path}}})
    with pytest.raises(InputError, match=f"must be a place of the table alone, got one that .* {said}"):
        at(tmp_path, policy)


def test_the_source_is_no_destination(small_policy: Small, tmp_path: Path) -> None:
    for place in ({"path": "lake/visits"}, {"url": "s3://bucket/lake"}):
        policy = small_policy(source={"path": None, "delta": place}, publish={"deliver": {"delta": place}})
        with pytest.raises(InputError, match="got one that holds or is in the source"):
            at(tmp_path, policy)


def test_the_path_is_confined(small_policy: Small, tmp_path: Path) -> None:
    policy = small_policy(publish={"deliver": {"delta": {"path": "../visits"}}})
    with pytest.raises(InputError, match=r"publish\.deliver\.delta\.path: must stay within the folder of"):
        Locations.of(tmp_path, {}).confine(policy)


def test_a_store_that_does_not_answer_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, CANARY)
    deliver = {"delta": {"url": f"s3://{CANARY}/visits"}}
    with pytest.raises(
        PublishError, match=r"^publish\.deliver\.delta\.url: must be a Delta Lake table"
    ) as error:
        publish_in(tmp_path, small_policy(publish={"deliver": deliver}), small_people())
    assert CANARY not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_what_the_library_says_is_withheld(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(publish={"deliver": LOCAL})
    publish_in(tmp_path, small_policy(), small_people())

    def broken(self: DeltaPlace) -> None:
        raise OSError(CANARY)

    monkeypatch.setattr(DeltaPlace, "files", broken)
    with pytest.raises(PublishError) as error:
        deliver_release(policy, Locations.of(tmp_path, {}))
    said = "publish.deliver.delta.path: the data file must be written and read back: OSError"
    assert str(error.value) == said


def test_columns_that_delta_lake_does_not_hold_are_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    policy = small_policy(publish={"deliver": LOCAL}, columns={"extra": {"role": "insensitive"}})
    people = small_people().assign(extra=pd.Series([2**63 + 4711] * 240, dtype="uint64"))
    told = refused_unfit(tmp_path, policy, people)
    assert "publish.deliver.delta.path: column extra has whole numbers above" in told
    assert not (tmp_path / "lake").exists()


def test_names_that_differ_in_case_alone_are_refused_before_noise_is_drawn(
    small_policy: Small, tmp_path: Path
) -> None:
    columns = [(name, pa.chunked_array([[1]])) for name in ("City", "city")]
    with pytest.raises(PublishError, match="columns must differ in more than case"):
        at(tmp_path, small_policy(publish={"deliver": LOCAL})).refuse_unfit(columns)


def test_a_folder_that_cannot_be_made_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "lake").write_text("a file")
    with pytest.raises(PublishError, match="the folder must be writable, or be able to be made"):
        publish_in(tmp_path, small_policy(publish={"deliver": LOCAL}), small_people())
    assert not (tmp_path / "out").exists()


def test_a_bucket_that_is_not_there_or_may_not_be_written_is_refused_before_noise_is_drawn(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    s3_apart: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = small_policy(publish={"deliver": {"delta": {"url": f"{s3_apart}-other/lake"}}})
    with pytest.raises(PublishError, match=r"publish\.deliver\.delta\.url: "):
        publish_in(tmp_path, policy, small_people())
    there = at(tmp_path, small_policy(publish={"deliver": {"delta": {"url": f"{s3_apart}/lake"}}}))
    there.ready()
    everything = pyarrow.fs.FileSelector("", recursive=True, allow_not_found=True)
    assert there.place.open() is None
    assert not there.place.files().get_file_info(everything)

    class Denied:
        """A store that may be read alone."""

        def open_output_stream(self, name: str, **how: object) -> None:
            raise PermissionError(CANARY)

    monkeypatch.setattr(DeltaPlace, "files", lambda self: Denied())
    with pytest.raises(PublishError, match=UNWRITABLE) as refused:
        publish_in(tmp_path, there.policy, small_people())
    assert CANARY not in str(refused.value)
    assert not (tmp_path / "out").exists()
