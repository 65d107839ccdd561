"""The command `deliver`: what is published goes to its readers again."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from anon_pipeline.base.left_to_do import TERMINATED
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.cli.interrupts import INTERRUPTED
from tests.cli.projects import Folder

ROOT = Path(__file__).resolve().parents[2]
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


HANGING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in its background
signal.signal(signal.SIGTERM, signal.SIG_DFL)  # workers of pytest may ignore it
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
import numpy as np
from anon_pipeline.cli import main
from anon_pipeline.publish.deliver.deliver_database import DatabaseTable
from tests.cli.test_interrupts import endless

def hang(*_):
    flag = np.zeros(1)
    endless(flag, 10)
    print("begun", flush=True)
    time.sleep(300) if sys.argv.pop() == "sleeps" else endless(flag, -1)

DatabaseTable.deliver = hang
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("how", ["sleeps", "computes"])
def test_a_delivery_that_is_cut_off_says_what_is_left_to_do(
    folder: Callable[..., Folder], shop: Path, number: signal.Signals, how: str
) -> None:
    made = folder(publish={"deliver": DELIVER})
    words = [sys.executable, "-c", HANGING.replace('sys.argv.pop() == "sleeps"', str(how == "sleeps"))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SHOP_URL": f"sqlite:///{shop}"}
    for command, said in (
        ("run", "The release is published in its folder, and booked; its delivery is not complete. Do not"),
        ("deliver", "The delivery is not complete. To finish it, at no cost:"),
    ):
        with subprocess.Popen(
            [*words, command, "policy.yaml"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=made.path,
            env=environment,
        ) as program:
            assert program.stdout is not None
            try:
                assert program.stdout.readline() == "begun\n"
                program.send_signal(number)
                _, told = program.communicate(timeout=300)
            finally:
                program.kill()
        assert program.returncode == (INTERRUPTED if number == signal.SIGINT else TERMINATED)
        assert told.count(said) == 1
        assert "anon-pipeline deliver POLICY.yaml" in told
        assert "Traceback" not in told
    assert made.call("deliver", "policy.yaml").code == 0


def test_a_policy_that_delivers_nowhere(folder: Callable[..., Folder]) -> None:
    done = folder().call("deliver", "policy.yaml")
    assert done.code == 2
    assert "publish.deliver: must be set in the policy" in done.err


def test_a_partition_that_the_policy_has_not(folder: Callable[..., Folder], shop: Path) -> None:
    done = folder(publish={"deliver": DELIVER}).call("deliver", "policy.yaml", "--partition", "2026-01-01")
    assert done.code == 2
    assert "--partition must be left out" in done.err
