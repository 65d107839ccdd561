"""The command `deliver`: what is published goes to its readers again."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from anon_pipeline.cli.examples import EXAMPLES
from tests.cli.projects import Folder

DELIVER = {"database_env": "SHOP_URL", "table": "visits"}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of SQLite, which ``SHOP_URL`` names."""
    path = tmp_path / "shop.db"
    path.touch()
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{path}")
    return path


def test_the_example_delivers_again_at_no_cost(folder: Callable[..., Folder], shop: Path) -> None:
    made = folder(publish={"deliver": DELIVER}, budget={"epsilon": 2})
    assert made.call("run", "policy.yaml").code == 0
    shop.write_bytes(b"")  # somebody lost it
    done = made.call(*shlex.split(EXAMPLES["deliver"])[1:])
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("delivered small, made at 20")
    engine = sa.create_engine(f"sqlite:///{shop}", poolclass=sa.NullPool)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM visits").scalar_one() > 0


def test_run_says_what_was_not_delivered_and_how_to_deliver_it(
    folder: Callable[..., Folder], shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anon_pipeline.publish.deliver import deliver_database

    def full(*_: object) -> None:
        raise OSError("CANARY: no space left")

    made = folder(publish={"deliver": DELIVER})
    with monkeypatch.context() as patch:
        patch.setattr(deliver_database, "sql_rows", lambda frame: [])
        patch.setattr(deliver_database.DatabaseTable, "_record", full)
        done = made.call("run", "policy.yaml")
    assert done.code == 2
    assert "publish.deliver.database_env: the release could not be written: OSError" in done.err
    assert "anon-pipeline deliver brings it there at no cost" in done.err
    assert "CANARY" not in done.err
    assert (made.path / "out/manifest.json").is_file()
    assert made.call("deliver", "policy.yaml").code == 0


def test_a_policy_that_delivers_nowhere(folder: Callable[..., Folder]) -> None:
    done = folder().call("deliver", "policy.yaml")
    assert done.code == 2
    assert "publish.deliver: must be set in the policy" in done.err


def test_a_partition_that_the_policy_has_not(folder: Callable[..., Folder], shop: Path) -> None:
    done = folder(publish={"deliver": DELIVER}).call("deliver", "policy.yaml", "--partition", "2026-01-01")
    assert done.code == 2
    assert "--partition must be left out" in done.err
