"""Keys of noise that repeat: a test's noise depends on its name, so that it does not fail by chance.

With keys of the operating system a few of thousands of tests fail once in some hundred runs, and whole
runs of CI with them. `ANON_PIPELINE_TEST_SEED` gives other keys: run a test with many seeds to see how
often it fails.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

from anon_pipeline.perturb import entropy

if TYPE_CHECKING:
    import pytest

SEED: Final = "ANON_PIPELINE_TEST_SEED"
"""Environment: any text; ``system`` leaves the keys to the operating system."""
SYSTEM: Final = "system"


class RepeatableKeys:
    """Keys for `Entropy`, by the seed, by what runs now, and by how many it has been given.

    Other processes, forks of this one among them, and whatever runs outside of a test and of its fixtures are
    given keys of the operating system.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._names: list[str] = []
        self._given: dict[str, int] = {}
        self._pid = os.getpid()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Give keys by a name: of a test, or of a fixture of several tests while it is set up."""
        self._names.append(name)
        self._given[name] = 0
        try:
            yield
        finally:
            self._names.pop()

    def urandom(self, count: int) -> bytes:
        """Return a key of 32 bytes, as `os.urandom`."""
        if not self._names or os.getpid() != self._pid or count != hashlib.sha256().digest_size:
            return os.urandom(count)
        name = self._names[-1]
        self._given[name] += 1
        return hashlib.sha256(f"{self._seed}|{name}|{self._given[name]}".encode()).digest()


def repeat_noise(patch: pytest.MonkeyPatch, keys: RepeatableKeys) -> None:
    """Let releases of this process be made with keys that repeat, unless the environment forbids it."""
    if os.environ.get(SEED) != SYSTEM:
        patch.setattr(entropy, "os", SimpleNamespace(urandom=keys.urandom, getpid=os.getpid))
