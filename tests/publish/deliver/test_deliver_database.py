"""A table of a database as a destination: one transaction, read back, and nothing of others is touched."""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.deliver.deliver_database import at_database_env
from anon_pipeline.publish.deliver.delivery import deliver_release
from anon_pipeline.publish.file_formats import read_release
from anon_pipeline.publish.whole_chain import make_release
from tests.publish.delivered import assert_held, parcel_of, publish_in, refused_unfit

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
DELIVER = {"database_env": "SHOP_URL", "table": "visits"}
UNFIT = "the login must be able to create and fill the table, and its names must be allowed there"


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sa.Engine:
    """Reach the database that ``SHOP_URL`` names."""
    if request.param == "sqlite":
        (tmp_path / "shop.db").touch()
        url = f"sqlite:///{tmp_path}/shop.db"
    else:
        url = request.getfixturevalue("postgres_url")
    monkeypatch.setenv("SHOP_URL", url)
    return sa.create_engine(sa.make_url(url.replace("ql://", "ql+psycopg://")), poolclass=sa.NullPool)


def held(engine: sa.Engine) -> tuple[list[str], list[Any], str]:
    """Return what readers find: columns, sorted records, digest of the release."""
    with engine.connect() as connection:
        result = connection.exec_driver_sql("SELECT * FROM visits")
        known = connection.exec_driver_sql("SELECT data_digest FROM anon_pipeline_releases").scalar_one()
        return list(result.keys()), sorted(map(repr, map(tuple, result))), str(known)


def released(path: Path, policy: Policy) -> tuple[list[str], list[Any]]:
    frame = read_release(path, policy)
    rows = zip(*(frame[name].tolist() for name in frame), strict=True)
    return list(frame.columns), sorted(map(repr, rows))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_released_records_are_in_the_table(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine, form: str
) -> None:
    policy = small_policy(publish={"deliver": DELIVER, "format": form})
    for _ in range(2):
        written = publish_in(tmp_path, policy, small_people())
        assert held(engine) == (*released(written.path, policy), written.manifest["data_digest"])
        assert_held(policy, written, Locations.of(tmp_path, {}))
    with engine.connect() as connection:
        known = connection.exec_driver_sql("SELECT manifest FROM anon_pipeline_releases").scalar_one()
    assert json.loads(known) == written.manifest


def test_grants_and_views_stay(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_URL", postgres_url)
    engine = sa.create_engine(postgres_url.replace("ql://", "ql+psycopg://"), isolation_level="AUTOCOMMIT")
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    with engine.connect() as connection:
        connection.exec_driver_sql("GRANT SELECT ON visits TO PUBLIC")
        connection.exec_driver_sql("CREATE VIEW shown AS SELECT * FROM visits")
        publish_in(tmp_path, policy, small_people())
        ask = (
            "SELECT count(*) FROM information_schema.table_privileges "
            "WHERE table_name = 'visits' AND grantee = 'PUBLIC'"
        )
        assert connection.exec_driver_sql(ask).scalar_one() == 1
        counts = [
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one()
            for name in ("shown", "visits")
        ]
        assert counts[0] == counts[1] > 0
    engine.dispose()


def test_other_columns_make_the_table_anew(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    columns = policy.model_dump(mode="json", exclude_unset=True)["columns"]
    fewer = small_policy(
        publish={"deliver": DELIVER},
        columns={name: {"role": "identifier"} if name == "note" else one for name, one in columns.items()},
    )
    assert len(fewer.released) < len(policy.released)
    written = publish_in(tmp_path, fewer, small_people())
    assert held(engine) == (*released(written.path, fewer), written.manifest["data_digest"])


def test_a_connection_that_dies_at_any_statement_leaves_the_release_before(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    engine: sa.Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    before = held(engine)
    plain = small_policy()
    publish_in(tmp_path, plain, small_people())
    seen, dies_at = [0], [0]

    def die(connection: sa.Connection, *_: object) -> None:
        seen[0] += 1
        if seen[0] == dies_at[0]:
            connection.connection.driver_connection.close()  # type: ignore[union-attr]

    dialect = type(engine.dialect)
    commits = []

    def dying_commit(self: Any, connection: Any) -> None:
        commits.append(1)
        connection.close()
        raise sqlite3.OperationalError("CANARY at host")

    for at in range(1, 60):
        destination = at_database_env(policy, Locations.of(tmp_path, {}), None)
        sa.event.listen(destination.engine, "before_cursor_execute", die)
        seen[0], dies_at[0] = 0, at
        try:
            destination.deliver(parcel_of(tmp_path / "out"))
        except PublishError as error:
            assert "the release could not be written" in str(error)
            assert str(tmp_path) not in str(error)
            assert held(engine) == before, at
        else:
            break
    assert 5 < at < 59, "it died at each statement, and at none in the end"
    after = held(engine)
    assert after != before
    publish_in(tmp_path, plain, small_people())
    with monkeypatch.context() as patch:
        patch.setattr(dialect, "do_commit", dying_commit)  # the ledger's, too, which is not asked here
        with pytest.raises(PublishError) as lost:
            at_database_env(policy, Locations.of(tmp_path, {}), None).deliver(parcel_of(tmp_path / "out"))
    assert commits and "CANARY" not in str(lost.value)
    assert held(engine) == after
    deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(engine)[2] != after[2]


def test_a_table_that_was_not_delivered_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE visits (mine int)")
        connection.exec_driver_sql("INSERT INTO visits VALUES (1)")
    with pytest.raises(PublishError, match="must be a table of the release small alone"):
        publish_in(tmp_path, small_policy(publish={"deliver": DELIVER}), small_people())
    assert not (tmp_path / "out").exists()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT mine FROM visits").scalar_one() == 1


def test_a_view_and_a_table_that_was_changed_are_refused(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    policy = small_policy(publish={"deliver": DELIVER})
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE VIEW visits AS SELECT 1 AS one")
    with pytest.raises(PublishError, match="must be a table of the release"):
        publish_in(tmp_path, policy, small_people())
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP VIEW visits")
    publish_in(tmp_path, policy, small_people())
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE visits ADD COLUMN mine int")
    with pytest.raises(PublishError, match="not delivered as it is"):
        deliver_release(policy, Locations.of(tmp_path, {}))


def test_another_release_and_an_earlier_one_replace_nothing(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    before = held(engine)
    other = policy.model_copy(update={"name": "other"})
    for one, partition in ((other, None), (other, "2026-01-01")):
        destination = at_database_env(one, Locations.of(tmp_path, {}), partition)
        if partition is None:
            with pytest.raises(PublishError, match="of the release other alone"):
                destination.ready()
        else:
            destination.ready()
            assert destination.name == "visits_2026_01_01"
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    destination = at_database_env(policy, Locations.of(tmp_path, {}), None)
    destination.deliver(parcel_of(tmp_path / "out", made_at=later))
    with pytest.raises(PublishError, match="must not hold a later release"):
        deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(engine) == before


def test_a_trigger_that_changes_records_is_noticed(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.db").touch()
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path}/shop.db")
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    engine = sa.create_engine(f"sqlite:///{tmp_path}/shop.db", poolclass=sa.NullPool)
    before = held(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER less AFTER INSERT ON visits BEGIN DELETE FROM visits WHERE rowid = 1; END"
        )
    with pytest.raises(PublishError, match="does not read back the same"):
        deliver_release(policy, Locations.of(tmp_path, {}))
    assert held(engine) == before


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (None, "environment variable SHOP_URL is not set: it must hold a URL"),
        ("sqlite:////nowhere/CANARY.db", "must name a file that is there"),
        ("postgresql://me:CANARY@127.0.0.1:1/shop", "must be reachable"),
        ("postgresql+pg8000://me:CANARY@127.0.0.1/shop", "driver of the database must be installed"),
        ("mysql://me:CANARY@127.0.0.1/shop", "must be a database that makes tables within a transaction"),
        ("CANARY", "must hold a URL as SQLAlchemy writes it"),
    ],
)
def test_a_database_that_does_not_answer_is_refused_before_noise_is_drawn(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    url: str | None,
    said: str,
) -> None:
    monkeypatch.delenv("SHOP_URL", raising=False)
    if url is not None:
        monkeypatch.setenv("SHOP_URL", url)
    with pytest.raises(PublishError, match=said) as error:
        publish_in(tmp_path, small_policy(publish={"deliver": DELIVER}), small_people())
    assert "CANARY" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_who_waits_for_another_delivery_finds_its_release(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row of the record that is exchanged, and not changed, would be gone for whoever waited for it."""
    monkeypatch.setenv("SHOP_URL", postgres_url)
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    first, second = (at_database_env(policy, Locations.of(tmp_path, {}), None) for _ in range(2))
    inside, waits = threading.Event(), threading.Event()

    def pause(_: object, __: object, statement: str, *rest: object) -> None:
        if statement.startswith("INSERT INTO visits"):
            inside.set()
            waits.wait(30)

    def about_to_wait(_: object, __: object, statement: str, *rest: object) -> None:
        if "FOR UPDATE" in statement:
            threading.Timer(0.5, waits.set).start()

    sa.event.listen(first.engine, "before_cursor_execute", pause)
    sa.event.listen(second.engine, "before_cursor_execute", about_to_wait)
    with ThreadPoolExecutor(1) as pool:
        delivering = pool.submit(first.deliver, parcel_of(tmp_path / "out"))
        assert inside.wait(30)
        second.ready()
        delivering.result()


def test_a_name_that_sqlite_reserves_is_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.db").touch()
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path}/shop.db")
    policy = small_policy(publish={"deliver": DELIVER | {"table": "sqlite_visits"}})
    with pytest.raises(PublishError, match=f"{UNFIT}: OperationalError"):
        publish_in(tmp_path, policy, small_people())
    assert not list(tmp_path.rglob("manifest.json"))
    assert not ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite").events()


def test_a_login_that_may_not_write_is_refused_before_noise_is_drawn(
    small_policy: Small, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    role = f"reader_{uuid.uuid4().hex}"
    place = postgres_url.replace("ql://", "ql+psycopg://")
    owner = sa.create_engine(place, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    policy = small_policy(publish={"deliver": DELIVER | {"table": ["shop", "visits"]}})
    monkeypatch.setenv("SHOP_URL", sa.make_url(postgres_url).set(username=role).render_as_string(False))
    destination = at_database_env(policy, Locations.of(tmp_path, {}), None)
    with owner.connect() as connection:
        run = connection.exec_driver_sql
        run(f"CREATE SCHEMA shop; CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA shop TO {role}")
        try:
            with pytest.raises(PublishError, match=UNFIT):
                destination.ready()
            run(f"GRANT CREATE ON SCHEMA shop TO {role}")
            destination.ready()
        finally:
            run(f"DROP SCHEMA shop CASCADE; DROP OWNED BY {role}; DROP ROLE {role}")


def test_the_try_leaves_nothing(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    policy = small_policy(publish={"deliver": DELIVER})
    destination = at_database_env(policy, Locations.of(tmp_path, {}), None)
    destination.ready()
    assert not sa.inspect(engine).get_table_names()
    assert not destination.holds({"made_at": "2020-01-01T00:00:00+00:00"})
    publish_in(tmp_path, policy, small_people())
    before = held(engine)
    destination.ready()
    assert held(engine) == before


def test_the_ledger_is_no_destination(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locations = Locations.of(tmp_path, {})
    monkeypatch.setenv("SHOP_URL", locations.ledger)
    with pytest.raises(InputError, match="another database than the ledger's"):
        at_database_env(small_policy(publish={"deliver": DELIVER}), locations, None)


def test_names_that_a_database_would_cut_off_are_refused(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", "sqlite:///shop.db")
    policy = small_policy(publish={"deliver": {**DELIVER, "table": ["main", "v" * 60]}})
    assert at_database_env(policy, Locations.of(tmp_path, {}), None).schema == "main"
    with pytest.raises(InputError, match="at most 63 bytes"):
        at_database_env(policy, Locations.of(tmp_path, {}), "2026-01-01")


def test_columns_whose_names_a_database_would_cut_off_are_refused(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL would cut the name, and take the table for one with other columns the next time."""
    monkeypatch.setenv("SHOP_URL", "sqlite:///shop.db")
    columns = {"ä" * 40: {"role": "insensitive"}}
    policy = small_policy(publish={"deliver": DELIVER}, columns=columns)
    with pytest.raises(InputError, match=r"columns must have names of at most 63 bytes, 1 are longer"):
        at_database_env(policy, Locations.of(tmp_path, {}), None)


MORE = {"columns": {"extra": {"role": "insensitive"}}}


def test_columns_that_the_database_does_not_hold_are_refused_before_noise_is_drawn(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    people = small_people()
    if engine.dialect.name == "sqlite":
        said, extra = "times with a zone", pd.Series(pd.to_datetime(["2026-01-02"] * len(people), utc=True))
    else:
        said, extra = "texts with the character NUL", pd.Series(["a\0b"] * len(people))
    policy = small_policy(publish={"deliver": DELIVER}, **MORE)
    told = refused_unfit(tmp_path, policy, people.assign(extra=extra))
    assert f"publish.deliver.database_env: column extra has {said}" in told
    assert "publish.deliver.database_env: must be able to hold all columns" in told
    assert not sa.inspect(engine).get_table_names()


def test_a_release_that_is_there_and_does_not_fit_is_refused_by_the_name_of_the_column(
    small_policy: Small, small_people: People, tmp_path: Path, engine: sa.Engine
) -> None:
    policy = small_policy(publish={"format": "parquet"}, **MORE)
    spans = pd.Series(pd.to_timedelta(["1s"] * 240))
    people = small_people().assign(extra=spans)
    people.to_parquet(tmp_path / "people.parquet", index=False)
    source = policy.source.model_copy(update={"path": "people.parquet", "format": "parquet"})
    policy = policy.model_copy(update={"source": source})
    make_release(policy, Locations.of(tmp_path, {}))
    delivered = small_policy(publish={"deliver": DELIVER}, **MORE)
    with pytest.raises(PublishError, match="column extra has the type duration"):
        deliver_release(delivered, Locations.of(tmp_path, {}))
    assert not sa.inspect(engine).get_table_names()


def test_a_table_that_cannot_be_made_anew_is_noticed_before_noise_is_drawn(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_URL", postgres_url)
    policy = small_policy(publish={"deliver": DELIVER})
    publish_in(tmp_path, policy, small_people())
    engine = sa.create_engine(postgres_url.replace("ql://", "ql+psycopg://"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE VIEW shown AS SELECT * FROM visits")
    ledger = ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")
    before = (held(engine), ledger.events())
    texts = small_people().assign(income=lambda people: people["income"] + 0.5)
    with pytest.raises(
        PublishError, match="possible to drop the table and create it again, since its columns"
    ):
        publish_in(tmp_path, policy, texts)
    assert (held(engine), ledger.events()) == before
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP VIEW shown")
    publish_in(tmp_path, policy, texts)
    assert held(engine) != before[0]


def test_a_database_with_another_encoding_is_refused(
    small_policy: Small, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name = sa.make_url(postgres_url.replace("ql://", "ql+psycopg://")), f"old_{uuid.uuid4().hex}"
    owner = sa.create_engine(place, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with owner.connect() as connection:
        how = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
        connection.exec_driver_sql(f"CREATE DATABASE {name} {how}")
        url = sa.make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
        monkeypatch.setenv("SHOP_URL", url)
        try:
            policy = small_policy(publish={"deliver": DELIVER})
            with pytest.raises(PublishError, match="must be a database with the encoding UTF8"):
                at_database_env(policy, Locations.of(tmp_path, {}), None).ready()
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("none.db", "must name a file that is there"),
        ("no/such.db", "must name a file that is there"),
        ("", "must name a file that is there"),
        ("people.csv", "accept the login of the URL: it is no database of SQLite"),
    ],
)
def test_a_path_that_leads_to_no_database_is_said_so(
    small_policy: Small,
    small_people: People,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    said: str,
) -> None:
    publish_in(tmp_path, small_policy(), small_people())
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path / place}" if place else "sqlite://")
    policy = small_policy(publish={"deliver": DELIVER})
    for deliver in (deliver_release, make_release):
        with pytest.raises(PublishError, match=said) as refused:
            deliver(policy, Locations.of(tmp_path, {}))
        assert str(tmp_path) not in str(refused.value)
    assert not (tmp_path / "none.db").exists()


def test_a_database_that_another_program_holds_is_said_so(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{tmp_path}/shop.db?timeout=0")
    with sqlite3.connect(tmp_path / "shop.db", isolation_level=None) as holder:
        holder.execute("CREATE TABLE mine (a int)")
        holder.execute("BEGIN IMMEDIATE")
        destination = at_database_env(
            small_policy(publish={"deliver": DELIVER}), Locations.of(tmp_path, {}), None
        )
        with pytest.raises(PublishError, match="another program holds it"):
            destination.ready()
        holder.execute("ROLLBACK")
        destination.ready()


@pytest.mark.parametrize("url", ["mysql://me@host/shop", "duckdb:///shop.db", "oracle://host"])
def test_other_databases_are_refused_before_a_driver_is_asked_for(
    small_policy: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("SHOP_URL", url)
    with pytest.raises(InputError, match=r"within a transaction \(postgresql or sqlite\)"):
        at_database_env(small_policy(publish={"deliver": DELIVER}), Locations.of(tmp_path, {}), None)


def test_a_table_of_somebody_else_where_releases_are_recorded_is_refused(
    small_policy: Small, tmp_path: Path, engine: sa.Engine
) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE anon_pipeline_releases (table_name text, mine int)")
    policy = small_policy(publish={"deliver": DELIVER})
    with pytest.raises(PublishError, match="anon_pipeline_releases beside it must be that of this tool"):
        at_database_env(policy, Locations.of(tmp_path, {}), None).ready()
