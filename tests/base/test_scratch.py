"""Arrays in files: they come back, nobody else can read them, and nothing of them is left."""

from __future__ import annotations

import errno
import gc
import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_pipeline.base import scratch
from anon_pipeline.base.errors import ScratchError
from anon_pipeline.base.scratch import SCRATCH, ScratchArray, keep_array, load_array, refuse_unfit_scratch
from tests.example_counts import examples_of

CANARY = b"Quillfeather-4711"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "KEPT_FROM", 1)
    monkeypatch.setenv(SCRATCH, str(tmp_path))


def files() -> list[Path]:
    """Return the files that this process has open in the folder, without a name or with one."""
    folder = os.environ[SCRATCH]
    opened = Path("/proc/self/fd").iterdir()
    return [path for path in opened if path.exists() and str(path.readlink()).startswith(folder)]


@settings(max_examples=examples_of(60))
@given(
    hnp.arrays(
        st.sampled_from([np.uint8, np.uint16, np.uint32, np.int64, np.float64, np.bool_]), st.integers(1, 200)
    ),
    st.integers(1, 50),
)
def test_an_array_comes_back(array: np.ndarray, part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scratch, "_PART", part)
        kept = keep_array(array)
        assert isinstance(kept, ScratchArray)
        assert (len(kept), kept.dtype) == (len(array), array.dtype)
        for _ in range(2):
            assert load_array(kept).tobytes() == array.tobytes()


def test_several_parts_of_the_size_in_use() -> None:
    array = np.arange(3 * 2**20 + 7)  # 24 MiB and a little
    kept = keep_array(array)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: load_array(kept), range(8)):
            assert np.array_equal(found, array)


def test_every_second_number_of_an_array_comes_back() -> None:
    array = np.arange(1000)[::2]
    assert np.array_equal(load_array(keep_array(array)), array)


def test_small_arrays_and_those_without_a_folder_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(100)
    monkeypatch.setattr(scratch, "KEPT_FROM", 801)
    assert keep_array(array) is array
    monkeypatch.setattr(scratch, "KEPT_FROM", 1)
    for unset in ("", None):
        monkeypatch.setenv(SCRATCH, "") if unset is not None else monkeypatch.delenv(SCRATCH)
        assert keep_array(array) is array
        refuse_unfit_scratch()


def test_the_file_is_encrypted_and_has_no_name(tmp_path: Path) -> None:
    array = np.frombuffer(CANARY * 1000, np.uint8)
    kept, again = keep_array(array), keep_array(array)
    assert not [*tmp_path.iterdir()]
    (file,) = files()
    content = file.read_bytes()
    assert len(content) == 2 * len(array)
    assert content[: len(array)] != content[len(array) :]  # a key for each
    assert CANARY[:8] not in content
    assert "Quill" not in repr(kept) + repr(again)
    del kept, again
    gc.collect()
    assert not file.read_bytes()


def test_a_file_that_was_changed_is_refused() -> None:
    kept: Any = keep_array(np.arange(1000))
    (path,) = files()
    with path.open("r+b") as file:
        file.seek(17)
        file.write(b"x")
    with pytest.raises(ScratchError, match="must be read as it was written"):
        kept.load()


def test_a_file_that_was_cut_is_refused() -> None:
    kept: Any = keep_array(np.arange(1000))
    (path,) = files()
    os.truncate(path, 100)
    with pytest.raises(ScratchError, match="must be read as it was written"):
        kept.load()


def test_a_folder_that_is_not_there_or_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path / "Quillfeather-4711"))  # which no file is open in
    for refuse in (refuse_unfit_scratch, lambda: keep_array(np.arange(9))):
        with pytest.raises(ScratchError, match="must be a folder that can be written to") as caught:
            refuse()
        assert "Quillfeather" not in str(caught.value)
    monkeypatch.setenv(SCRATCH, str(tmp_path))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "Quillfeather-4711")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(ScratchError, match="without room") as caught:
        keep_array(np.arange(9))
    assert "Quillfeather" not in str(caught.value)


def test_more_arrays_than_files_that_may_be_open() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = sum(1 for _ in Path("/dev/fd").iterdir()) + 60  # this process has run other tests before
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, limits[1]))
    try:
        arrays = [np.full(50, number) for number in range(300)]
        kept = [keep_array(array) for array in arrays]
        assert all(np.array_equal(load_array(one), array) for one, array in zip(kept, arrays, strict=True))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_copy_of_the_process_writes_to_a_file_of_its_own() -> None:
    kept = keep_array(np.arange(1000))
    child = os.fork()
    if not child:
        own = [load_array(keep_array(np.full(1000, number))).tolist() for number in (1, 2)]
        fine = own == [[1] * 1000, [2] * 1000] and np.array_equal(load_array(kept), np.arange(1000))
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(load_array(kept), np.arange(1000))


def test_nothing_is_left_of_a_process_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, numpy as np; from anon_pipeline.base import scratch; scratch.KEPT_FROM = 1; "
        "kept = scratch.keep_array(np.arange(100_000)); print(kept, flush=True); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ}, capture_output=True, text=True, check=False
    )
    assert ended.stdout == "ScratchArray(100000 numbers)\n"
    assert ended.returncode == -signal.SIGKILL
    assert not [*tmp_path.iterdir()]
