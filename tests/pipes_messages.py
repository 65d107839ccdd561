"""The environment of a process that a Pipes client has started, and the messages that it writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dagster_pipes import encode_param

CONTEXT: dict[str, Any] = {
    "asset_keys": ["small/published"],
    "code_version_by_asset_key": None,
    "provenance_by_asset_key": None,
    "partition_key": None,
    "partition_key_range": None,
    "partition_time_window": None,
    "run_id": "run",
    "job_name": None,
    "retry_number": 0,
    "extras": {},
}


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Set the environment as a client does; return the file that messages are written to."""

    def start(messages: dict[str, Any] | None = None, **context: Any) -> Path:
        path = tmp_path / "messages"
        monkeypatch.setenv("DAGSTER_PIPES_CONTEXT", encode_param({"data": CONTEXT | context}))
        monkeypatch.setenv("DAGSTER_PIPES_MESSAGES", encode_param(messages or {"path": str(path)}))
        return path

    return start


def messages_in(text: str) -> list[tuple[str, Any]]:
    """Return method and parameters of each message among lines of text."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return [(line["method"], line["params"]) for line in lines]
