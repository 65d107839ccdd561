"""A table of Apache Iceberg as a destination: seen once it was compared, and nothing of others is touched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from anon_pipeline.base.errors import PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.required_memory import named_by
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published
from anon_pipeline.publish.deliver import deliver_iceberg
from anon_pipeline.publish.deliver.deliver_iceberg import BRANCH, at_iceberg
from anon_pipeline.publish.deliver.delivery import deliver_release
from anon_pipeline.publish.file_formats import read_release
from tests.forked import run_forked
from tests.iceberg_catalog import NAME, catalog_at, catalog_in, files_in
from tests.publish.delivered import assert_held, parcel_of, publish_in, refused_unfit

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
CANARY = "Quillfeather-4711"
DELIVER = {"iceberg": {"catalog": NAME, "table": "shop.visits"}}


class Shop:
    """A catalog, and a release that is delivered to the table ``shop.visits``."""

    def __init__(self, folder: Path, catalog: Any, small_policy: Small, people: People) -> None:
        self.folder, self.catalog, self.people = folder, catalog, people
        self.warehouse, self.locations = folder / "warehouse", Locations.of(folder, {})
        self.policy, self.plain = small_policy(publish={"deliver": DELIVER}), small_policy()

    def publish(self, policy: Policy | None = None) -> Published:
        """Make a release and deliver it; the plain policy delivers none."""
        return publish_in(self.folder, policy or self.policy, self.people())

    def deliver(self) -> None:
        deliver_release(self.policy, self.locations)

    def table(self) -> Any:
        return self.catalog.load_table("shop.visits")

    def known(self) -> dict[str, str]:
        """Return what the current snapshot says of its release."""
        found = self.table().current_snapshot().summary.additional_properties
        start = "anon-pipeline."
        return {name.removeprefix(start): one for name, one in found.items() if name.startswith(start)}

    def held(self) -> tuple[list[str], list[str], str]:
        """Return what readers find: columns, sorted records, digest of the release."""
        read = self.table().scan().to_arrow()
        return read.column_names, records(read), self.known()["data-digest"]


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_policy: Small, small_people: People) -> Shop:
    return Shop(tmp_path, catalog_in(tmp_path, monkeypatch), small_policy, small_people)


def records(read: pa.Table) -> list[str]:
    return sorted(map(repr, zip(*(column.to_pylist() for column in read.columns), strict=True)))


def released(written: Published, policy: Policy) -> tuple[list[str], list[str], str]:
    """Return what readers must find."""
    frame = read_release(written.path, policy)
    rows = zip(*(frame[name].tolist() for name in frame), strict=True)
    return list(frame.columns), sorted(map(repr, rows)), written.manifest["data_digest"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_released_records_are_in_the_table(shop: Shop, small_policy: Small, form: str) -> None:
    policy = small_policy(publish={"deliver": DELIVER, "format": form})
    for _ in range(3):
        written = shop.publish(policy)
        assert released(written, policy) == shop.held()
        assert_held(policy, written, shop.locations)
    assert list(shop.table().refs()) == ["main"]
    assert len(shop.table().history()) == 3


def test_a_catalog_in_postgresql_and_files_in_s3(
    shop: Shop, postgres_url: str, s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.catalog = catalog_at(postgres_url, s3, monkeypatch)
    for _ in range(2):
        assert released(shop.publish(), shop.policy) == shop.held()
    assert len(shop.table().history()) == 2


def test_the_snapshot_says_which_release_it_holds(shop: Shop) -> None:
    written = shop.publish()
    expected = {
        "release": "small",
        "release-id": named_by(written.manifest)[0],
        "data-digest": written.manifest["data_digest"],
        "manifest-sha256": hashlib.sha256(written.manifest_path.read_bytes()).hexdigest(),
        "made-at": written.manifest["made_at"],
        "delivery": shop.known()["delivery"],
    }
    assert shop.known() == {name: value for name, value in expected.items() if value is not None}


def test_the_same_release_is_no_second_commit(shop: Shop) -> None:
    shop.publish()
    before = files_in(shop.warehouse)
    shop.deliver()
    assert files_in(shop.warehouse) == before


def test_a_release_whose_files_are_gone_is_delivered_again(shop: Shop) -> None:
    written = shop.publish()
    for path in shop.warehouse.rglob("*.parquet"):
        path.unlink()
    shop.deliver()
    assert shop.held() == released(written, shop.policy)


def test_earlier_releases_stay_readable_and_can_be_gone_back_to(shop: Shop) -> None:
    before = released(shop.publish(), shop.policy)
    first = shop.table().current_snapshot().snapshot_id
    shop.publish()
    assert shop.held() != before
    assert records(shop.table().scan(snapshot_id=first).to_arrow()) == before[1]
    shop.table().manage_snapshots().rollback_to_snapshot(first).commit()
    assert shop.held() == before


def dying_commit(catalog: Any, at: int) -> Callable[..., Any]:
    """Return a commit of the catalog that ends the process in place of the one of this number."""
    commit, seen = type(catalog).commit_table, [0]

    def die(self: Any, *given: Any, **named: Any) -> Any:
        seen[0] += 1
        if seen[0] == at:
            os._exit(9)
        return commit(self, *given, **named)

    return die


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("first", [True, False])
def test_a_process_that_dies_between_files_and_commit_leaves_the_release_before(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, at: int, first: bool
) -> None:
    before = None
    if not first:
        shop.publish()
        before = shop.held()
    written = shop.publish(shop.plain)  # it is not delivered yet
    files = len(list(shop.warehouse.rglob("*.parquet")))
    with monkeypatch.context() as patch:
        patch.setattr(type(shop.catalog), "commit_table", dying_commit(shop.catalog, at))
        status = run_forked(shop.deliver)
    assert os.WEXITSTATUS(status) == 9
    assert len(list(shop.warehouse.rglob("*.parquet"))) == files + 1, "the records were written"
    if first:
        assert shop.table().current_snapshot() is None
    else:
        assert shop.held() == before
        assert (BRANCH in shop.table().refs()) == (at == 2)
    shop.deliver()
    assert shop.held() == released(written, shop.policy)
    assert list(shop.table().refs()) == ["main"]


@pytest.mark.parametrize("first", [True, False])
def test_what_does_not_read_back_the_same_is_not_seen(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    from pyiceberg.table import Transaction

    if not first:
        shop.publish()
    before = None if first else shop.held()
    written = shop.publish(shop.plain)
    with monkeypatch.context() as patch:
        for name in ("append", "overwrite"):
            own = getattr(Transaction, name)
            patch.setattr(Transaction, name, lambda self, df, own=own, **how: own(self, df.slice(1), **how))
        with pytest.raises(PublishError, match="does not read back the same"):
            shop.deliver()
    if first:
        assert shop.table().current_snapshot() is None
    else:
        assert shop.held() == before
    shop.deliver()
    assert shop.held() == released(written, shop.policy)


@pytest.mark.parametrize("step", ["_stage", "_make_current"])
@pytest.mark.parametrize("first", [True, False])
def test_of_two_deliveries_at_once_one_fails(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, step: str, first: bool
) -> None:
    shop.publish(shop.plain if first else shop.policy)
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    ours = parcel_of(shop.folder / "out", made_at=later)
    theirs = parcel_of(shop.folder / "out", also="theirs")
    place = at_iceberg(shop.policy, shop.locations, None)
    own = getattr(deliver_iceberg, step)

    def interrupted(*given: Any) -> Any:
        monkeypatch.setattr(deliver_iceberg, step, own)
        place.deliver(theirs)
        return own(*given)

    monkeypatch.setattr(deliver_iceberg, step, interrupted)
    with pytest.raises(PublishError, match="another delivery or writer has changed the table") as caught:
        place.deliver(ours)
    assert caught.value.__context__ is None
    assert shop.known()["manifest-sha256"] == hashlib.sha256(theirs.manifest).hexdigest()
    place.deliver(ours)
    assert shop.known()["made-at"] == later
    assert list(shop.table().refs()) == ["main"]


def test_a_table_that_was_not_delivered_is_refused_before_noise_is_drawn(shop: Shop) -> None:
    mine = pa.table({"mine": [1]})
    shop.catalog.create_table("shop.visits", mine.schema).append(mine)
    with pytest.raises(PublishError, match="must be a table of the release small alone, or empty"):
        shop.publish()
    assert not (shop.folder / "out").exists()
    assert shop.table().scan().to_arrow() == mine


def test_records_that_somebody_added_are_not_replaced(shop: Shop) -> None:
    shop.publish()
    shop.table().append(shop.table().scan().to_arrow().slice(0, 1))
    with pytest.raises(PublishError, match="got records that were not delivered"):
        shop.deliver()


def test_an_empty_table_is_filled(shop: Shop) -> None:
    written = shop.publish()
    schema = shop.table().schema()
    for emptied in (False, True):
        shop.catalog.drop_table("shop.visits")
        table = shop.catalog.create_table("shop.visits", schema)
        if emptied:
            table.append(schema.as_arrow().empty_table())
        shop.deliver()
        assert shop.held() == released(written, shop.policy)


def test_other_columns_are_refused_before_noise_is_drawn(shop: Shop) -> None:
    shop.catalog.create_table("shop.visits", pa.schema([("mine", pa.int64())]))
    with pytest.raises(PublishError, match="must have the columns of the release, with their types"):
        shop.publish()
    assert not (shop.folder / "out").exists()


def test_other_types_are_refused_and_change_nothing(shop: Shop) -> None:
    shop.publish()
    texts = pa.schema([(name, pa.string()) for name in shop.table().schema().column_names])
    shop.catalog.drop_table("shop.visits")
    shop.catalog.create_table("shop.visits", texts)
    before = files_in(shop.warehouse)
    with pytest.raises(PublishError, match="must have the columns of the release, with their types"):
        shop.deliver()
    assert files_in(shop.warehouse) == before


def test_another_release_and_an_earlier_one_replace_nothing(shop: Shop) -> None:
    shop.publish()
    before = shop.held()
    with pytest.raises(PublishError, match="of the release other alone"):
        at_iceberg(shop.policy.model_copy(update={"name": "other"}), shop.locations, None).ready()
    of_a_day = at_iceberg(shop.policy, shop.locations, "2026-01-01")
    of_a_day.ready()
    assert of_a_day.path == ("shop", "visits_2026_01_01")
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    at_iceberg(shop.policy, shop.locations, None).deliver(parcel_of(shop.folder / "out", made_at=later))
    with pytest.raises(PublishError, match="must not hold a later release"):
        shop.deliver()
    assert shop.held() == before


def test_a_table_whose_files_were_put_together_is_still_the_release(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyiceberg.table.snapshots import Operation, Summary
    from pyiceberg.table.update import snapshot

    shop.publish()
    with monkeypatch.context() as patch:  # the library does not compact, engines do
        patch.setattr(snapshot, "update_snapshot_summaries", lambda **how: Summary(Operation.REPLACE))
        change = shop.table().transaction()
        with change.update_snapshot().fast_append():
            pass
        change.commit_transaction()
    replaced = shop.table().current_snapshot()
    assert replaced.summary.operation is Operation.REPLACE
    shop.deliver()
    assert shop.table().current_snapshot() == replaced
    written = shop.publish()
    assert shop.held() == released(written, shop.policy)


PLACE = DELIVER["iceberg"]


@pytest.mark.parametrize(
    ("place", "uri", "said"),
    [
        ({**PLACE, "catalog": "none"}, None, "PYICEBERG_CATALOG__NONE__URI is not set"),
        ({**PLACE, "table": "none.visits"}, None, "its namespace must be in the catalog"),
        (PLACE, f"sqlite:////no/{CANARY}.db", "the catalog must answer"),
        (PLACE, f"postgresql://me:{CANARY}@127.0.0.1:1/shop", "the catalog must answer"),
        (PLACE, CANARY, "the catalog must be reachable"),
    ],
)
def test_a_catalog_that_does_not_answer_is_refused_before_noise_is_drawn(
    shop: Shop,
    small_policy: Small,
    monkeypatch: pytest.MonkeyPatch,
    place: dict[str, str],
    uri: str | None,
    said: str,
) -> None:
    if uri is not None:
        monkeypatch.setenv("PYICEBERG_CATALOG__WARE_HOUSE__URI", uri)
    with pytest.raises(PublishError, match=said) as error:
        shop.publish(small_policy(publish={"deliver": {"iceberg": place}}))
    assert CANARY not in str(error.value)
    assert not (shop.folder / "out").exists()


def test_what_fails_on_the_way_is_named_without_its_text(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.publish(shop.plain)

    def full(*_: Any) -> None:
        raise OSError(f"{CANARY}: no space left")

    monkeypatch.setattr(deliver_iceberg, "_stage", full)
    with pytest.raises(PublishError, match="the release could not be written: OSError") as caught:
        shop.deliver()
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_columns_that_iceberg_does_not_hold_are_refused_before_noise_is_drawn(
    shop: Shop, small_policy: Small
) -> None:
    policy = small_policy(publish={"deliver": DELIVER}, columns={"extra": {"role": "insensitive"}})
    people = shop.people().assign(extra=pd.Series(pd.to_timedelta(["1s"] * 240)))
    told = refused_unfit(shop.folder, policy, people)
    assert "publish.deliver.iceberg: column extra has the type duration" in told
    assert not shop.catalog.table_exists("shop.visits")


def test_other_types_are_refused_before_noise_is_drawn(shop: Shop) -> None:
    shop.publish()
    texts = pa.schema([(name, pa.string()) for name in shop.table().schema().column_names])
    shop.catalog.drop_table("shop.visits")
    shop.catalog.create_table("shop.visits", texts)
    before = ledger_at(shop.locations.ledger).events()
    with pytest.raises(PublishError, match="must have the columns of the release, with their types"):
        shop.publish()
    assert ledger_at(shop.locations.ledger).events() == before
