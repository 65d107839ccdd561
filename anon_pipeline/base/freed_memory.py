"""Memory that is free again goes back to the operating system.

What the C library and Arrow have freed they keep for later, and count it as used: after large tables that is
more than the tables themselves need.
Decision: docs/adr/0082-large-tables-are-packed.md.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import pyarrow as pa

from anon_pipeline.base.packed_tables import is_large


def return_freed_memory(records: int) -> None:
    """Return what was freed, after work on a table of so many records; of a small table nothing."""
    if is_large(records):
        return_all_freed_memory()


def return_all_freed_memory() -> None:
    """Return what was freed, however much it is."""
    pa.default_memory_pool().release_unused()
    memory_trimmer()(0)


@cache
def memory_trimmer() -> Callable[[int], object]:
    """Return what glibc returns freed memory with; other C libraries do it by themselves, or have no way."""
    try:
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):
        return lambda kept: None
    return trim
