"""Which bytes of a scratch file are free: none is used twice, and the file is no longer than it must be."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.scratch_file import ScratchFile, scratch_file


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=40))
def test_no_byte_is_used_twice(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[bool, int]]
) -> None:
    file, used = ScratchFile(tmp_path_factory.mktemp("scratch")), dict[int, bytes]()
    for number, (taking, size) in enumerate(steps):
        if taking or not used:
            begin = file.take(size)
            used[begin] = bytes([number]) * size
            file.write(np.frombuffer(used[begin], np.uint8), begin)
        else:
            begin = sorted(used)[size % len(used)]
            file.give_back(begin, len(used.pop(begin)))
        for begin, data in used.items():
            found = np.empty(len(data), np.uint8)
            file.read(found, begin)
            assert found.tobytes() == data
        assert file.size == max((begin + len(data) for begin, data in used.items()), default=0)


def test_bytes_that_were_given_back_are_used_again(tmp_path: Path) -> None:
    file = ScratchFile(tmp_path)
    first, second, third = file.take(10), file.take(20), file.take(5)
    file.give_back(first, 10)
    file.give_back(second, 20)
    assert file.take(30) == first  # both together
    assert file.take(5) == third + 5


def test_what_is_given_back_while_somebody_counts_is_counted_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column may be let go of at any moment, also by this very thread."""
    file, cut = ScratchFile(tmp_path), os.ftruncate
    first, second = file.take(10), file.take(20)

    def cut_file(handle: int, size: int) -> None:
        """Cut the file, and let go of another array meanwhile."""
        cut(handle, size)
        if size:
            file.give_back(first, 10)

    monkeypatch.setattr(os, "ftruncate", cut_file)
    file.give_back(second, 20)
    assert file.take(10) == first


def test_a_folder_has_one_file_in_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert scratch_file(tmp_path) is scratch_file(Path())
    (tmp_path / "other").mkdir()
    assert scratch_file(tmp_path / "other") is not scratch_file(tmp_path)
    assert not [*tmp_path.glob("tmp*")]
    with pytest.raises(OSError, match="No such file"):
        scratch_file(tmp_path / "none")
