"""Which databases may be delivered to, and that nothing of them or of the data is in an error."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.publish.deliver.database_connection import (
    engine_at,
    is_ledger,
    refuse_no_file,
    withhold_errors,
)

CANARY = "Quillfeather-0815"


@pytest.mark.parametrize("url", ["mysql://host/shop", "oracle://host/shop", "duckdb:///shop.duckdb"])
def test_other_kinds_are_refused_before_their_driver_is_needed(url: str) -> None:
    with pytest.raises(InputError, match=r"makes tables within a transaction \(postgresql or sqlite\)"):
        engine_at(url)


def test_a_text_that_is_no_url_is_not_quoted() -> None:
    with pytest.raises(InputError) as caught:
        engine_at(CANARY)
    assert CANARY not in str(caught.value)


def test_a_table_is_made_within_the_transaction(tmp_path: Path) -> None:
    (tmp_path / "shop.db").touch()
    engine = engine_at(f"sqlite:///{tmp_path / 'shop.db'}")
    with engine.connect() as connection:
        with connection.begin() as begun:
            connection.exec_driver_sql("CREATE TABLE t (a)")
            begun.rollback()
        assert not sa.inspect(connection).has_table("t")
    engine.dispose()


def test_a_file_must_be_there(tmp_path: Path) -> None:
    there = tmp_path / "shop.db"
    url = sa.make_url(f"sqlite:///{there}")
    with pytest.raises(PublishError, match="must name a file that is there"):
        refuse_no_file(url)
    there.touch()
    refuse_no_file(url)
    refuse_no_file(sa.make_url("postgresql://host/shop"))
    with pytest.raises(PublishError, match="must name a file that is there"):
        refuse_no_file(sa.make_url("sqlite://"))


def test_the_ledger_is_recognized_by_its_file(tmp_path: Path) -> None:
    one, other = (f"sqlite:///{tmp_path / name}" for name in ("one.db", "other.db"))
    assert is_ledger(sa.make_url(one), one)
    assert not is_ledger(sa.make_url(one), other)
    assert not is_ledger(sa.make_url("postgresql://host/shop"), "postgresql://host/shop")


def test_what_a_driver_says_is_withheld(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    file.write_text(CANARY * 99)
    engine = engine_at(f"sqlite:///{file}")
    with pytest.raises(PublishError) as caught, withhold_errors("the database must be reachable"):
        engine.connect().exec_driver_sql(f"SELECT '{CANARY}' FROM nowhere")
    said = str(caught.value)
    assert "it is no database of SQLite" in said
    assert CANARY not in said
    with pytest.raises(InputError, match="mine"), withhold_errors("the database must be reachable"):
        raise InputError("mine")
