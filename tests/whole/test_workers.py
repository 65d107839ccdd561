"""Tests that run side by side share what is compiled."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

KERNELS = """
from numba import njit

@njit(cache=True)
def inner(x):
    return x + 1

@njit(cache=True)
def outer(x):
    total = 0.0
    for i in range(inner(x)):
        total += inner(i) ** 0.5
    return total
"""


def _use(file: Path, share: Callable[[pytest.MonkeyPatch], None]) -> tuple[float, int, int]:
    """Call the kernels of a file; return what comes out, and how often each was compiled here."""
    with pytest.MonkeyPatch.context() as patch:
        share(patch)
        share(patch)  # a worker has done so already
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        result = module.outer(3)
    inner, outer = (sum(kernel.stats.cache_misses.values()) for kernel in (module.inner, module.outer))
    return result, inner, outer


def test_processes_side_by_side_compile_each_kernel_once(
    compile_once: Callable[[pytest.MonkeyPatch], None], tmp_path: Path
) -> None:
    file = tmp_path / "kernels_of_a_test.py"
    file.write_text(KERNELS)
    forked = get_context("fork")
    together = forked.Barrier(3).wait
    with ProcessPoolExecutor(3, mp_context=forked, initializer=together, initargs=(300,)) as three:
        found = list(three.map(partial(_use, share=compile_once), [file] * 3, timeout=300))
    results, inner, outer = zip(*found, strict=True)
    assert set(results) == {sum(i**0.5 for i in range(1, 5))}
    assert (sorted(inner), sorted(outer)) == ([0, 0, 1], [0, 0, 1])
