"""What keeps the memory between releases, as publishing sees it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.history.memory import Memory


class Archive(Protocol):
    """Keeps one release's memory. The order is: `stage`, publish, `commit`, all of it `alone`.

    A crash in between leaves the staged memory; the next `read` finds out by the manifest whether the release
    was published, and commits it or drops it.
    """

    def alone(self) -> AbstractContextManager[None]:
        """Hold the memory against other runs on this machine; not to be entered twice."""

    def read(self, partition: str | None) -> Memory:
        """Return what was published, after clearing up a crash; empty if nothing was.

        Raises:
            InputError: it does not know what is published at the partition's place: it was lost or replaced.
        """

    def stage(self, memory: Memory) -> None:
        """Write the memory next to the previous one, where a crash leaves it."""

    def commit(self) -> None:
        """Make the staged memory the memory; the release is published."""


def refuse_unless_archived(policy: Policy, archive: Archive | None) -> None:
    """Refuse a policy with a memory where nothing keeps it, and the other way round."""
    if (policy.record_key is None) != (archive is None):
        raise InputError("an archive for the memory must be given with record_key, and only with it")
