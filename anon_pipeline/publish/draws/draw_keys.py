"""Draws: the keys that the noise of releases comes from, sealed in the vault until the release is published.

A draw is one fresh key for one input, policy, partition and ε. Whoever asks for the same gets the same draw,
so a refused or crashed release that is made again has the same noise. Once its release is published, or the
draw is given up, the key is destroyed: noise that is out cannot be computed from anything that is kept.

Decision: docs/adr/0031-noise-is-drawn-once.md.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.locations import Locations, plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.fact_rules import is_digest, is_release_id
from anon_pipeline.vault.artifacts import Vault, vault_of
from anon_pipeline.vault.held_folder import hold_vault_folder, writable
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.names import DRAW, is_unfinished
from anon_pipeline.vault.store import Store

_VERSION = 1
_WHAT = "the key of a draw could not be kept there or removed"
_FOLDER, _SUFFIX = "draws", DRAW
_HEX_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Draw:
    """A key, and what alone it may be used for.

    id: the release's, in the ledger.
    binding: digest of input, policy, dataset, release, partition and ε.
    key: of all noise.
    """

    id: str
    binding: str
    key: NoiseKey

    @property
    def commitment(self) -> str:
        """What the ledger books: no other key or binding has it, and without the key it says nothing."""
        said = f"anon_pipeline draw {_VERSION}\0{self.id}\0{self.binding}".encode()
        return hmac.new(self.key.secret, said, hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The draws of one release and partition, as ``<release>/draws/[<partition>/]<id>.draw`` in the vault.

    release: its name.
    partition: None for a release of one piece.
    here: local vault folder, in which the lock is where the vault is remote.
    opens: opens the vault, with its keys of now.
    project: folder of the project, whose vault it must be; None: the vault alone says whose it is.
    """

    release: str
    partition: str | None
    here: Path
    opens: Callable[[], Vault]
    project: Path | None = None

    @property
    def sealed(self) -> bool:
        """Whether only who has the vault's key can have written what is read: the vault is encrypted."""
        return self.opens().keys.current is not None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the release's draws against other runs on this machine; ends with the process.

        A remote vault is not held against other machines: two of them may each make a draw, both booked.

        Raises:
            InputError: the vault is another project's, or cannot be written.
        """
        inside, store = f"{self.release}/{_FOLDER}", self.opens().store
        with hold_vault_folder(store, inside, here=self.here, project=self.project, what=_WHAT):
            yield

    def ids(self) -> dict[str, str]:
        """Return the draws of the release, of all partitions: the id of each file."""
        found = {}
        for name in self.opens().store.names():
            release_id = _id_in(name, self.release)
            if release_id is not None:
                found[name] = release_id
        return found

    def any(self) -> bool:
        """Tell whether this partition has a file that may hold a key."""
        return bool(self._ours(unfinished=True))

    def draws_with(self, binding: str) -> list[Draw]:
        """Return the draws of this partition with a binding: more than one if a ledger has not booked all.

        Raises:
            InputError: a draw cannot be opened, has been changed or exchanged.
        """
        draws = [self._read_draw(name) for name in self._ours()]
        return [draw for draw in draws if draw.binding == binding]

    def seal(self, draw: Draw) -> None:
        """Write a draw's key, sealed if the vault has a key, complete or not at all.

        Raises:
            InputError: the vault cannot be written.
        """
        document = {
            "version": _VERSION,
            "id": draw.id,
            "release": self.release,
            "partition": self.partition,
            "binding": draw.binding,
            "key": draw.key.secret.hex(),
        }
        with writable(_WHAT), self.opens().writing(self._name(draw.id)) as file:
            file.write(json.dumps(document).encode())

    def destroy(self, names: Iterable[str] | None = None) -> None:
        """Remove keys for good.

        Args:
            names: of their files; None: all of this partition, those included that a crash left unfinished.
        Raises:
            InputError: one cannot be removed.
        """
        store = self.opens().store
        with writable(_WHAT):
            for name in self._ours(unfinished=True) if names is None else names:
                store.remove(name)

    def destroy_if_possible(self, draw: Draw) -> None:
        """Remove a key that was never used; what is left is removed when its place is published."""
        with suppress(InputError):
            self.destroy([self._name(draw.id)])

    def clear_unfinished(self) -> None:
        """Remove what dead runs left of files they were writing; the caller holds the draws."""
        store = self.opens().store
        if isinstance(store, LocalStore):  # elsewhere another machine may be writing it
            self.destroy(name for name in self._ours(unfinished=True) if is_unfinished(name))

    def _folder(self) -> str:
        inner = f"{self.release}/{_FOLDER}/"
        return inner if self.partition is None else f"{inner}{plain_partition(self.partition)}/"

    def _name(self, release_id: str) -> str:
        return f"{self._folder()}{release_id}{_SUFFIX}"

    def _ours(self, *, unfinished: bool = False) -> list[str]:
        """Return the files of this partition: the finished ones, or all that may hold a key."""
        folder = self._folder()
        return [
            name
            for name in self.opens().store.names()
            if name.startswith(folder)
            and "/" not in name.removeprefix(folder)
            and (_id_in(name, self.release) is not None or (unfinished and _is_part(name)))
        ]

    def _read_draw(self, name: str) -> Draw:
        try:
            document = json.loads(bytes(self.opens().read(name)))
        except (ValueError, RecursionError):
            document = None
        except OSError as error:
            raise InputError(f"the vault's {name} must be readable: {error_words(error)}") from None
        except InputError as error:
            raise InputError(f"{error} If this does not help, {_giving_up(name)}") from None
        draw = _draw(document, self.release, self.partition)
        if draw is None or self._name(draw.id) != name:
            raise InputError(
                f"the vault's {name} must be as it was written: it has been changed or exchanged. Find out "
                f"who can write to the vault. Restore it, or {_giving_up(name)}"
            )
        return draw


def draws_of(
    policy: Policy, locations: Locations, partition: str | None, *, opens: Callable[[], Vault] | None = None
) -> Draws:
    """Return the draws of a release, in the vault that ``opens`` opens; default: that of the locations."""
    opens = opens or partial(vault_of, locations)
    return Draws(policy.name, partition, locations.vault, opens, locations.project)


def draw_ids_in(store: Store) -> dict[str, str]:
    """Return the draws in a vault, of all releases: the id of each file."""
    found = {name: _id_in(name, name.partition("/")[0]) for name in store.names()}
    return {name: release_id for name, release_id in found.items() if release_id is not None}


def destroy_draw_key(store: Store, release_id: str, *, release: str | None = None) -> int:
    """Destroy the key of a draw that was given up, wherever it is in a vault.

    Args:
        release: only among the draws of this one.
    Returns:
        How many files were removed.
    Raises:
        InputError: it cannot be removed.
    """
    with writable(_WHAT):
        names = [
            name
            for name, found in draw_ids_in(store).items()
            if found == release_id and release in (None, name.partition("/")[0])
        ]
        for name in names:
            store.remove(name)
    return len(names)


def _id_in(name: str, release: str) -> str | None:
    """Return the id of a draw by its file's name; None for another file."""
    folder, _, last = name.rpartition("/")
    release_id = last.removesuffix(_SUFFIX)
    ours = folder == f"{release}/{_FOLDER}" or folder.startswith(f"{release}/{_FOLDER}/")
    return release_id if ours and last.endswith(_SUFFIX) and is_release_id(release_id) else None


def _giving_up(name: str) -> str:
    """Say how the draw of a file is given up, whether or not a ledger knows it, and what that costs."""
    release_id = name.rpartition("/")[2].removesuffix(_SUFFIX)
    return (
        f"give the draw up: run anon-pipeline ledger close {release_id} --as failed (without a ledger: "
        f"delete this file of the vault). If its ε is booked, it stays spent; the next run draws anew."
    )


def _is_part(name: str) -> bool:
    return is_unfinished(name) and f"{_SUFFIX}." in name


def _draw(document: Any, release: str, partition: str | None) -> Draw | None:
    """Return the draw that a file describes; None if it is none of this release and partition."""
    if not isinstance(document, dict):
        return None
    said = (document.get("version"), document.get("release"), document.get("partition"))
    named: dict[str, Any] = {name: document.get(name) for name in ("id", "binding", "key")}
    release_id, binding, key = named.values()
    known = is_release_id(release_id) and is_digest(binding) and isinstance(key, str)
    if said != (_VERSION, release, partition) or not known or not _HEX_KEY.fullmatch(key):
        return None
    return Draw(release_id, binding, NoiseKey(bytes.fromhex(key), seeded=False))
