"""Loops compiled to machine code by numba, and kept on disk so that nothing stale or foreign is ever run.

numba's own cache has two gaps. Processes that compile at once may save the code of two signatures under one
name; so may one that is killed between two writes, after another version of its module has run. And the code
of a kernel holds that of the kernels that it calls, but passes for fresh when only their files have changed.

Decision: docs/adr/0030-compiled-code.md.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import njit, vectorize
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys
from numba.core.types.misc import unliteral

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc] # numba has no types
    """The code of one kernel on disk: a file for each signature, of a name that was never used before."""

    def _load_index(self) -> Any:
        """Return what is kept; nothing where that is damaged, or names types that are gone."""
        try:
            return super()._load_index()
        except (ImportError, AttributeError, EOFError, ValueError, pickle.UnpicklingError):
            return {}

    def save(self, key: Any, data: Any) -> None:
        """Save code first and then its name: the index never names what is not there, or another's.

        Where two processes save at once, one entry may be lost; its signature is compiled again.
        """
        name = self._data_name(secrets.randbits(60))
        self._save_data(name, data)
        names = self._load_index()
        names[key] = name
        self._save_index(names)
        kept = set(names.values())
        for path in Path(self._cache_path).glob(f"{self._index_name.removesuffix('.nbi')}.*.nbc"):
            if path.name not in kept:
                path.unlink(missing_ok=True)


class _Cache(FunctionCache):  # type: ignore[misc] # numba has no types
    """The code of one kernel, loaded without what only compiling needs."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a signature's code, or None: numba then loads its registries, and compiles.

        numba's own cache loads all of them first, hundreds of modules, for code that is ready to be linked.
        """
        rtsys.initialize(target_context)  # names of functions that the code of arrays links to
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


@cache
def _digest(module: str) -> str:
    """Return the digest of a module's source; nothing where it has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or not Path(file).is_file():
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _sources(function: Callable[..., Any]) -> frozenset[str]:
    """Say which state of the sources a kernel is made of.

    That is its own module, those of its package that it imports from, those that their kernels are made of,
    and numbers that it knows by name.
    """
    names = function.__globals__
    package, found = function.__module__.partition(".")[0], {_digest(function.__module__)}
    for value in names.values():
        found |= getattr(value, "made_of", frozenset())
        module = getattr(value, "__module__", None) or ""
        if module.partition(".")[0] == package:
            found.add(_digest(module))
    constants = {name: names[name] for name in function.__code__.co_names if name in names}
    found |= {
        f"{name} {value!r}"
        for name, value in constants.items()
        if isinstance(value, int | float | np.generic)
    }
    return frozenset(found)


def _use_cache(compiled: Any, holder: Any, attribute: str, cache: Any) -> Any:
    """Let a compiled function keep its code by a cache of numba's, in a `_CacheFile`."""
    compiled.made_of = _sources(holder.py_func)
    own = cache(holder.py_func)
    setattr(holder, attribute, own)
    own._cache_file = _CacheFile(
        cache_path=own.cache_path, filename_base=own._impl.filename_base, source_stamp=compiled.made_of
    )
    return compiled


def _of_plain_types(compiled: Any) -> Any:
    """Let kernels that call this one with a constant take the code for any number: it is compiled once."""
    template = compiled.get_call_template

    def plain(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        """Return the template for the plain types of the arguments."""
        return template(
            tuple(unliteral(arg) for arg in args), {name: unliteral(arg) for name, arg in kws.items()}
        )

    compiled.get_call_template = plain
    return compiled


def kernel(function: _Function) -> _Function:
    """Compile a function of plain loops when it is first called, once on a machine for each signature.

    Other threads of Python run meanwhile: those that compute at the same time, and the one that ends an
    interrupted program.

    Args:
        function: of a module; the kernels that it calls are made before, or are of the same module.
    """
    compiled: Any = njit(nogil=True, no_cfunc_wrapper=True)(function)  # nothing calls kernels from C
    if compiled is function:  # numba is switched off
        return function
    cached: _Function = _of_plain_types(_use_cache(compiled, compiled, "_cache", _Cache))
    return cached


def elementwise(function: _Function) -> _Function:
    """Compile a function of single numbers, as `kernel` does, and apply it to each number of arrays.

    What applies it is compiled in each process, with numba's registries: its own cache loads them.
    """
    compiled: Any = vectorize(function)
    cached: _Function = _use_cache(compiled, compiled._dispatcher, "cache", FunctionCache)
    return cached


def is_on_disk(function: Callable[..., Any]) -> bool:
    """Tell whether the code of a kernel, for any signature, is kept on disk; without numba there is none."""
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    return cache_file is None or bool(cache_file._load_index())


class _Counter(event.Listener):  # type: ignore[misc] # numba has no types
    """Counts the kernels of this package that numba begins to compile; those that it loads are none."""

    def __init__(self, told: Callable[[int], None]) -> None:
        self._told = told
        self._begun = 0

    def on_start(self, event: Any) -> None:
        """Count one more, and report it."""
        module = getattr(event.data["dispatcher"].py_func, "__module__", None) or ""
        if module.partition(".")[0] == __package__.partition(".")[0]:
            self._begun += 1
            self._told(self._begun)

    def on_end(self, event: Any) -> None:
        """Do nothing."""


@contextmanager
def compilations_told(told: Callable[[int], None]) -> Iterator[None]:
    """Tell of each kernel that must be compiled while this is open: nothing where all are on disk.

    Args:
        told: called with the number of kernels begun so far (1 or more), before numba compiles the next.
    """
    counter = _Counter(told)
    event.register("numba:compile", counter)
    try:
        yield
    finally:
        event.unregister("numba:compile", counter)
