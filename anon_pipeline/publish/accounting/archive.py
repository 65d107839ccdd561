"""The memory of what was published, in the vault: one private table per release, over its partitions.

The order of writing: the new memory next to the old one (`stage`), then the release, then the new memory in
the old one's place (`commit`). Whoever comes after a crash finds a staged memory and asks the manifest
whether its release was published.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.ledger.recovery import must_remember
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import booking, release_id_in
from anon_pipeline.publish.accounting.remote_lock import held_here, hold_remotely
from anon_pipeline.publish.post_rename_errors import NOT_AGAIN
from anon_pipeline.publish.writer import read_manifest
from anon_pipeline.stages.deidentify import hashing_key
from anon_pipeline.stages.facts.fact_rules import is_digest, is_release_id
from anon_pipeline.stages.history.memory import Memory, Past
from anon_pipeline.stages.history.memory_table import from_table, to_table
from anon_pipeline.stages.persons import memory_key
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from anon_pipeline.vault.artifacts import Vault, vault_of
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.local import LocalStore, private_folder
from anon_pipeline.vault.names import MEASURED, is_unfinished
from anon_pipeline.vault.remote import RemoteStore
from anon_pipeline.vault.store import Store

_BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class VaultArchive:
    """Keeps a release's memory as ``<vault>/<release>/memory.parquet``; see `stages.history.archive.Archive`.

    opens: opens the vault, with its keys of now; default: the one that locations and environment lead to.
    """

    policy: Policy
    locations: Locations
    opens: Callable[[], Vault] | None = None

    @property
    def _file(self) -> PurePath:
        return PurePath(self.policy.name, "memory.parquet")

    @property
    def _beside(self) -> PurePath:
        return PurePath(self.policy.name, "memory-staged.parquet")

    def _vault(self) -> Vault:
        """Open the vault with the keys that the environment leads to now."""
        if self.opens is not None:
            return self.opens()
        return vault_of(self.locations)

    def _there(self, name: PurePath) -> bool:
        return name.as_posix() in self._vault().store.names()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the release's folder, in the vault or, if that is remote, here; it ends with the process.

        A remote vault is held too, by a lock file there; what dead runs left of a memory is then removed.

        Raises:
            InputError: the vault is another project's; a remote one is held by another run, or offers no
                lock.
        """
        store = self._vault().store
        project_of(store, project=self.locations.project)
        root = store.root if isinstance(store, LocalStore) else self.locations.vault
        here = root / self.policy.name
        private_folder(here, root=root)
        with held_here(here), self._held_there(store, here):
            yield

    @contextmanager
    def _held_there(self, store: Store, here: Path) -> Iterator[None]:
        if not isinstance(store, RemoteStore):
            yield
            return
        with hold_remotely(store, self.policy.name, here=here, wait=self.policy.publish.wait):
            own = tuple(
                f"{self.policy.name}/{start}" for start in (".memory", f".{MEASURED}.", f"{MEASURED}/.")
            )
            for name in store.names():
                if is_unfinished(name) and name.startswith(own):
                    store.remove(name)
            yield

    def read_kept(self) -> Memory:
        """Return the memory as it is, after clearing up a crash, whatever is published.

        Raises:
            InputError: it cannot be read.
        """
        if self._there(self._beside):
            self._clear_up()
        if not self._there(self._file):
            return Memory.empty()
        return _memory(read_staged(self._file, vault=self._vault()))

    def read(self, partition: str | None) -> Memory:
        """Return what was published, after clearing up a crash.

        Raises:
            InputError: it cannot be read, was made under another key, or does not know what is published, by
                the manifest or the ledger.
        """
        memory = self.read_kept()
        shown = self._shown_in(self.locations.release(self.policy, partition))
        if (
            shown is not None
            and shown.composed
            and not memory.knows(shown.digest, partition, shown.release_id)
        ):
            raise InputError(
                "the vault's memory does not contain the published release: it was lost or replaced. Restore "
                "the vault. If you cannot: 1. move the published release away; 2. run anon-pipeline ledger "
                "forget POLICY."
            )
        booking(self.policy, self.locations, partition=partition).require_memory(memory)
        key = hashing_key(self.policy, folder=self.locations.sources)
        return memory.rehash(memory_key(self.policy, key))

    def take_for_others(self) -> int:
        """Take people whom a version before 0.2 remembered for others than those to come.

        Returns:
            Releases before 0.2 in the memory; 0 if nothing was changed.
        """
        memory = self.read_kept()
        if memory.written:
            table, facts = to_table(replace(memory, written=0))
            write_staged(self._file, Staged(table, facts), vault=self._vault())
        return memory.written

    def stage(self, memory: Memory) -> None:
        """Write the memory next to the old one, with the release now published at the destination."""
        table, facts = to_table(memory)
        folder = self.locations.release(self.policy, memory.releases[-1].partition)
        shown = self._shown_in(folder)
        before = {
            "folder": str(folder),
            "digest": None if shown is None else shown.digest,
            "release_id": None if shown is None else shown.release_id,
        }
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
            raise InputError(
                f"the release is published, its next run completes the memory: {problem} {NOT_AGAIN}"
            )
        self._drop_beside()

    def _drop_beside(self) -> None:
        """Remove the staged memory; where that fails, the next `read` comes to the same end."""
        with suppress(OSError):
            self._vault().store.remove(self._beside.as_posix())

    def _clear_up(self) -> None:
        """Commit the staged memory, unless the place of its release shows just what it showed before it.

        Releases that the ledger has as published count, wherever they are now. If the tables are equal, the
        ledger's ids decide; without a ledger the release then counts.
        """
        staged = read_staged(self._beside, vault=self._vault())
        last, before = _memory(staged).releases[-1], _beside(staged)
        shown = self._shown_at(before["folder"])
        if shown is None:
            unchanged, there = before["digest"] is None, False
        else:
            there = last.may_be(shown.digest, shown.release_id)
            unchanged = shown.is_still(before["digest"], before.get("release_id"))
        if unchanged and not there and not self._is_entered(last):
            self._drop_beside()
        else:
            self.commit()

    def _is_entered(self, last: Past) -> bool:
        """Tell whether the ledger has a release as published, whatever its destination shows by now."""
        booked = booking(self.policy, self.locations, partition=last.partition)
        return booked.ledger is not None and last.release_id in must_remember(booked.ledger, booked.asked)

    def _shown_at(self, folder: str) -> "_Shown | None":
        """Return what a folder shows that the vault names; an error does not repeat the name."""
        with suppress(PublishError, ValueError):
            return self._shown_in(Path(folder))
        raise InputError(
            "the folder that the vault's staged memory names must have no manifest or a readable one. Move "
            "what is there away, or restore the vault."
        )

    def _shown_in(self, folder: Path) -> "_Shown | None":
        """Return what a folder shows of this release."""
        document = read_manifest(folder)
        if document is None or document["release"] != self.policy.name:
            return None
        facts = document.get("facts", {})
        composed = facts.get("perturbed", {}).get("composition") is not None
        return _Shown(document["data_digest"], release_id_in(facts), composed)


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a destination shows: a table's digest, the ledger's id, whether it was made with a memory."""

    digest: str
    release_id: str | None
    composed: bool

    def is_still(self, digest: str | None, release_id: str | None) -> bool:
        """Tell whether it is what was shown before; a memory staged before version 3 names no id."""
        return Past(self.digest, None, self.release_id).may_be(digest, release_id)


def _memory(staged: Staged) -> Memory:
    return from_table(
        unpack_table(staged.frame), {name: facts for name, facts in staged.facts.items() if name != _BESIDE}
    )


def _beside(staged: Staged) -> Mapping[str, Any]:
    """Return what a staged memory says of the place of its release."""
    before = staged.facts.get(_BESIDE, {})
    digest = before.get("digest")
    release_id = before.get("release_id")
    known = {"folder", "digest"} <= set(before) <= {"folder", "digest", "release_id"}
    known = known and isinstance(before["folder"], str)
    named = (digest is None or is_digest(digest)) and (release_id is None or is_release_id(release_id))
    if not known or not named:
        raise InputError("the vault's staged memory does not say where its release goes")
    return before
