"""Freed memory goes back to the operating system, after large tables alone."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest

from anon_pipeline.base import freed_memory
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import PACKED_FROM


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(freed_memory, "memory_trimmer", lambda: found.append)
    return found


def test_after_a_large_table_all_is_returned(calls: list[int]) -> None:
    return_freed_memory(PACKED_FROM)
    assert calls == [0]


def test_after_a_small_table_nothing_is_done(calls: list[int]) -> None:
    return_freed_memory(PACKED_FROM - 1)
    assert not calls


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_a_system_without_glibc_is_left_alone(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: None) -> object:
        raise error

    freed_memory.memory_trimmer.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", missing)
    return_freed_memory(PACKED_FROM)
    freed_memory.memory_trimmer.cache_clear()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_returned() -> None:
    """Blocks below the size that glibc maps stay with the process while a later one is in use."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    blocks = [bytearray(64_000) for _ in range(1_500)]
    last = bytearray(64_000)
    blocks.clear()
    before = resident()
    return_freed_memory(PACKED_FROM)
    assert before - resident() > 40_000_000
    assert len(last) == 64_000
