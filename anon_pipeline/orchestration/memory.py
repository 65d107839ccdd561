"""The memory of what was published, in the vault: one private table per release, over its partitions.

The order of writing: the new memory beside the old one (`stage`), then the release, then the new memory in
the old one's place (`commit`). Whoever comes after a crash finds a staged memory and asks the manifest
whether its release was published.
Belongs here: files, their lock, that question. Does not belong here: what is in a memory (`compose`).
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from anon_pipeline.compose.memory import Memory, from_table, to_table
from anon_pipeline.deidentify import hashing_key, memory_key
from anon_pipeline.errors import InputError, PublishError
from anon_pipeline.locations import Locations
from anon_pipeline.measure.fact_rules import is_digest
from anon_pipeline.orchestration.remote_lock import held_remotely
from anon_pipeline.orchestration.vault import read_staged, write_staged
from anon_pipeline.pipeline import Staged
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.vault.artefacts import Vault
from anon_pipeline.vault.keys import keys_from
from anon_pipeline.vault.store import RemoteStore, is_unfinished, private_folder, store_at

__all__ = ["VaultArchive", "published_before"]

_BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class VaultArchive:
    """Keeps a release's memory as ``<vault>/<release>/memory.parquet``; see `compose.archive.Archive`."""

    policy: Policy
    locations: Locations

    @property
    def _file(self) -> PurePath:
        return PurePath(self.policy.name, "memory.parquet")

    @property
    def _beside(self) -> PurePath:
        return PurePath(self.policy.name, "memory-staged.parquet")

    def _vault(self) -> Vault:
        """Open the vault with the keys that the environment leads to now."""
        return Vault(store_at(self.locations.vault_place), keys_from())

    def _there(self, name: PurePath) -> bool:
        return name.as_posix() in self._vault().store.names()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the release's folder in the vault; the lock ends with the process.

        A remote vault is held too, by a lock file there; what dead runs left of a memory is then removed.

        Raises:
            InputError: a remote vault is held by another run, or offers no lock.
        """
        with self._held_here(), self._held_there():
            yield

    @contextmanager
    def _held_there(self) -> Iterator[None]:
        store = store_at(self.locations.vault_place)
        if not isinstance(store, RemoteStore):
            yield
            return
        here = self.locations.vault / self.policy.name
        with held_remotely(store, self.policy.name, here=here, wait=self.policy.publish.wait):
            for name in store.names():
                if is_unfinished(name) and name.startswith(f"{self.policy.name}/.memory"):
                    store.remove(name)
            yield

    @contextmanager
    def _held_here(self) -> Iterator[None]:
        """Hold the local folder, by the kernel's lock."""
        folder = self.locations.vault / self.policy.name
        private_folder(folder)
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            fcntl.flock(
                handle, fcntl.LOCK_UN
            )  # closing would not do where a forked child has the handle, too
            os.close(handle)

    def read(self, partition: str | None) -> Memory:
        """Return what was published, after clearing up a crash.

        Raises:
            InputError: it cannot be read, was made under another key, or does not know what is published.
        """
        if self._there(self._beside):
            self._clear_up()
        memory = Memory.empty()
        if self._there(self._file):
            memory = _memory(read_staged(self._file, vault=self._vault()))
        shown = self._published(self.locations.release(self.policy, partition))
        if shown is not None and shown[1] and not memory.knows(shown[0], partition):
            raise InputError(
                "the vault's memory must know the release that is published, it does not: it was lost or "
                "replaced. Restore the vault, or move that release away; what it spent then counts nowhere."
            )
        key = hashing_key(self.policy, folder=self.locations.sources)
        return memory.under(memory_key(self.policy, key))

    def stage(self, memory: Memory) -> None:
        """Write the memory beside, with what is published at its last release's place before that is."""
        table, facts = to_table(memory)
        folder = self.locations.release(self.policy, memory.releases[-1].partition)
        shown = self._published(folder)
        before = {"folder": str(folder), "digest": None if shown is None else shown[0]}
        write_staged(self._beside, Staged(table, {**facts, _BESIDE: before}), vault=self._vault())

    def commit(self) -> None:
        """Put the staged memory into the memory's place.

        Raises:
            InputError: it cannot be written; the release is published, and the next `read` does it.
        """
        vault = self._vault()
        staged = read_staged(self._beside, vault=vault)
        facts = {name: values for name, values in staged.facts.items() if name != _BESIDE}
        problem = None
        try:
            write_staged(self._file, Staged(staged.frame, facts), vault=vault)
        except InputError as error:
            problem = error
        if problem is not None:
            raise InputError(f"the release is published, its next run completes the memory: {problem}")
        self._drop_beside()

    def _drop_beside(self) -> None:
        """Remove the staged memory; where that fails, the next `read` comes to the same end."""
        with suppress(OSError):
            self._vault().store.remove(self._beside.as_posix())

    def _clear_up(self) -> None:
        """Commit the staged memory, unless the place of its release shows just what it showed before it."""
        staged = read_staged(self._beside, vault=self._vault())
        last, before = _memory(staged).releases[-1], _beside(staged)
        shown = self._shown_at(before["folder"])
        now = None if shown is None else shown[0]
        if now != last.digest and now == before["digest"]:
            self._drop_beside()
        else:
            self.commit()

    def _shown_at(self, folder: str) -> tuple[str, bool] | None:
        """Return what a folder shows that the vault names; an error does not repeat the name."""
        with suppress(PublishError, ValueError):
            return self._published(Path(folder))
        raise InputError(
            "the folder that the vault's staged memory names must have no manifest or a readable one. Move "
            "what is there away, or restore the vault."
        )

    def _published(self, folder: Path) -> tuple[str, bool] | None:
        """Return the digest of what a folder shows, and whether it was made with a memory."""
        document = read_manifest(folder)
        if document is None or document["release"] != self.policy.name:
            return None
        composed = document.get("facts", {}).get("perturbed", {}).get("composition")
        return document["data_digest"], composed is not None


def published_before(policy: Policy, folders: Locations, *, partition: str | None) -> Memory | None:
    """Return what was published of a release; None without ``record_key``.

    Args:
        policy: of the release.
        folders: the vault's, and the release's.
        partition: that is to be published next.
    Raises:
        InputError: see `VaultArchive.read`.
    """
    if policy.record_key is None:
        return None
    archive = VaultArchive(policy, folders)
    with archive.alone():
        return archive.read(partition)


def _memory(staged: Staged) -> Memory:
    return from_table(staged.frame, {name: facts for name, facts in staged.facts.items() if name != _BESIDE})


def _beside(staged: Staged) -> Mapping[str, Any]:
    """Return what a staged memory says of the place of its release.

    Raises:
        InputError: it does not say it, or something else.
    """
    before = staged.facts.get(_BESIDE, {})
    digest = before.get("digest")
    known = set(before) == {"folder", "digest"} and isinstance(before["folder"], str)
    if not known or not (digest is None or is_digest(digest)):
        raise InputError("the vault's staged memory must say where its release goes, it does not")
    return before
