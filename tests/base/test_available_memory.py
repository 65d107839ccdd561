"""Memory that is left: the less of what the machine and the container have."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anon_pipeline.base.available_memory import available_memory

MACHINE = "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:  4000 kB\n"


def machine(folder: Path, text: str = MACHINE) -> Path:
    path = folder / "meminfo"
    path.write_text(text)
    return path


def group(folder: Path, most: str, used: int, stat: str = "anon 5\ninactive_file 1000\n") -> Path:
    place = folder / "group"
    place.mkdir()
    for name, text in (("memory.max", most), ("memory.current", f"{used}\n"), ("memory.stat", stat)):
        (place / name).write_text(text)
    return place


@pytest.mark.parametrize(
    ("most", "used", "left"),
    [
        ("max\n", 7, 4_000 * 1024),
        ("3000000\n", 2_000_000, 1_001_000),
        ("2000000\n", 2_500_000, 0),
        ("900000000\n", 0, 4_000 * 1024),
    ],
)
def test_the_less_of_both_counts(tmp_path: Path, most: str, used: int, left: int) -> None:
    assert available_memory(machine(tmp_path), group(tmp_path, most, used)) == left


def test_what_nobody_says_is_not_known(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    assert available_memory(nothing, nothing) is None
    assert available_memory(machine(tmp_path, "MemTotal: 9 kB\n"), nothing) is None
    assert available_memory(nothing, group(tmp_path, "500", 100, stat="")) == 400


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says it")
def test_of_this_machine() -> None:
    left = available_memory()
    assert left is not None
    assert left > 2**20
